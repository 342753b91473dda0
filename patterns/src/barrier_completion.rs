//! Barrier Completion: time in a barrier after the first rank had left it.
//!
//! This is the cost of the barrier itself, once all ranks have arrived.

use crate::explanation::{Explanation, Picture};
use crate::matched::{CollectiveClass, CollectiveMember};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern, Statistics, Within};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_sync_collective",
        "mpi_barrier_completion",
        "Barrier Completion",
        "Time in a barrier after the first rank left it.",
    ),
    instances: None,
    title: "Barrier Completion",
    is_waiting: false,
    statistics: Some(Statistics::at(8, Within::Collective(CollectiveClass::Barrier))),
    explanation: Explanation {
        picture: Some(Picture(
            "\
rank 0     [ barrier   ]=======
rank 1     [ barrier       ....]
                       |<----->|
",
        )),
        meaning: "Time in `MPI_Barrier` after the first rank left it: what the barrier itself costs once all \
         are there.",
        large_when: Some("there are very many barriers, or the operating system takes processors away."),
        what_to_do: "Use fewer barriers; place ranks that belong together nearer to each other.",
    },
    detect: Detect::Collective(CollectiveClass::Barrier, CollectiveMember::completing),
};
