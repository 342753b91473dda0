//! Wait at Finalize: time in MPI_Finalize until the last rank arrived.
//!
//! MPI_Finalize is collective over all ranks (MPI 3.1, section 8.7).

use crate::explanation::{Explanation, Picture};
use crate::matched::{CollectiveClass, CollectiveMember};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_init_exit",
        "mpi_finalize_wait",
        "Wait at Finalize",
        "Time in MPI_Finalize until the last rank entered it.",
    )
    .not_work(),
    instances: None,
    title: "Wait at Finalize",
    is_waiting: true,
    statistics: None,
    explanation: Explanation {
        picture: Some(Picture(
            "\
rank 0     ==[ finalize ~~~~~~~~~~~~~~]
rank 1     ==== writes output ==[ fin. ]
             |<--- rank 0 --->|
",
        )),
        meaning: "Time in `MPI_Finalize` until the last rank entered it.",
        large_when: Some("the ranks end at different times."),
        what_to_do: "Look for what the last ones still do (output, clean-up), and share it or overlap it with \
         work.",
    },
    detect: Detect::Collective(CollectiveClass::Finalize, CollectiveMember::waiting),
};
