//! Non-blocking Neighborhood: the call that completes an operation among neighbours waits for the last of them.

use model::Ticks;

use crate::explanation::{Explanation, Picture};
use crate::matched::{CollectiveClass, NonBlockingMember};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_nbcoll_wait",
        "mpi_nbcoll_wait_neighbor",
        "Wait at Neighborhood",
        "Time in calls that complete Ineighbor_allgather(v) or Ineighbor_alltoall(v, w) until the last neighbour has started it.",
    )
    .not_work()
    .beyond_reference(),
    instances: None,
    title: "Wait at Non-blocking Neighborhood",
    is_waiting: true,
    statistics: None,
    explanation: Explanation {
        picture: Some(Picture(
            "\
rank 0     ==[ ineighbor ]== computes ==[ wait ~~~~~~~~~~~]==
rank 1     ======= computes ==================[ ineighbor ]==
",
        )),
        meaning: "Time in the completing call until the last of the neighbours that the rank \
         receives from has started `MPI_Ineighbor_allgather`, `MPI_Ineighbor_alltoall` or one of \
         their relatives. The trace of `replay-record` says who these are; in traces without that \
         such operations are not analysed.",
        large_when: None,
        what_to_do: "Balance the work of neighbours, or do more between start and completion, such \
         as the work that needs no data of neighbours.",
    },
    detect: Detect::NonBlocking(neighbor),
};

fn neighbor(member: &NonBlockingMember) -> Ticks {
    match member.class {
        CollectiveClass::Neighborhood => member.arrival(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matched::tests::nonblocking;

    #[test]
    fn member_waits_for_neighbours_in_this_class_only() {
        assert_eq!(neighbor(&nonblocking(CollectiveClass::Neighborhood)), 20);
        assert_eq!(neighbor(&nonblocking(CollectiveClass::Barrier)), 0);
    }
}
