//! Non-blocking Barrier: the call that completes `MPI_Ibarrier` waits for the last member to request it.

use model::Ticks;

use crate::explanation::{Explanation, Picture};
use crate::matched::{CollectiveClass, NonBlockingMember};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_nbcoll_wait",
        "mpi_nbcoll_wait_barrier",
        "Wait at Barrier",
        "Time in calls that complete MPI_Ibarrier until the last rank has started it.",
    )
    .not_work()
    .beyond_reference(),
    instances: None,
    title: "Wait at Non-blocking Barrier",
    is_waiting: true,
    statistics: None,
    explanation: Explanation {
        picture: Some(Picture(
            "\
rank 0     ==[ ibarrier ]== computes ==[ wait ~~~~~~~~~~~~~]==
rank 1     ======= computes ===================[ ibarrier ]===
",
        )),
        meaning: "Time in `MPI_Wait`, `MPI_Waitany`, `MPI_Waitall` or `MPI_Waitsome` until the last \
         rank has called `MPI_Ibarrier`.",
        large_when: None,
        what_to_do: "Balance the work before the barrier, or do more work between its start and the \
         call that completes it.",
    },
    detect: Detect::NonBlocking(barrier),
};

fn barrier(member: &NonBlockingMember) -> Ticks {
    match member.class {
        CollectiveClass::Barrier => member.arrival(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matched::tests::nonblocking;

    #[test]
    fn early_member_waits_for_the_last_request_in_this_class_only() {
        assert_eq!(barrier(&nonblocking(CollectiveClass::Barrier)), 20);
        assert_eq!(barrier(&nonblocking(CollectiveClass::AllToAll)), 0);
    }
}
