//! Wait at Neighborhood: a rank waits for the neighbours that it receives from.

use crate::explanation::{Explanation, Picture};
use crate::matched::{CollectiveClass, CollectiveMember};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern, Statistics, Within};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_collective",
        "mpi_wait_neighbor",
        "Wait at Neighborhood",
        "Time in Neighbor_allgather(v) or Neighbor_alltoall(v, w) until the last neighbour entered it.",
    )
    .not_work()
    .beyond_reference(),
    instances: None,
    title: "Wait at Neighborhood",
    is_waiting: true,
    statistics: Some(Statistics::at(16, Within::Collective(CollectiveClass::Neighborhood))),
    explanation: Explanation {
        picture: Some(Picture(
            "\
rank 0     ==[ neighbor_alltoall ~~~~~~~]=====
rank 1     ===== computes ======[ neighbor. ]=
",
        )),
        meaning: "Time in `MPI_Neighbor_allgather`, `MPI_Neighbor_allgatherv`, \
         `MPI_Neighbor_alltoall`, `MPI_Neighbor_alltoallv` or `MPI_Neighbor_alltoallw` until the \
         last of the neighbours that the rank receives from entered it, of those that came before it \
         had left. Who these are the trace of `replay-record` says; in traces without that such \
         operations are not analysed. Ranks that are not neighbours do not wait for each other, so \
         delays travel through the grid from neighbour to neighbour.",
        large_when: Some("work is not balanced between parts of a grid that touch each other."),
        what_to_do: "Balance the work of neighbours. Or start the operation early and do the inner \
         work meanwhile, which needs no data of neighbours (`MPI_Ineighbor_alltoall`).",
    },
    detect: Detect::Collective(CollectiveClass::Neighborhood, CollectiveMember::waiting),
};
