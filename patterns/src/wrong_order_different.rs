//! Messages in Wrong Order from different sources: the receiver waits for the slower of two ranks first.
//!
//! The part of wrong order in which source ranks are different. As in the reference, the ranks of the records
//! are compared, whatever the communicators of the two messages.

use crate::explanation::Explanation;
use crate::matched::{LateMessage, ReceivedMessage};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_latesender_wo",
        "mpi_lswo_different",
        "From different sources",
        "Late-sender time in wrong order: the message sent earlier came from another source.",
    )
    .not_work(),
    instances: None,
    title: "Late Sender, wrong order (different sources)",
    is_waiting: true,
    statistics: None,
    explanation: Explanation {
        picture: None,
        meaning: "The two messages come from different ranks, as in the picture above. Ranks are compared as \
         they are numbered in the communicators of the two messages.",
        large_when: None,
        what_to_do: "`MPI_ANY_SOURCE`, or several `MPI_Irecv` at once.",
    },
    detect: Detect::Overtaken(different_sources),
};

fn different_sources(late: &LateMessage, later_received: &ReceivedMessage) -> bool {
    late.sent > later_received.sent && late.source != later_received.source
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_for_messages_from_two_sources_only() {
        let late = LateMessage { sent: 10, source: 3 };
        let from = |source| ReceivedMessage { sent: 5, source, ..ReceivedMessage::default() };
        assert!(different_sources(&late, &from(4)));
        assert!(!different_sources(&late, &from(3)));
    }
}
