//! N x N Completion: time in an all-to-all operation after the first rank had finished.
//!
//! This is the cost of the operation itself, once all contributions have arrived.

use crate::explanation::Explanation;
use crate::matched::{CollectiveClass, CollectiveMember};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern, Statistics, Within};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_collective",
        "mpi_nxn_completion",
        "N x N Completion",
        "Time in an N-to-N operation after the first rank left it.",
    ),
    instances: None,
    title: "N x N Completion",
    is_waiting: false,
    statistics: Some(Statistics::at(9, Within::Collective(CollectiveClass::AllToAll))),
    explanation: Explanation {
        picture: None,
        meaning: "Time in such an operation after the first rank left it: what the operation itself costs once \
         all are there.",
        large_when: Some("there are many small operations, or the network is slow for so much data."),
        what_to_do: "Combine operations into fewer, larger ones; place ranks nearer to each other.",
    },
    detect: Detect::Collective(CollectiveClass::AllToAll, CollectiveMember::completing),
};
