//! Late senders of messages that blocking probes have waited for (rest of MPI 6.2). The receive of such a message has not
//! waited any more.

use patterns::matched::{Completion, Interval, ReceivedMessage};

use super::Finder;
use super::messages::LateSide;
use crate::coverage::Fate;
use crate::int::to_u32;
use crate::matching::Matches;

impl Finder<'_> {
    /// Finds late senders of what probes have found. The time of other probes is not analysed.
    pub(super) fn probes(&mut self, matches: &Matches) {
        let operations = self.operations;
        for (number, found) in matches.probed(operations).into_iter().enumerate() {
            let probe = &operations.probes[number];
            let call = operations.call(probe.call);
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
