//! Waiting for non-blocking collective operations: all of it, in the calls that complete them.

use crate::explanation::{Explanation, Picture};
use crate::matched::NonBlockingMember;
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern, Statistics, Within};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_point2point",
        "mpi_nbcoll_wait",
        "Non-blocking Collectives",
        "Time in calls that complete non-blocking collective operations until the other members had started them and were in MPI again.",
    )
    .not_work()
    .beyond_reference(),
    instances: None,
    title: "Waiting for Non-blocking Collectives",
    is_waiting: true,
    statistics: Some(Statistics::at(17, Within::NonBlocking)),
    explanation: Explanation {
        picture: Some(Picture(
            "\
rank 0     ==[ iallreduce ]== computes ==[ wait ~~~~~~~~~~~~~~~]==
rank 1     ======= computes ======================[ iallreduce ]==
",
        )),
        meaning: "Waiting in `MPI_Wait`, `MPI_Waitany`, `MPI_Waitall` or `MPI_Waitsome` for a \
         non-blocking or persistent collective operation. It stands below *Point-to-point*, because \
         the time of these calls does; the metrics below it say which kind of operation was awaited, \
         and what for. Of the operations and messages that one call completes only the longest wait \
         counts, since the others pass meanwhile. Operations that are complete before the call have \
         none, and neither have tests.",
        large_when: Some(
            "ranks come to the operation at different times, and the work between start and \
         completion is shorter than that.",
        ),
        what_to_do: "Do more between start and completion; start the operation earlier on the ranks \
         that come last; balance the work before it.",
    },
    detect: Detect::NonBlocking(NonBlockingMember::waiting),
};
