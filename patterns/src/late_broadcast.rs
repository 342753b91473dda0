//! Late Broadcast: a receiver of a 1-to-N operation waits for the root.
//!
//! Receivers that arrive after the root do not wait; nor does the root.

use model::Ticks;

use crate::matched::{CollectiveClass, CollectiveMember};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern, Statistics, Within};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_collective",
        "mpi_latebroadcast",
        "Late Broadcast",
        "Time in Bcast, Scatter or Scatterv until the root entered the operation.",
    )
    .not_work(),
    instances: None,
    title: "Late Broadcast",
    is_waiting: true,
    statistics: Some(Statistics::at(7, Within::Collective(CollectiveClass::OneToAll))),
    detect: Detect::Collective(late_broadcast),
};

fn late_broadcast(member: &CollectiveMember) -> Ticks {
    match member.class {
        CollectiveClass::OneToAll => member.waiting(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matched::tests::member;

    #[test]
    fn early_member_waits_in_this_class_only() {
        assert_eq!(late_broadcast(&member(CollectiveClass::OneToAll, 10, 50)), 20);
        assert_eq!(late_broadcast(&member(CollectiveClass::Barrier, 10, 50)), 0);
    }
}
