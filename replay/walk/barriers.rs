//! Barriers of threads: matching of the visits to each barrier, and the last arrival (specification 11.2).
//!
//! All threads of a team go through the same barriers in the same order: the k-th visit of each member is to
//! the k-th barrier. The members are known when the team is joined.

use std::cmp::Reverse;

use patterns::matched::{BarrierClass, Interval};
use rustc_hash::FxHashMap;

use super::process::ProcessWalk;
use super::stack::{Frame, NONE};
use crate::findings::Finding;
use crate::ids::EventNumber;
use crate::int::to_u32;
use crate::operations::Barrier;

/// The barriers of a team so far.
#[derive(Clone, Debug, Default)]
pub(super) struct TeamBarriers {
    /// For each thread that has begun in the team, the number of its visits.
    visits: FxHashMap<usize, u32>,
    /// Number of the barrier in the team, and position of the visit in the operations.
    of_team: Vec<(u32, u32)>,
}

impl TeamBarriers {
    /// Adds a member.
    pub(super) fn begin(&mut self, thread: usize) {
        self.visits.entry(thread).or_default();
    }

    /// Whether a thread has begun in the team.
    pub(super) fn has(&self, thread: usize) -> bool {
        self.visits.contains_key(&thread)
    }

    fn visit(&mut self, thread: usize, position: u32) {
        let number = self.visits.entry(thread).or_default();
        self.of_team.push((*number, position));
        *number += 1;
    }
}

impl ProcessWalk<'_> {
    /// Adds a thread's visit to a barrier; returns its position in the operations. Outside of teams nothing
    /// waits.
    pub(super) fn enter_barrier(&mut self, thread: usize, frame: &Frame, class: BarrierClass) -> u32 {
        let position = to_u32(self.operations.barriers.len());
        let Some((team, barriers)) = self.barriers(thread) else { return NONE };
        barriers.visit(thread, position);
        self.operations.barriers.push(Barrier {
            team,
            location: self.threads[thread].location,
            row: frame.row,
            region: frame.region,
            class,
            visit: Interval::new(frame.enter, frame.enter),
            tasks: 0,
            entered: frame.entered,
            position: EventNumber::NONE,
            last: None,
        });
        position
    }

    /// Finds the last arrival at each barrier of a team. If a member is missing, it is unknown.
    pub(super) fn match_barriers(&mut self, mut team: TeamBarriers) {
        let is_absent = |thread: &usize| self.threads[*thread].is_lost && !team.visits.contains_key(thread);
        let members = team.visits.len() + (0..self.threads.len()).filter(is_absent).count();
        team.of_team.sort_unstable();
        for visits in team.of_team.chunk_by(|a, b| a.0 == b.0) {
            let visit = |&(_, position): &(u32, u32)| &self.operations.barriers[position as usize];
            let region = visit(&visits[0]).region;
            if visits.len() != members || visits.iter().any(|it| visit(it).region != region) {
                let first = visits.iter().map(visit).min_by_key(|it| (it.visit.enter, it.location));
                let (time, location) = first.map_or((0, 0), |it| (it.visit.enter, it.location));
                let (trace, came) = (self.trace, visits.len());
                self.findings.add(Finding::IncompleteBarrier, time, location as usize, || {
                    format!("{} with {came} of {members} threads", trace.region_name(region))
                });
                continue;
            }
            // The lowest thread of several at once.
            let lateness = |it: &&(u32, u32)| (visit(it).visit.enter, Reverse(visit(it).location));
            let last = visits.iter().max_by_key(lateness).map(|&(_, position)| position);
            for &(_, position) in visits {
                self.operations.barriers[position as usize].last = last;
            }
        }
    }
}
