//! Wait at Free: a member that frees a window waits for the last one that does.

use crate::explanation::{Explanation, Picture};
use crate::matched::{CollectiveClass, CollectiveMember};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern, Statistics, Within};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_mgmt_win",
        "mpi_rma_wait_at_free",
        "Wait at Free",
        "Time in MPI_Win_free until the last member entered it.",
    )
    .not_work()
    .beyond_reference(),
    instances: None,
    title: "Wait at Release of Windows",
    is_waiting: true,
    statistics: Some(Statistics::at(20, Within::Collective(CollectiveClass::WindowRelease))),
    explanation: Explanation {
        picture: Some(Picture(
            "\
rank 0     ==[ win_free ~~~~~~~~~~~~~]==
rank 1     ===== computes ==[ win_fr.]==
",
        )),
        meaning: "Time in `MPI_Win_free` until the last member entered it, of those that came before the waiting one had \
         left. Freeing a window is a barrier, so that nobody accesses memory that is gone.",
        large_when: Some("ranks come to the end of a phase at different times."),
        what_to_do: "Balance the work before, or free windows once, at the end.",
    },
    detect: Detect::Collective(CollectiveClass::WindowRelease, CollectiveMember::waiting),
};
