//! Non-blocking Early Reduce: the call that completes the operation at the root waits for the last contribution.

use model::Ticks;

use crate::explanation::{Explanation, Picture};
use crate::matched::{CollectiveClass, NonBlockingMember};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_nbcoll_wait",
        "mpi_nbcoll_wait_n21",
        "Early Reduce",
        "Time in calls of the root that complete Ireduce or Igather(v) until the last rank with data has started it.",
    )
    .not_work()
    .beyond_reference(),
    instances: None,
    title: "Early Non-blocking Reduce",
    is_waiting: true,
    statistics: None,
    explanation: Explanation {
        picture: Some(Picture(
            "\
root       ==[ ireduce ]== computes ==[ wait ~~~~~~~~~~~~]==
rank 1     ======= computes =================[ ireduce ]====
",
        )),
        meaning: "Time in the completing call of the root until the last rank that contributes has \
         called `MPI_Ireduce`, `MPI_Igather` or `MPI_Igatherv`.",
        large_when: None,
        what_to_do: "Let the root complete the operation later, where it needs the result; balance \
         the work of the others.",
    },
    detect: Detect::NonBlocking(reduce),
};

fn reduce(member: &NonBlockingMember) -> Ticks {
    match member.class {
        CollectiveClass::AllToOne => member.arrival(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matched::tests::nonblocking;

    #[test]
    fn root_waits_for_the_last_contribution_in_this_class_only() {
        assert_eq!(reduce(&nonblocking(CollectiveClass::AllToOne)), 20);
        assert_eq!(reduce(&nonblocking(CollectiveClass::Barrier)), 0);
    }
}
