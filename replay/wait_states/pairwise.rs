//! Waiting in blocking collective operations in which each member waits for a member of its own: among neighbours, and on
//! inter-communicators (rest of MPI 5.2, 7.2).

use std::cmp::Reverse;

use super::{EdgeWait, Finder};
use crate::causes::DelayClass;
use crate::details::instances::{BothSides, ENTERED, NO_NUMBER};
use crate::ids::{CallId, PathId};
use crate::int::to_u32;
use crate::matching::{Matches, Progression};
use crate::statistics::Instance;

impl Finder<'_> {
    /// Adds the calls whose partners are missing to `lost`.
    pub(super) fn lose_pairwise(&mut self, matches: &Matches, lost: &mut Vec<CallId>) {
        let unmatched = matches.pairwise.iter().filter(|(_, it)| *it == Progression::Unmatched);
        lost.extend(unmatched.map(|&(at, _)| self.operations.collectives[at as usize].call));
    }

    /// Reports the waits.
    pub(super) fn pairwise_waits(&mut self, matches: &Matches) {
        for &(at, progression) in &matches.pairwise {
            let Progression::Together { blamed: Some((process, blamed)), .. } = progression else { continue };
            let collective = &self.operations.collectives[at as usize];
            let Some(member) = progression.member(collective) else { continue };
            let (begin, end) = (collective.begin, collective.end);
            let call = self.operations.call(collective.call);
            for (pattern, rule) in self.metrics.at_collective(member.class) {
                let ticks = rule(&member);
                if ticks <= 0 {
                    continue;
                }
                let counted = self.report(pattern, collective.call, begin, ticks);
                let instance = Instance {
                    duration: Reverse(counted),
                    process: to_u32(self.process.number),
                    enter: begin,
                    exit: end,
                    path: PathId::NONE,
                    cause: blamed.place,
                };
                let both = BothSides {
                    waiting: call.site.place(),
                    call: call.interval,
                    begin,
                    ticks,
                    waits_at: collective.position,
                    cause_call: blamed.call,
                    cause_time: begin + ticks,
                    cause_at: blamed.spot.position,
                    communicator: collective.communicator,
                    tag: NO_NUMBER,
                    bytes: collective.sent.saturating_add(collective.received),
                    members: 0,
                    team: NO_NUMBER,
                    pattern: None,
                    entered: [NO_NUMBER; ENTERED],
                };
                self.offer(pattern.subject, collective.call, instance, || both);
            }
            if let Some(class) = DelayClass::of(member.class)
                && member.waiting() > 0
                && call.site.is_mpi
            {
                self.waiting.edges.push(EdgeWait {
                    class,
                    call: collective.call,
                    position: collective.position,
                    begin,
                    ticks: member.waiting(),
                    process,
                    awaited: blamed,
                    communicator: collective.communicator,
                    base: None,
                });
            }
        }
    }
}
