//! Wait at Create: a member of a new window waits for the last one that creates it.

use crate::explanation::{Explanation, Picture};
use crate::matched::{CollectiveClass, CollectiveMember};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern, Statistics, Within};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_mgmt_win",
        "mpi_rma_wait_at_create",
        "Wait at Create",
        "Time in calls that create windows until the last member entered the call.",
    )
    .not_work()
    .beyond_reference(),
    instances: None,
    title: "Wait at Creation of Windows",
    is_waiting: true,
    statistics: Some(Statistics::at(19, Within::Collective(CollectiveClass::WindowCreation))),
    explanation: Explanation {
        picture: Some(Picture(
            "\
rank 0     ==[ win_allocate ~~~~~~~~~~~~~]==
rank 1     ======= computes ====[ win_al.]==
rank 2     =====[ win_allocate ~~~~~~~~~~]==
",
        )),
        meaning: "Time in `MPI_Win_create`, `MPI_Win_allocate` and their like until the last member of the communicator \
         entered the call. Such calls synchronise like a barrier; only members count that came before the waiting \
         one had left.",
        large_when: Some("windows are made in a loop, or behind work that is not balanced."),
        what_to_do: "Make windows once, at the start, and keep them.",
    },
    detect: Detect::Collective(CollectiveClass::WindowCreation, CollectiveMember::waiting),
};
