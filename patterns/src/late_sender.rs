//! Late Sender: a receive waits because the message was sent too late.
//!
//! ```text
//!   sender    ----------[ send ]--------
//!   receiver  ----[ waits | receive ]---
//! ```
//!
//! Attributed to the receiver, to the call that completed the receive. A test never waits.

use model::Ticks;

use crate::explanation::{Explanation, Picture};
use crate::matched::{Completion, ReceivedMessage};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern, Statistics, Within};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_point2point",
        "mpi_latesender",
        "Late Sender",
        "Time a receiving call is blocked because the matching send had not been entered yet.",
    )
    .not_work(),
    instances: Some([
        Metric::instances(
            "syncs_recv",
            "mpi_sls_count",
            "Late Senders",
            "Number of late senders of messages without data.",
        ),
        Metric::instances(
            "comms_recv",
            "mpi_cls_count",
            "Late Senders",
            "Number of late senders of messages with data.",
        ),
    ]),
    title: "Late Sender",
    is_waiting: true,
    statistics: Some(Statistics::at(0, Within::Receive)),
    explanation: Explanation {
        picture: Some(Picture(
            "\
sender     ===== computes ======[ send ]====
receiver   ==[ receive ~~~~~~~~~        ]====
             |<-- Late Sender ->|
",
        )),
        meaning: "A receiving call is blocked because the sending call has not been entered yet. Charged to \
         the receiver, in the call that *completes* the receive: `MPI_Recv`, `MPI_Sendrecv`, or for \
         `MPI_Irecv` the `MPI_Wait` that follows. Measured from entering that call until the send is \
         entered, but not longer than the call. Of the messages that one `MPI_Waitall` or \
         `MPI_Waitsome` completes only the longest wait counts, since the others pass meanwhile. A \
         message that `MPI_Test` or its relatives complete is no late sender: a test does not wait.",
        large_when: Some(
            "ranks do not have the same amount of work; when one rank works for many, or writes output \
         while the others go on; when ranks form a chain in which each waits for the one before.",
        ),
        what_to_do: "If always the same ranks send late, they have more work: balance it. Otherwise let the \
         sender send before it does work that the message does not depend on, or give the receiver \
         something to do: post the receive early with `MPI_Irecv`, and wait for it after the work.",
    },
    detect: Detect::LateMessage(late_sender),
};

fn late_sender(message: &ReceivedMessage) -> Ticks {
    if message.completion == Completion::Test {
        return 0;
    }
    // With wrong clocks the send may seem to start after the receive has ended.
    message.send.enter.min(message.receive.leave) - message.receive.enter
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matched::Interval;

    fn message(send: (Ticks, Ticks), receive: (Ticks, Ticks), completion: Completion) -> ReceivedMessage {
        ReceivedMessage {
            send: Interval::new(send.0, send.1),
            receive: Interval::new(receive.0, receive.1),
            completion,
            ..ReceivedMessage::default()
        }
    }

    #[test]
    fn receive_entered_before_the_send_waits_until_the_send() {
        assert_eq!(late_sender(&message((10, 14), (4, 15), Completion::Other)), 6);
    }

    #[test]
    fn send_entered_first_is_not_late() {
        assert_eq!(late_sender(&message((4, 6), (4, 15), Completion::WaitOne)), 0);
    }

    #[test]
    fn test_call_never_waits() {
        assert_eq!(late_sender(&message((10, 14), (4, 15), Completion::Test)), 0);
    }

    #[test]
    fn wrong_clock_never_makes_the_wait_longer_than_the_call() {
        assert_eq!(late_sender(&message((90, 94), (4, 15), Completion::WaitMany)), 11);
    }
}
