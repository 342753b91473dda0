//! Messages in Wrong Order: a late message is awaited although another one, sent earlier, could have been
//! received.
//!
//! ```text
//!   senders   --[ send b ]-----[ send a ]----
//!   receiver  -[ waits | receive a ][ receive b ]--
//! ```
//!
//! Part of Late Sender; attributed to the wait for message *a*, detected when message *b* is received.

use crate::explanation::{Explanation, Picture};
use crate::matched::{LateMessage, ReceivedMessage};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern, Statistics, Within};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_latesender",
        "mpi_latesender_wo",
        "Messages in Wrong Order",
        "Late-sender time that could have been used to receive a message which had been sent before.",
    )
    .not_work(),
    instances: Some([
        Metric::instances(
            "mpi_sls_count",
            "mpi_slswo_count",
            "Messages in Wrong Order",
            "Number of late senders in wrong order, messages without data.",
        ),
        Metric::instances(
            "mpi_cls_count",
            "mpi_clswo_count",
            "Messages in Wrong Order",
            "Number of late senders in wrong order, messages with data.",
        ),
    ]),
    title: "Late Sender, wrong order",
    is_waiting: true,
    statistics: Some(Statistics::at(1, Within::Receive)),
    explanation: Explanation {
        picture: Some(Picture(
            "\
sender b   ==[ send b ]======================
sender a   ===== computes ======[ send a ]====
receiver   ====[ receive a ~~~~~~~~~~~~~~][ receive b ]==
               |<- wrong order ->|
",
        )),
        meaning: "The part of Late Sender that another order of receives would have saved: while the receiver \
         waited for *a*, message *b* was there already or on its way. Charged where *a* was awaited, \
         found when *b* is received: *b* was sent before *a*. A late message counts at most once.",
        large_when: Some(
            "a rank receives from its neighbours in a fixed order, or collects results from workers by \
         number.",
        ),
        what_to_do: "Receive from whoever comes first: `MPI_ANY_SOURCE`, or several `MPI_Irecv` with \
         `MPI_Waitany` or `MPI_Waitall`. The next two metrics say which kind it is; together they are \
         this one.",
    },
    detect: Detect::Overtaken(sent_before),
};

fn sent_before(late: &LateMessage, later_received: &ReceivedMessage) -> bool {
    late.sent > later_received.sent
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_message_sent_strictly_earlier_is_in_wrong_order() {
        let late = LateMessage { sent: 10, source: 0 };
        let received = |sent| ReceivedMessage { sent, ..ReceivedMessage::default() };
        assert!(sent_before(&late, &received(9)));
        assert!(!sent_before(&late, &received(10)));
    }
}
