//! Early Reduce: the root of an N-to-1 operation waits for the last contribution.
//!
//! Other ranks may leave as soon as their part is sent.

use crate::explanation::{Explanation, Picture};
use crate::matched::{CollectiveClass, CollectiveMember};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern, Statistics, Within};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_collective",
        "mpi_earlyreduce",
        "Early Reduce",
        "Time in Reduce, Gather or Gatherv that the root waits for the last rank that contributes.",
    )
    .not_work(),
    instances: None,
    title: "Early Reduce",
    is_waiting: true,
    statistics: Some(Statistics::at(5, Within::Collective(CollectiveClass::AllToOne))),
    explanation: Explanation {
        picture: Some(Picture(
            "\
root       ==[ reduce ~~~~~~~~~~~~~~~]==
rank 1     ==[ reduce ]=================
rank 2     ===== computes ====[ reduce ]==
             |<--- root --->|
",
        )),
        meaning: "Time in `MPI_Reduce`, `MPI_Gather` or `MPI_Gatherv` that the root waits for the last rank \
         that contributes. Other ranks leave as soon as their part is sent, so only the root waits.",
        large_when: Some("the root has less work than the others, or one of them is late."),
        what_to_do: "Balance the work before; let the root do something else first (`MPI_Ireduce`, \
         `MPI_Igather`).",
    },
    detect: Detect::Collective(CollectiveClass::AllToOne, CollectiveMember::waiting),
};
