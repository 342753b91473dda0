//! Wait at Barrier: time in a barrier until the last rank arrived.
//!
//! All members of the communicator wait for the last one (MPI 3.1, section 5.3).

use crate::explanation::{Explanation, Picture};
use crate::matched::{CollectiveClass, CollectiveMember};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern, Statistics, Within};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_sync_collective",
        "mpi_barrier_wait",
        "Wait at Barrier",
        "Time in a barrier until the last rank entered it.",
    )
    .not_work(),
    instances: None,
    title: "Wait at Barrier",
    is_waiting: true,
    statistics: Some(Statistics::at(4, Within::Collective(CollectiveClass::Barrier))),
    explanation: Explanation {
        picture: Some(Picture(
            "\
rank 0     ==[ barrier ~~~~~~~~~~~~]==
rank 1     ==== computes ===[ bar. ]==
rank 2     ======[ barrier ~~~~~~~~]==
             |<- rank 0 ->|
",
        )),
        meaning: "Time in `MPI_Barrier` until the last rank entered it.",
        large_when: Some(
            "the work since the last synchronisation differs between ranks. The barrier only shows it.",
        ),
        what_to_do: "Find who comes last and why, and balance the work before. Ask whether the barrier is needed: \
         messages and collective operations already order what depends on each other. Without it, the \
         wait may turn up in the next operation or disappear.",
    },
    detect: Detect::Collective(CollectiveClass::Barrier, CollectiveMember::waiting),
};
