//! Wait at N x N: a rank of an all-to-all operation waits for the last contribution.
//!
//! No rank can finish before all ranks have contributed.

use crate::explanation::{Explanation, Picture};
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
    explanation: Explanation {
        picture: Some(Picture(
            "\
rank 0     ==[ allreduce ~~~~~~~~~~~~]==
rank 1     ==== computes ===[ allred. ]==
rank 2     ======[ allreduce ~~~~~~~~]==
",
        )),
        meaning: "Time in an operation in which everyone needs data of everyone, until the last rank entered \
         it: `MPI_Allreduce`, `MPI_Allgather`, `MPI_Allgatherv`, `MPI_Alltoall`, \
         `MPI_Alltoallv`, `MPI_Alltoallw`, `MPI_Reduce_scatter`, `MPI_Reduce_scatter_block`. Ranks that move no data do not \
         take part. Of `MPI_Alltoallv` and `MPI_Alltoallw` the trace does not say who sends to whom: everyone is taken to wait \
         for the last one that came before its own end.",
        large_when: Some(
            "the work before the operation is not balanced; typical for the `MPI_Allreduce` of a residual \
         at the end of each iteration.",
        ),
        what_to_do: "Balance the work. Or start the operation early and complete it later (`MPI_Iallreduce`), or \
         check for convergence less often.",
    },
    detect: Detect::Collective(CollectiveClass::AllToAll, CollectiveMember::waiting),
};
