//! Late Sender: a receive waits because the message was sent too late.
//!
//! ```text
//!   sender    ----------[ send ]--------
//!   receiver  ----[ waits | receive ]---
//! ```
//!
//! Attributed to the receiver, to the call that completed the receive. A test never waits.

use model::Ticks;

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
