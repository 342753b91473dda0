//! Non-blocking Late Broadcast: the call that completes the operation waits for the root to request it.

use model::Ticks;

use crate::explanation::{Explanation, Picture};
use crate::matched::{CollectiveClass, NonBlockingMember};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_nbcoll_wait",
        "mpi_nbcoll_wait_12n",
        "Late Broadcast",
        "Time in calls that complete Ibcast or Iscatter(v) until the root has started it.",
    )
    .not_work()
    .beyond_reference(),
    instances: None,
    title: "Late Non-blocking Broadcast",
    is_waiting: true,
    statistics: None,
    explanation: Explanation {
        picture: Some(Picture(
            "\
root       ======= computes =================[ ibcast ]====
rank 1     ==[ ibcast ]== computes ==[ wait ~~~~~~~~~~~~~]==
",
        )),
        meaning: "Time in the completing call of a receiver until the root has called `MPI_Ibcast`, \
         `MPI_Iscatter` or `MPI_Iscatterv`.",
        large_when: None,
        what_to_do: "Let the root start the operation as soon as its data are ready, before work \
         that the data do not depend on.",
    },
    detect: Detect::NonBlocking(broadcast),
};

fn broadcast(member: &NonBlockingMember) -> Ticks {
    match member.class {
        CollectiveClass::OneToAll => member.arrival(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matched::tests::nonblocking;

    #[test]
    fn receiver_waits_for_the_root_in_this_class_only() {
        assert_eq!(broadcast(&nonblocking(CollectiveClass::OneToAll)), 20);
        assert_eq!(broadcast(&nonblocking(CollectiveClass::Barrier)), 0);
    }
}
