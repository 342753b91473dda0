//! Wait at Free: a member that disconnects a communicator waits for the last one that does.

use model::Ticks;

use crate::explanation::{Explanation, Picture};
use crate::matched::{CollectiveClass, CollectiveMember};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_mgmt_comm",
        "mpi_comm_wait_at_free",
        "Wait at Free",
        "Time in MPI_Comm_disconnect until the last member entered it.",
    )
    .not_work()
    .beyond_reference(),
    instances: None,
    title: "Wait at Disconnection",
    is_waiting: true,
    statistics: None,
    explanation: Explanation {
        picture: Some(Picture(
            "\
rank 0     ==[ disconnect ~~~~~~~~~~~~~]==
rank 1     ===== computes ====[ disc. ]===
",
        )),
        meaning: "Time in `MPI_Comm_disconnect` until the last member entered it, of those that came \
         before the waiting one had left. `MPI_Comm_free` is local in practice, and has no waiting.",
        large_when: None,
        what_to_do: "Use `MPI_Comm_free` where no process is to be cut off; otherwise disconnect \
         after balanced work.",
    },
    detect: Detect::Collective(free_wait),
};

fn free_wait(member: &CollectiveMember) -> Ticks {
    match member.class {
        CollectiveClass::Disconnect => member.waiting(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matched::tests::member;

    #[test]
    fn early_member_waits_in_this_class_only() {
        assert_eq!(free_wait(&member(CollectiveClass::Disconnect, 10, 50)), 20);
        assert_eq!(free_wait(&member(CollectiveClass::Barrier, 10, 50)), 0);
    }
}
