//! Wait at N x N: a rank of an all-to-all operation waits for the last contribution.
//!
//! No rank can finish before all ranks have contributed.

use model::Ticks;

use crate::matched::{CollectiveClass, CollectiveMember};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern, Statistics, Within};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_collective",
        "mpi_wait_nxn",
        "Wait at N x N",
        "Time in Allreduce, Allgather(v), Alltoall or Reduce_scatter until the last rank entered it.",
    )
    .not_work(),
    instances: None,
    title: "Wait at N x N",
    is_waiting: true,
    statistics: Some(Statistics {
        is_from_enter: true,
        ..Statistics::at(3, Within::Collective(CollectiveClass::AllToAll))
    }),
    detect: Detect::Collective(wait_at_nxn),
};

fn wait_at_nxn(member: &CollectiveMember) -> Ticks {
    match member.class {
        CollectiveClass::AllToAll => member.waiting(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matched::tests::member;

    #[test]
    fn early_member_waits_in_this_class_only() {
        assert_eq!(wait_at_nxn(&member(CollectiveClass::AllToAll, 10, 50)), 20);
        assert_eq!(wait_at_nxn(&member(CollectiveClass::Barrier, 10, 50)), 0);
    }
}
