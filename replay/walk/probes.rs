//! Blocking probes: which message each has found (rest of MPI 6.2).

use otf2::Mappings;

use super::attributes::{ProbedMessage, Told};
use super::gaps::MissingOperations;
use super::process::ProcessWalk;
use super::stack::NONE;
use crate::ids::EventNumber;
use crate::operations::{Found, Probe};

impl ProcessWalk<'_> {
    /// Adds a blocking probe that a thread leaves by the event at `position`.
    pub(super) fn leave_probe(&mut self, thread: usize, position: EventNumber) {
        let Some(call) = self.call(thread) else { return };
        let matched = self.requests.matched.remove(&thread);
        let found = match (self.attributes.probed.take(), matched) {
            (_, Some(order)) => Found::Claimed(order),
            (Some(ProbedMessage { communicator, source, tag }), None) => {
                Found::Message { communicator, source, tag, after: self.requests.posted() }
            }
            (None, None) => Found::Posted(NONE),
        };
        if found == Found::Posted(NONE) {
            self.requests.probes.insert(thread, self.operations.probes.len());
        }
        self.operations.probes.push(Probe { call, position, found });
    }

    /// Numbers a receive that a thread posts, or a message that it takes by a matched probe. It is the one that receives what the thread has found by its last probe, as far
    /// as the trace says nothing else of that.
    pub(super) fn number_posting(&mut self, thread: usize) -> u32 {
        let order = self.requests.next_posted();
        if !self.requests.probes.is_empty()
            && let Some(probe) = self.requests.probes.remove(&thread)
        {
            self.operations.probes[probe].found = Found::Posted(order);
        }
        self.settle_probes(thread, order);
        order
    }

    /// Forgets the attributes of the current event.
    pub(super) fn forget_told(&mut self) {
        (self.told, self.attributes) = (MissingOperations::default(), Told::default());
    }

    /// Notes the message that the probe has found which is left next.
    pub(super) fn note_probed(&mut self, thread: usize, probed: ProbedMessage, mappings: &Mappings) {
        let communicator = self.communicator(thread, mappings, probed.communicator);
        self.attributes.probed = communicator.map(|communicator| ProbedMessage { communicator, ..probed });
    }
}
