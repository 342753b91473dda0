//! Late Broadcast: a receiver of a 1-to-N operation waits for the root.
//!
//! Receivers that arrive after the root do not wait; nor does the root.

use crate::explanation::{Explanation, Picture};
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
    explanation: Explanation {
        picture: Some(Picture(
            "\
root       ===== computes =====[ bcast ]==
rank 1     ==[ bcast ~~~~~~~~~~~~~]=======
rank 2     =======[ bcast ~~~~~~~~]=======
             |<--- rank 1 --->|
",
        )),
        meaning: "Time in `MPI_Bcast`, `MPI_Scatter` or `MPI_Scatterv` until the root entered the operation. \
         Only ranks that receive data wait, and only those that came before the root.",
        large_when: Some("the root has more to do than the others: it reads input, or writes output."),
        what_to_do: "Let the root do less before, or share that work; give the others work meanwhile \
         (`MPI_Ibcast`).",
    },
    detect: Detect::Collective(CollectiveClass::OneToAll, CollectiveMember::waiting),
};
