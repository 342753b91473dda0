//! Waiting for a non-blocking collective read or write until the last member has started it.

use model::Ticks;

use crate::explanation::{Explanation, Picture};
use crate::matched::{CollectiveClass, NonBlockingMember};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_nbcoll_wait",
        "mpi_nbcoll_wait_io",
        "Wait at Collective I/O",
        "Time in calls that complete non-blocking collective reads and writes until the last member had started them.",
    )
    .not_work()
    .beyond_reference(),
    instances: None,
    title: "Wait at Non-blocking Collective I/O",
    is_waiting: true,
    statistics: None,
    explanation: Explanation {
        picture: Some(Picture(
            "\
rank 0     ==[ iwrite_all ]== computes ==[ wait ~~~~~~~~~~~~~]==
rank 1     ======= computes ===================[ iwrite_all ]==
",
        )),
        meaning: "Time in `MPI_Wait`, `MPI_Waitany`, `MPI_Waitall` or `MPI_Waitsome` until the last member of the file's \
         communicator has called `MPI_File_iwrite_all`, `MPI_File_iread_at_all` or one of their relatives, of \
         those that did before the operation was complete.",
        large_when: None,
        what_to_do: "Balance the work before the transfer, or do more work between its start and the call that completes it.",
    },
    detect: Detect::NonBlocking(nonblocking_file_transfer),
};

fn nonblocking_file_transfer(member: &NonBlockingMember) -> Ticks {
    match member.class {
        CollectiveClass::FileTransfer => member.arrival(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matched::tests::nonblocking;

    #[test]
    fn completing_call_waits_in_this_class_only() {
        assert_eq!(nonblocking_file_transfer(&nonblocking(CollectiveClass::FileTransfer)), 20);
        assert_eq!(nonblocking_file_transfer(&nonblocking(CollectiveClass::Barrier)), 0);
    }
}
