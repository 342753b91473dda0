//! Collective I/O Completion: time in a collective read or write after all were there and the first had left.

use crate::explanation::{Explanation, Picture};
use crate::matched::{CollectiveClass, CollectiveMember};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern, Statistics, Within};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_io_collective",
        "mpi_io_collective_completion",
        "Collective I/O Completion",
        "Time in collective reads and writes after all members were there and the first had left.",
    )
    .beyond_reference(),
    instances: None,
    title: "Collective I/O Completion",
    is_waiting: false,
    statistics: Some(Statistics::at(29, Within::Collective(CollectiveClass::FileTransfer))),
    explanation: Explanation {
        picture: Some(Picture(
            "\
rank 0     [ write_all   ]=======
rank 1     [ write_all       ....]
                         |<----->|
",
        )),
        meaning: "Time in a collective read or write after the first rank had left it, and all were there.",
        large_when: Some(
            "ranks move unequal amounts of data, or the file system serves them one after the other.",
        ),
        what_to_do: "Give ranks equal amounts; look at hints for collective buffering.",
    },
    detect: Detect::Collective(CollectiveClass::FileTransfer, CollectiveMember::completing),
};
