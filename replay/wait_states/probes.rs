//! Late senders of messages that blocking probes have waited for (rest of MPI 6.2). The receive of such a message has not
//! waited any more.

use patterns::matched::{Completion, Interval, ReceivedMessage};

use super::{Finder, LateSide};
use crate::coverage::Fate;
use crate::int::to_u32;
use crate::matching::Matches;
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
            Found::Posted(order) => {
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

impl Finder<'_> {
    /// Finds late senders of what probes have found. The time of other probes is not analysed.
    pub(super) fn probes(&mut self, matches: &Matches) {
        let operations = self.operations;
        if operations.probes.is_empty() {
            return;
        }
        let posted = Posted::new(operations);
        for (number, probe) in operations.probes.iter().enumerate() {
            let call = operations.call(probe.call);
            let receive = posted.receive(probe);
            let found = receive.and_then(|at| Some((at, matches.sends.get(at)?)));
            let is_sure = matches!(probe.found, Found::Message { .. });
            let found = found.filter(|(_, send)| is_sure || send.call.enter <= call.interval.leave);
            let Some((at, send)) = found else {
                if call.is_analysed {
                    self.results.coverage.lose(Fate::Probe, call.interval.length());
                }
                continue;
            };
            let message = ReceivedMessage {
                sent: send.time,
                send: send.call,
                receive: call.interval,
                completion: Completion::Other,
                source: operations.source(&operations.receives[at]).rank,
                bytes: send.bytes,
            };
            for (pattern, rule) in &self.metrics.at_late_message {
                let idle = rule(&message);
                if idle <= 0 {
                    continue;
                }
                let interval = Interval::new(call.interval.enter, call.interval.leave);
                let late = LateSide::Probed(probe.position, at, &send);
                self.report_message(pattern, probe.call, idle, interval, late);
                if pattern.is_outermost_waiting {
                    self.waiting.probes.push((to_u32(number), to_u32(at), idle));
                }
            }
        }
    }
}
