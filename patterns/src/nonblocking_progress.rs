//! Waiting for progress of a non-blocking collective operation: a member has started it, and computes outside of MPI.

use crate::explanation::{Explanation, Picture};
use crate::matched::NonBlockingMember;
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_nbcoll_wait",
        "mpi_nbcoll_wait_for_progress",
        "Wait for Progress",
        "Time in calls that complete non-blocking collective operations from the last start until a member that computed was in MPI again.",
    )
    .not_work()
    .beyond_reference(),
    instances: None,
    title: "Wait for Progress of Collectives",
    is_waiting: true,
    statistics: None,
    explanation: Explanation {
        picture: Some(Picture(
            "\
rank 0     ==[ iallreduce ]==[ wait ~~~~~~~~~~~~~~~~~~~~~~~]==
rank 1     =======[ iallreduce ]====== computes =====[ wait ]==
",
        )),
        meaning: "Time from when all have started the operation until the last member that had gone \
         on with its work called MPI again. Common MPI libraries move an operation on only inside \
         MPI calls, so a rank that computes holds up all others. It counts only if the completing \
         call lasted that long: an operation that hardware or a thread of the library completes ends \
         earlier.",
        large_when: Some(
            "a rank starts an operation and then computes for long without calling MPI.",
        ),
        what_to_do: "Call MPI now and then in the work, for example `MPI_Test` on the request; or \
         let the library use a thread for progress, if it can.",
    },
    detect: Detect::NonBlocking(NonBlockingMember::progress),
};
