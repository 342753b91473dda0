//! Initialization Completion: time in MPI_Init after the first rank had left it.
//!
//! Ranks start at different times, so waiting in MPI_Init says nothing about the program: only completion is
//! measured.

use crate::explanation::Explanation;
use crate::matched::{CollectiveClass, CollectiveMember};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_init_exit",
        "mpi_init_completion",
        "Initialization Completion",
        "Time in MPI_Init after the first rank left it.",
    ),
    instances: None,
    title: "Initialization Completion",
    is_waiting: false,
    statistics: None,
    explanation: Explanation {
        picture: None,
        meaning: "Time in `MPI_Init` or `MPI_Init_thread` after the first rank left it. Ranks start at \
         different times, so that waiting in `MPI_Init` says nothing about the program; only this is \
         measured.",
        large_when: Some(
            "starting takes long: the launcher, the network or the file system, not the program.",
        ),
        what_to_do: "Nothing in the program.",
    },
    detect: Detect::Collective(CollectiveClass::Init, CollectiveMember::completing),
};
