//! Wait at Implicit OpenMP Barrier: time at the end of a parallel region or worksharing construct until the
//! last thread of the team arrived.
//!
//! Time in which the thread runs tasks meanwhile does not count.

use model::Ticks;

use crate::explanation::{Explanation, Picture};
use crate::matched::{BarrierClass, BarrierVisit};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern, Statistics, Within};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "omp_ibarrier",
        "omp_ibarrier_wait",
        "Wait at Barrier",
        "Time in an implicit OpenMP barrier until the last thread of the team entered it.",
    )
    .not_work(),
    instances: None,
    title: "Wait at Implicit OpenMP Barrier",
    is_waiting: true,
    statistics: Some(Statistics::at(11, Within::Barrier(BarrierClass::Implicit))),
    explanation: Explanation {
        picture: Some(Picture(
            "\
thread 0   ==[ loop ==[ impl. barrier ~~~~~]]==
thread 1   ==[ loop ==================[ ib ]]==
                      |<- thread 0 ->|
",
        )),
        meaning: "The same at the end of a parallel region or a worksharing construct (`for`, `sections`, \
         `single`).",
        large_when: Some(
            "iterations of a loop differ in their work and the schedule is static; when one thread runs a \
         `single`.",
        ),
        what_to_do: "Another schedule (`dynamic`, `guided`, smaller chunks), or tasks. If nothing depends on the \
         construct being complete, add `nowait`.",
    },
    detect: Detect::ThreadBarrier(wait_at_implicit_barrier),
};

fn wait_at_implicit_barrier(barrier: &BarrierVisit) -> Ticks {
    match barrier.class {
        BarrierClass::Implicit => barrier.waiting(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matched::tests::visit;

    #[test]
    fn early_thread_waits_at_implicit_barriers_only() {
        assert_eq!(wait_at_implicit_barrier(&visit(BarrierClass::Implicit)), 20);
        assert_eq!(wait_at_implicit_barrier(&visit(BarrierClass::Explicit)), 0);
    }
}
