//! Polling: time in tests and probes that find nothing, and the part of it before what they ask for can be there (rest of MPI
//! 6.3). It is no waiting: the program could have done something else.

use model::Ticks;
use rustc_hash::FxHashMap;

use super::Finder;
use crate::matching::{Matches, Progression};
use crate::metrics::Metrics;
use crate::operations::Asked;
use crate::severity::MetricId;

impl Finder<'_> {
    /// Adds the time of all polls.
    pub(super) fn polling(&mut self, matches: &Matches) {
        let operations = self.operations;
        if operations.polls.is_empty() {
            return;
        }
        let Metrics { polling, polling_late_sender, polling_collective, .. } = *self.metrics;
        let receives = (0_usize..).zip(&operations.receives);
        let posted: FxHashMap<u32, usize> = receives.map(|(at, receive)| (receive.posted, at)).collect();
        let until = |asked: &Asked| -> Option<(Ticks, MetricId)> {
            match *asked {
                Asked::Receive(order) => {
                    let send = matches.sends.get(*posted.get(&order)?)?;
                    Some((send.call.enter, polling_late_sender))
                }
                Asked::Collective(position) => match matches.nonblocking[position as usize] {
                    Progression::Together { last_request: Some(last), .. } => {
                        Some((last, polling_collective))
                    }
                    _ => None,
                },
                Asked::Unknown => None,
            }
        };
        for (poll, asked) in operations.polls.iter() {
            let call = operations.call(poll.call).interval;
            self.add_ticks(poll.call, polling, call.enter, call.length());
            // What is not known may be there from the begin on.
            let times = asked.iter().map(until);
            let time = |until: &Option<(Ticks, MetricId)>| until.map_or(Ticks::MIN, |(time, _)| time);
            let awaited = match poll.is_any {
                true => times.min_by_key(time),
                // The first of equals.
                false => times.rev().max_by_key(time),
            };
            if let Some((until, metric)) = awaited.flatten() {
                let ticks = (until.min(call.leave) - call.enter).max(0);
                self.add_ticks(poll.call, metric, call.enter, ticks);
            }
        }
    }
}
