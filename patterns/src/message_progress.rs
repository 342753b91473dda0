//! Waiting for progress of a message: it has been sent, and the other process computes outside of MPI.

use crate::explanation::{Explanation, Picture};
use crate::matched::StalledMessage;
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern, Statistics, Within};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_point2point",
        "mpi_p2p_wait_for_progress",
        "Wait for Progress",
        "Time in calls that complete messages which have been sent, until the other process was in MPI again.",
    )
    .not_work()
    .beyond_reference(),
    instances: None,
    title: "Wait for Progress of Messages",
    is_waiting: true,
    statistics: Some(Statistics::at(26, Within::Stalled)),
    explanation: Explanation {
        picture: Some(Picture(
            "\
sender     ==[ isend ]======= computes =========[ wait ]==
receiver   =======[ receive ~~~~~~~~~~~~~~~~~~~~~~~~~~ ]==
",
        )),
        meaning: "Time in a call that completes a message, from when the message had been sent and the call \
         had no other reason to wait, until the other process called MPI again. Many MPI libraries move \
         messages on only inside MPI calls, at least those that are too long to be sent at once: a sender \
         that computes after its `MPI_Isend` holds up the receiver, and a receiver that computes after its \
         `MPI_Irecv` the sender. It counts only if the call lasted until that process was in MPI again, \
         and if that explains at least half of the time that the call took without another reason, of 20 µs \
         or more: a message that is on its way all the time arrives without the other process. The other process \
         must have been outside of MPI when this time began: where it was about to leave another call, such as a barrier \
         before, the time is not explained.",
        large_when: Some(
            "long messages are started before work and completed after it, to overlap both: the library \
         does not move them meanwhile.",
        ),
        what_to_do: "Call MPI now and then in the work of the other process, for example `MPI_Test` on its \
         request; let the library use a thread for progress, if it can; or send smaller messages.",
    },
    detect: Detect::Stalled(StalledMessage::stall),
};
