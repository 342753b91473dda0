//! Calls that send a message and receive one (`MPI_Sendrecv`): they end with the later of both, so only the longer wait counts
//! (rest of MPI 6.1).

use model::Ticks;
use patterns::matched::Completion;
use rustc_hash::FxHashMap;

use crate::ids::CallId;
use crate::matching::{PostingFacts, Sides};
use crate::metrics::Metrics;
use crate::operations::Operations;

/// The waits of such calls of a process for receivers, by call.
#[derive(Clone, Debug, Default)]
pub(super) struct CombinedCalls {
    for_receiver: FxHashMap<CallId, Ticks>,
}

impl CombinedCalls {
    /// Finds them. Which of them are longer than the waits for senders is known once all messages were received.
    pub(super) fn new(
        operations: &Operations,
        metrics: &Metrics,
        postings: &Sides<PostingFacts>,
    ) -> CombinedCalls {
        let mut calls = CombinedCalls::default();
        let is_combined = |completion: Completion| completion == Completion::SendReceive;
        if !operations.calls.sites().iter().any(|site| is_combined(site.completion)) {
            return calls;
        }
        for (send, posting) in operations.sends.iter().zip(postings.iter()) {
            let call = operations.calls.find(send.completion);
            let Some((call, posting)) = call.filter(|call| is_combined(call.site.completion)).zip(posting)
            else {
                continue;
            };
            let message = posting.sent(&call, send.bytes);
            let rules = metrics.at_send.iter().filter(|(pattern, _)| pattern.is_outermost_waiting);
            let idle = rules.map(|(_, rule)| rule(&message)).max().unwrap_or(0);
            if idle > 0 {
                calls.for_receiver.insert(send.completion, idle);
            }
        }
        calls
    }

    /// Whether a call has waited longer for the receiver than for the sender. If not, the wait for the receiver does not count.
    pub(super) fn waits_longer_for_receiver(&mut self, call: CallId, for_sender: Ticks) -> bool {
        let is_longer = self.for_receiver.get(&call).is_some_and(|&for_receiver| for_receiver > for_sender);
        if !is_longer {
            self.for_receiver.remove(&call);
        }
        is_longer
    }

    /// Whether the wait of a call for the receiver counts.
    pub(super) fn waits_for_receiver(&self, call: CallId) -> bool {
        self.for_receiver.contains_key(&call)
    }
}
