//! Waiting for progress of messages: they have been sent, and the other process is outside of MPI (rest of MPI 6.5).

use std::cmp::Reverse;

use super::{EdgeWait, Finder};
use crate::causes::DelayClass;
use crate::details::instances::{BothSides, ENTERED, NO_NUMBER};
use crate::ids::PathId;
use crate::int::to_u32;
use crate::matching::Matches;
use crate::statistics::Instance;

impl Finder<'_> {
    /// Reports the waits.
    pub(super) fn stalls(&mut self, matches: &Matches) {
        for stall in &matches.stalls {
            let call = self.operations.call(stall.call);
            let Some(position) = self.operations.left(stall.call) else { continue };
            for (pattern, rule) in &self.metrics.at_stall {
                let ticks = rule(&stall.message);
                if ticks <= 0 {
                    continue;
                }
                let since = stall.message.since;
                let counted = self.report(pattern, stall.call, since, ticks);
                let instance = Instance {
                    duration: Reverse(counted),
                    process: to_u32(self.process.number),
                    enter: call.interval.enter,
                    exit: call.interval.leave,
                    path: PathId::NONE,
                    cause: stall.returned.place,
                };
                let both = BothSides {
                    waiting: call.site.place(),
                    call: call.interval,
                    begin: since,
                    ticks,
                    waits_at: position,
                    cause_call: stall.returned.call,
                    cause_time: stall.message.returned,
                    cause_at: stall.returned.spot.position,
                    communicator: stall.communicator,
                    tag: NO_NUMBER,
                    bytes: 0,
                    members: 0,
                    team: NO_NUMBER,
                    pattern: None,
                    entered: [NO_NUMBER; ENTERED],
                };
                self.offer(pattern.subject, stall.call, instance, || both);
                self.waiting.edges.push(EdgeWait {
                    class: DelayClass::Progress,
                    call: stall.call,
                    position,
                    begin: since,
                    ticks,
                    process: stall.process,
                    awaited: stall.returned,
                    communicator: stall.communicator,
                    base: None,
                });
            }
        }
    }
}
