//! Early Scan: a rank of a prefix reduction waits for a lower rank.
//!
//! Rank n needs the contributions of ranks 0 to n (MPI 3.1, section 5.11).

use crate::explanation::{Explanation, Picture};
use crate::matched::{CollectiveClass, CollectiveMember};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern, Statistics, Within};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_collective",
        "mpi_earlyscan",
        "Early Scan",
        "Time in Scan or Exscan until the last of the lower ranks entered the operation.",
    )
    .not_work(),
    instances: None,
    title: "Early Scan",
    is_waiting: true,
    statistics: Some(Statistics::at(6, Within::Collective(CollectiveClass::Scan))),
    explanation: Explanation {
        picture: Some(Picture(
            "\
rank 0     ===== computes =====[ scan ]==
rank 1     ==[ scan ~~~~~~~~~~~~~~~~]====
rank 2     =====[ scan ~~~~~~~~~~~~~]====
             |<--- rank 1 --->|
",
        )),
        meaning: "Time in `MPI_Scan` or `MPI_Exscan` until the last of the lower ranks entered it: rank *n* \
         needs data of ranks 0 to *n*.",
        large_when: Some("low ranks have more work than high ones."),
        what_to_do: "Let lower ranks arrive first: balance the work so that it does not fall with the rank.",
    },
    detect: Detect::Collective(CollectiveClass::Scan, CollectiveMember::waiting),
};
