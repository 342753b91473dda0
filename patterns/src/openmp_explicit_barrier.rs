//! Wait at Explicit OpenMP Barrier: time in a `barrier` construct until the last thread of the team arrived.
//!
//! Time in which the thread runs tasks meanwhile does not count.

use model::Ticks;

use crate::explanation::{Explanation, Picture};
use crate::matched::{BarrierClass, BarrierVisit};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern, Statistics, Within};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "omp_ebarrier",
        "omp_ebarrier_wait",
        "Wait at Barrier",
        "Time in an explicit OpenMP barrier until the last thread of the team entered it.",
    )
    .not_work(),
    instances: None,
    title: "Wait at Explicit OpenMP Barrier",
    is_waiting: true,
    statistics: Some(Statistics::at(10, Within::Barrier(BarrierClass::Explicit))),
    explanation: Explanation {
        picture: Some(Picture(
            "\
thread 0   ==[ barrier ~~~~~~~~~~~~]==
thread 1   ==== computes ===[ bar. ]==
thread 2   ======[ barrier ~~~~~~~~]==
             |<- thread 0 ->|
",
        )),
        meaning: "Time in a `barrier` construct until the last thread of the team entered it, without the \
         tasks that the thread ran meanwhile. The k-th barrier of each thread of a team belongs \
         together. If a thread of the team has not recorded it, there is a finding and no wait state.",
        large_when: Some("the threads do not have the same amount of work."),
        what_to_do: "Balance the work of the threads before the barrier. Ask whether it is needed: worksharing \
         constructs end with a barrier anyway.",
    },
    detect: Detect::ThreadBarrier(wait_at_explicit_barrier),
};

fn wait_at_explicit_barrier(barrier: &BarrierVisit) -> Ticks {
    match barrier.class {
        BarrierClass::Explicit => barrier.waiting(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matched::tests::visit;

    #[test]
    fn early_thread_waits_at_explicit_barriers_only() {
        assert_eq!(wait_at_explicit_barrier(&visit(BarrierClass::Explicit)), 20);
        assert_eq!(wait_at_explicit_barrier(&visit(BarrierClass::Implicit)), 0);
    }
}
