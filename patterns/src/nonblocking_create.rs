//! Non-blocking creation of a communicator: the call that completes `MPI_Comm_idup` waits for the last member.

use model::Ticks;

use crate::explanation::{Explanation, Picture};
use crate::matched::{CollectiveClass, NonBlockingMember};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_nbcoll_wait",
        "mpi_nbcoll_wait_create",
        "Wait at Create",
        "Time in calls that complete Comm_idup until the last rank has started it.",
    )
    .not_work()
    .beyond_reference(),
    instances: None,
    title: "Wait at Non-blocking Create",
    is_waiting: true,
    statistics: None,
    explanation: Explanation {
        picture: Some(Picture(
            "\
rank 0     ==[ idup ]== computes ==[ wait ~~~~~~~~~~]==
rank 1     ======= computes ===============[ idup ]====
",
        )),
        meaning: "Time in the completing call until the last rank has called `MPI_Comm_idup` or \
         `MPI_Comm_idup_with_info`, of those that had called it before the operation was complete.",
        large_when: None,
        what_to_do: "Create communicators once, before the work, not in a loop.",
    },
    detect: Detect::NonBlocking(create),
};

fn create(member: &NonBlockingMember) -> Ticks {
    match member.class {
        CollectiveClass::Handle => member.arrival(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matched::tests::nonblocking;

    #[test]
    fn early_member_waits_for_the_last_request_in_this_class_only() {
        assert_eq!(create(&nonblocking(CollectiveClass::Handle)), 20);
        assert_eq!(create(&nonblocking(CollectiveClass::Barrier)), 0);
    }
}
