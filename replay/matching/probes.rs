//! Messages that blocking probes have found, by their receives (rest of MPI 6.2).

use super::{Matches, SendFacts};
use crate::operations::{Envelope, Found, Operations, Probe};

/// Receives by their places in the order of posting.
struct Posted<'a> {
    operations: &'a Operations,
    /// Number of the posting, and position of the receive.
    all: Vec<(u32, u32)>,
    /// The same behind the position of the envelope.
    by_envelope: Vec<(usize, u32, u32)>,
}

impl Posted<'_> {
    fn new(operations: &Operations) -> Posted<'_> {
        let receives = || (0..).zip(&operations.receives);
        let mut all: Vec<(u32, u32)> = receives().map(|(at, receive)| (receive.posted, at)).collect();
        all.sort_unstable();
        let by_envelope = receives().map(|(at, receive)| (receive.envelope(), receive.posted, at));
        let mut by_envelope: Vec<(usize, u32, u32)> = by_envelope.collect();
        by_envelope.sort_unstable();
        Posted { operations, all, by_envelope }
    }

    /// The position of the receive of the message that a probe has found.
    fn receive(&self, probe: &Probe) -> Option<usize> {
        let at = match probe.found {
            Found::Claimed(order) | Found::Posted(order) => {
                let at = self.all.binary_search_by_key(&order, |&(posted, _)| posted).ok()?;
                self.all[at].1
            }
            Found::Message { communicator, source, tag, after } => {
                // Probes do not find partitioned messages.
                let is_its = |it: &Envelope| {
                    (it.communicator, it.rank, it.tag, it.partitioned) == (communicator, source, tag, 0)
                };
                let envelope = self.operations.sources.list().iter().position(is_its)?;
                let next =
                    self.by_envelope.partition_point(|&(of, posted, _)| (of, posted) <= (envelope, after));
                let &(of, _, at) = self.by_envelope.get(next)?;
                (of == envelope).then_some(at)?
            }
        };
        Some(at as usize)
    }
}

impl Matches {
    /// For each blocking probe, the position of the receive of the message that it has found, and the send. If the trace does not
    /// say which message that is, it was sent before the probe was left.
    pub fn probed(&self, operations: &Operations) -> Vec<Option<(usize, SendFacts)>> {
        if operations.probes.is_empty() {
            return Vec::new();
        }
        let posted = Posted::new(operations);
        let found = |probe: &Probe| {
            let at = posted.receive(probe)?;
            let send = self.sends.get(at)?;
            let is_sure = !matches!(probe.found, Found::Posted(_));
            let left = operations.call(probe.call).interval.leave;
            (is_sure || send.call.enter <= left).then_some((at, send))
        };
        operations.probes.iter().map(found).collect()
    }
}
