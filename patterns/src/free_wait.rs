//! Wait at Free: a member that disconnects a communicator waits for the last one that does.

use crate::explanation::{Explanation, Picture};
use crate::matched::{CollectiveClass, CollectiveMember};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_mgmt_comm",
        "mpi_comm_wait_at_free",
        "Wait at Free",
        "Time in MPI_Comm_disconnect until the last member entered it.",
    )
    .not_work()
    .beyond_reference(),
    instances: None,
    title: "Wait at Disconnection",
    is_waiting: true,
    statistics: None,
    explanation: Explanation {
        picture: Some(Picture(
            "\
rank 0     ==[ disconnect ~~~~~~~~~~~~~]==
rank 1     ===== computes ====[ disc. ]===
",
        )),
        meaning: "Time in `MPI_Comm_disconnect` until the last member entered it, of those that came \
         before the waiting one had left. `MPI_Comm_free` is local in practice, and has no waiting.",
        large_when: None,
        what_to_do: "Use `MPI_Comm_free` where no process is to be cut off; otherwise disconnect \
         after balanced work.",
    },
    detect: Detect::Collective(CollectiveClass::Disconnect, CollectiveMember::waiting),
};
