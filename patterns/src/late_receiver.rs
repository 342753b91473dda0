//! Late Receiver: a send waits because the receive was posted too late.
//!
//! ```text
//!   sender    ----[ waits | send ]------
//!   receiver  ----------[ receive ]-----
//! ```
//!
//! Attributed to the sender, to the call that completed the send: only calls that can block until the receive
//! is posted count.

use model::Ticks;

use crate::explanation::{Explanation, Picture};
use crate::matched::{Completion, SentMessage};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern, Statistics, Within};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_point2point",
        "mpi_latereceiver",
        "Late Receiver",
        "Time a sending call is blocked because the matching receive had not been posted yet.",
    )
    .not_work(),
    instances: Some([
        Metric::instances(
            "syncs_send",
            "mpi_slr_count",
            "Late Receivers",
            "Number of late receivers of messages without data.",
        ),
        Metric::instances(
            "comms_send",
            "mpi_clr_count",
            "Late Receivers",
            "Number of late receivers of messages with data.",
        ),
    ]),
    title: "Late Receiver",
    is_waiting: true,
    statistics: Some(Statistics::at(2, Within::Send)),
    explanation: Explanation {
        picture: Some(Picture(
            "\
sender     ==[ send ~~~~~~~~~~~~~       ]=====
receiver   ===== computes =======[ receive ]==
             |<- Late Receiver ->|
",
        )),
        meaning: "A sending call is blocked because the receive has not been posted yet. Charged to the \
         sender, in the call that completes the send: `MPI_Send`, `MPI_Ssend`, `MPI_Sendrecv`, \
         `MPI_Sendrecv_replace`, or the `MPI_Wait`, `MPI_Waitany`, `MPI_Waitall` or `MPI_Waitsome` of an \
         `MPI_Isend`. Other calls (`MPI_Bsend`, `MPI_Rsend`, tests) do not count. Of the messages that one \
         `MPI_Waitall` or `MPI_Waitsome` completes only the longest wait counts, and none if the call \
         had a late sender, too; of the two of an `MPI_Sendrecv`, the longer wait. If the send was over before the receive was posted, MPI has buffered \
         the message, and nobody waited.",
        large_when: Some(
            "messages are long, for MPI buffers only short ones, and the receiver is busy; with \
         `MPI_Ssend` always.",
        ),
        what_to_do: "Post receives earlier (`MPI_Irecv` before the work), or let the sender go on meanwhile \
         (`MPI_Isend`). Where the receiver has more work than the sender, balance it.",
    },
    detect: Detect::Send(late_receiver),
};

fn late_receiver(message: &SentMessage) -> Ticks {
    match message.completion {
        Completion::BlockingSend | Completion::WaitOne | Completion::WaitMany | Completion::SendReceive => {}
        Completion::Test | Completion::SplitTransfer | Completion::Other => return 0,
    }
    if message.send.leave <= message.posting.enter {
        return 0; // The send ended before the receive was posted: the message was buffered.
    }
    message.posting.enter - message.send.enter
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matched::Interval;

    fn message(send: (Ticks, Ticks), posting: (Ticks, Ticks), completion: Completion) -> SentMessage {
        SentMessage {
            send: Interval::new(send.0, send.1),
            posting: Interval::new(posting.0, posting.1),
            completion,
            bytes: 8,
        }
    }

    #[test]
    fn send_blocked_until_the_receive_is_posted_waits() {
        assert_eq!(late_receiver(&message((4, 20), (10, 21), Completion::BlockingSend)), 6);
        assert_eq!(late_receiver(&message((4, 20), (10, 11), Completion::WaitMany)), 6);
    }

    #[test]
    fn buffered_send_does_not_wait() {
        assert_eq!(late_receiver(&message((4, 10), (10, 21), Completion::BlockingSend)), 0);
    }

    #[test]
    fn receive_posted_first_is_not_late() {
        assert!(late_receiver(&message((4, 20), (3, 21), Completion::WaitOne)) <= 0);
    }

    #[test]
    fn buffered_and_tested_sends_never_count() {
        assert_eq!(late_receiver(&message((4, 20), (10, 21), Completion::Other)), 0);
        assert_eq!(late_receiver(&message((4, 20), (10, 21), Completion::Test)), 0);
    }
}
