//! Wait at Barrier: time in a barrier until the last rank arrived.
//!
//! All members of the communicator wait for the last one (MPI 3.1, section 5.3).

use model::Ticks;

use crate::matched::{CollectiveClass, CollectiveMember};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern, Statistics, Within};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_sync_collective",
        "mpi_barrier_wait",
        "Wait at Barrier",
        "Time in a barrier until the last rank entered it.",
    )
    .not_work(),
    instances: None,
    title: "Wait at Barrier",
    is_waiting: true,
    statistics: Some(Statistics::at(4, Within::Collective(CollectiveClass::Barrier))),
    detect: Detect::Collective(barrier_wait),
};

fn barrier_wait(member: &CollectiveMember) -> Ticks {
    match member.class {
        CollectiveClass::Barrier => member.waiting(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matched::tests::member;

    #[test]
    fn early_member_waits_in_this_class_only() {
        assert_eq!(barrier_wait(&member(CollectiveClass::Barrier, 10, 50)), 20);
        assert_eq!(barrier_wait(&member(CollectiveClass::Scan, 10, 50)), 0);
    }
}
