//! Messages in Wrong Order from the same source: one rank sends two messages in the order opposite to the
//! receives.
//!
//! The part of wrong order in which source ranks are equal. As in the reference, the ranks of the records are
//! compared, whatever the communicators of the two messages.

use crate::explanation::{Explanation, Picture};
use crate::matched::{LateMessage, ReceivedMessage};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_latesender_wo",
        "mpi_lswo_same",
        "From same source",
        "Late-sender time in wrong order: the message sent earlier came from the same source.",
    )
    .not_work(),
    instances: None,
    title: "Late Sender, wrong order (same source)",
    is_waiting: true,
    statistics: None,
    explanation: Explanation {
        picture: Some(Picture(
            "\
sender     ==[ send b ]==== computes ====[ send a ]==
receiver   ====[ receive a ~~~~~~~~~~~~~~~~~~~][ receive b ]==
",
        )),
        meaning: "Both messages come from one rank, which sends them in the order opposite to the receives, \
         with different tags.",
        large_when: None,
        what_to_do: "Receive messages in the order in which they are sent, or send them in the order in which \
         they are needed.",
    },
    detect: Detect::Overtaken(same_source),
};

fn same_source(late: &LateMessage, later_received: &ReceivedMessage) -> bool {
    late.sent > later_received.sent && late.source == later_received.source
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_for_messages_from_one_source_only() {
        let late = LateMessage { sent: 10, source: 3 };
        let from = |source| ReceivedMessage { sent: 5, source, ..ReceivedMessage::default() };
        assert!(same_source(&late, &from(3)));
        assert!(!same_source(&late, &from(4)));
    }
}
