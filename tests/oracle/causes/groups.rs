//! Delays in collective operations (specification 9.3).

use std::collections::{BTreeMap, BTreeSet};

use replay::Semantics;

use crate::oracle::EventRef;
use crate::oracle::collectives::{CollectiveInstance, Partner};

use super::Causes;
use super::delays::{Delay, ratio, waiting};
use super::points::Point;
use super::time_map::{difference, sum};

/// Last synchronisation of the blamed member with all others, and later ones with some of them.
struct Past<'a> {
    base: Option<&'a Point>,
    /// By process.
    intermediate: BTreeMap<usize, &'a Point>,
}

impl Causes<'_> {
    /// The delays of all operations with a waiting and a blamed member.
    pub(super) fn of_groups(&self) -> Vec<Delay> {
        let has_costs = |meeting: &&CollectiveInstance| !matches!(meeting.class, "init" | "finalize");
        let collective_instances = self.analysis.collective_instances.iter().filter(has_costs);
        collective_instances.flat_map(|meeting| self.of_group(meeting)).collect()
    }

    fn of_group(&self, meeting: &CollectiveInstance) -> Vec<Delay> {
        let blamed = meeting.blamed;
        let past = self.group_previous(blamed, &meeting.members);
        let is_waiting = |partner: &&Partner| partner.wait > 0 && partner.place != blamed;
        let delay = |partner: &Partner| {
            let process = self.analysis.process(partner.place);
            let since = past.intermediate.get(&process).copied().or(past.base);
            let own = self.points.previous(partner.place, self.analysis.process(blamed));
            let excess = difference(&self.prune(since, blamed), &self.prune(own, partner.place));
            let waited = self.waited(since, blamed);
            Delay {
                class: meeting.class,
                waiting: Some(partner.place),
                causing: blamed,
                // Q14: not limited to 1.
                scale: ratio(partner.wait, sum(&excess) + waited),
                share: self.analysis.focus.share(partner.begin, partner.wait),
                excess,
                waited,
                reach: self.reach(&past, process, blamed),
            }
        };
        meeting.partners.iter().filter(is_waiting).map(delay).collect()
    }

    /// groupprev(e, comm, me). Members never met belong to the start of the trace.
    fn group_previous(&self, event: EventRef, members: &[usize]) -> Past<'_> {
        let me = self.analysis.process(event);
        let mut rest: BTreeSet<usize> = members.iter().copied().filter(|&process| process != me).collect();
        let is_pair = self.operations.gaps.len() == 2 && members.len() == 2;
        let mut past = Past { base: None, intermediate: BTreeMap::new() };
        for point in self.points.before(event) {
            if rest.is_empty() {
                return past;
            }
            // Q19: a point with a single rank does not count as one with all others.
            let is_one = is_pair && point.ranks.len() == 1 && self.analysis.semantics == Semantics::Reference;
            past.base = Some(point);
            if point.ranks.is_superset(&rest) && !is_one {
                return past;
            }
            for process in rest.intersection(&point.ranks) {
                past.intermediate.insert(*process, point);
            }
            rest.retain(|process| !point.ranks.contains(process));
        }
        if !rest.is_empty() {
            past.base = None;
        }
        past
    }

    /// Positions of the blamed member's points that propagate the waiting of a process (specification 9.3,
    /// step 5).
    fn reach(&self, past: &Past<'_>, process: usize, blamed: EventRef) -> Vec<usize> {
        let all = self.points.between(past.base, blamed);
        let Some(own) = past.intermediate.get(&process).map(|point| point.place.at) else {
            return waiting(all);
        };
        if self.analysis.semantics == Semantics::Corrected {
            return waiting(all.into_iter().filter(|point| point.place.at > own));
        }
        // Q15: only from the next intermediate point on, if there is one. Q19: none at all if it is the base.
        let is_base = past.base.is_some_and(|base| base.place.at == own);
        let later = past.intermediate.values().map(|point| point.place.at).filter(|&at| at > own);
        match later.min().filter(|_| !is_base) {
            Some(next) => waiting(all.into_iter().filter(|point| point.place.at >= next)),
            None => Vec::new(),
        }
    }
}
