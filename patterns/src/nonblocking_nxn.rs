//! Non-blocking N x N: the call that completes the operation waits for the last member that contributes.

use model::Ticks;

use crate::explanation::{Explanation, Picture};
use crate::matched::{CollectiveClass, NonBlockingMember};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_nbcoll_wait",
        "mpi_nbcoll_wait_nxn",
        "Wait at N x N",
        "Time in calls that complete Iallreduce, Iallgather(v), Ialltoall(v, w) or Ireduce_scatter until the last rank has started it.",
    )
    .not_work()
    .beyond_reference(),
    instances: None,
    title: "Wait at Non-blocking N x N",
    is_waiting: true,
    statistics: None,
    explanation: Explanation {
        picture: Some(Picture(
            "\
rank 0     ==[ iallreduce ]== computes ==[ wait ~~~~~~~~~~~~~~~]==
rank 1     ======= computes ======================[ iallreduce ]==
",
        )),
        meaning: "Time in the completing call until the last rank with data has started an operation \
         in which everyone needs data of everyone: `MPI_Iallreduce`, `MPI_Iallgather`, \
         `MPI_Iallgatherv`, `MPI_Ialltoall`, `MPI_Ialltoallv`, `MPI_Ialltoallw`, \
         `MPI_Ireduce_scatter`, `MPI_Ireduce_scatter_block`. Who receives nothing waits for nobody. \
         Of `MPI_Ialltoallv` and `MPI_Ialltoallw` the trace does not say who sends to whom: only \
         those count that had started it before the operation was complete.",
        large_when: Some(
            "the work before the operation is not balanced by more than the work that overlaps with \
         it.",
        ),
        what_to_do: "Balance the work, or start the operation earlier on the ranks that come last, \
         or do more between start and completion.",
    },
    detect: Detect::NonBlocking(nxn),
};

fn nxn(member: &NonBlockingMember) -> Ticks {
    match member.class {
        CollectiveClass::AllToAll => member.arrival(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matched::tests::nonblocking;

    #[test]
    fn early_member_waits_for_the_last_request_in_this_class_only() {
        assert_eq!(nxn(&nonblocking(CollectiveClass::AllToAll)), 20);
        assert_eq!(nxn(&nonblocking(CollectiveClass::Barrier)), 0);
    }
}
