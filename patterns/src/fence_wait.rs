//! Wait at Fence: a member of a window waits at a fence for the last one that comes to it.

use crate::explanation::{Explanation, Picture};
use crate::matched::{CollectiveClass, CollectiveMember};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern, Statistics, Within};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_rma_sync_active",
        "mpi_rma_wait_at_fence",
        "Wait at Fence",
        "Time in MPI_Win_fence until the last member entered it.",
    )
    .not_work()
    .beyond_reference(),
    instances: None,
    title: "Wait at Fence",
    is_waiting: true,
    statistics: Some(Statistics::at(21, Within::Collective(CollectiveClass::Fence))),
    explanation: Explanation {
        picture: Some(Picture(
            "\
rank 0     ==[ fence ~~~~~~~~~~~~~]==
rank 1     ===== computes ==[ fence ]=
",
        )),
        meaning: "Time in `MPI_Win_fence` until the last member of the window entered it. A fence that ends accesses, or \
         begins them, synchronises all members like a barrier. The trace does not say which fences need not do so \
         (`MPI_MODE_NOPRECEDE`), so only members count that came before the waiting one had left.",
        large_when: Some(
            "ranks have unequal work between fences; or many ranks synchronise where only some exchange data.",
        ),
        what_to_do: "Balance the work between fences. Where ranks exchange data with few others, synchronise with those only: \
         `MPI_Win_post`, `MPI_Win_start`, `MPI_Win_complete`, `MPI_Win_wait`.",
    },
    detect: Detect::Collective(CollectiveClass::Fence, CollectiveMember::waiting),
};
