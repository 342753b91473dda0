//! Last common synchronisation point of a location and a process before an event, from which a delay is
//! measured (specification 7.1).

use std::ops::Range;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::points::{Peers, SyncPoint};
use crate::communicators::Participants;
use crate::exchange::batch::{halves, pair};
use crate::ids::JournalPosition;
use crate::int::{to_u32, to_usize};
use crate::trace::Trace;
use crate::wire::Half;

/// A partner of synchronisation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Partner {
    /// A process, or a [location](super::points::own_location) of the same process.
    Process(u32),
    /// The threads of a team, by its number in the process.
    Team(u32),
    /// The threads of any team.
    AnyTeam,
}

/// A query for the last synchronisation with a partner before an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Query {
    /// Points strictly before this event count.
    pub(super) before: JournalPosition,
    /// The partner.
    pub(super) partner: Partner,
}

/// The points of a location between the last synchronisation with a partner and an event.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Past {
    /// Number of the first point in between; the one before it is that last synchronisation.
    first: u32,
    /// Number of points before the event. If the event is a point itself, this is its number.
    end: u32,
}

impl Past {
    /// The points after a point, or from the start of the trace, and before another point, or an event in its
    /// place.
    pub(super) fn new(after: Option<usize>, end: usize) -> Past {
        Past { first: after.map_or(0, |at| to_u32(at) + 1), end: to_u32(end) }
    }

    /// Number of the last common synchronisation point; `None` if there is none.
    pub(super) fn after(self) -> Option<usize> {
        self.first.checked_sub(1).map(|at| at as usize)
    }

    /// Numbers of the points in between.
    pub(super) fn points(self) -> Range<usize> {
        self.first as usize..self.end as usize
    }
}

/// Membership tests for the partners of points: members of communicators, built on demand, and single
/// processes.
#[derive(Debug)]
pub(super) struct Members<'a> {
    trace: &'a Trace,
    /// Lists of processes that points refer to.
    lists: &'a [Rc<[u32]>],
    known: FxHashMap<u32, FxHashSet<u32>>,
    /// By process, and behind these by [location](super::points::own_location) if there are streams: number of points examined,
    /// over all locations, up to the last one that synchronised with it alone.
    alone: Vec<u64>,
    /// Number of points of the locations examined before.
    looked_at: u64,
}

impl<'a> Members<'a> {
    /// An empty set of known members.
    pub(super) fn new(trace: &'a Trace, lists: &'a [Rc<[u32]>]) -> Members<'a> {
        let streams_and_threads = if trace.accelerators.is_some() { trace.locations.len() } else { 0 };
        let alone = vec![0; trace.processes.len() + streams_and_threads];
        Members { trace, lists, known: FxHashMap::default(), alone, looked_at: 0 }
    }

    /// The processes of a list that a point refers to.
    pub(super) fn list(&self, number: u32) -> &'a [u32] {
        &self.lists[number as usize]
    }

    fn has(&mut self, communicator: u32, process: u32) -> bool {
        let participants = self.trace.communicators.get(communicator as usize);
        let Some(processes) = participants.and_then(Participants::processes) else { return false };
        let members = self.known.entry(communicator).or_insert_with(|| processes.iter().copied().collect());
        members.contains(&process)
    }
}

/// Resolves all queries about a location: the past between the last point with the partner and the event.
pub(super) fn find(points: &[SyncPoint], queries: &[Query], members: &mut Members<'_>) -> Vec<Past> {
    let mut answers = vec![Past::default(); queries.len()];
    let mut order: Vec<u64> =
        (0..).zip(queries).map(|(at, query)| pair(query.before.to_half(), at)).collect();
    // The queries come in few rising runs, for which this sort is fast.
    order.sort();
    let looked_at = members.looked_at;
    members.looked_at += points.len() as u64;
    // Communicators whose members have all synchronised, the latest last.
    let mut with_all: Vec<(Option<u32>, usize)> = Vec::new();
    let mut with_team: FxHashMap<u32, usize> = FxHashMap::default();
    let mut with_any_team = None;
    let mut next = 0;
    for number in order {
        let query = halves(number).1 as usize;
        let Query { before, partner } = queries[query];
        while let Some(point) = points.get(next).filter(|point| point.position < before) {
            let mut all = |communicator| {
                with_all.retain(|known| known.0 != communicator);
                with_all.push((communicator, next));
            };
            let alone = looked_at + next as u64 + 1;
            match point.peers {
                Peers::One(peer) => members.alone[peer as usize] = alone,
                Peers::Several(list) => {
                    members.list(list).iter().for_each(|&peer| members.alone[peer as usize] = alone);
                }
                Peers::Communicator(communicator) => all(Some(communicator)),
                Peers::World => all(None),
                Peers::Nobody => {}
                Peers::Barrier { team } | Peers::Region { team, .. } => {
                    with_team.insert(team, next);
                    with_any_team = Some(next);
                }
            }
            next += 1;
        }
        let after = match partner {
            Partner::Team(team) => with_team.get(&team).copied(),
            Partner::AnyTeam => with_any_team,
            Partner::Process(process) => {
                let alone = members.alone[process as usize].checked_sub(looked_at + 1).map(to_usize);
                let later = with_all.iter().rev().take_while(|&&(_, at)| Some(at) > alone);
                let mut later = later.filter(|&&(communicator, _)| {
                    communicator.is_none_or(|communicator| members.has(communicator, process))
                });
                later.next().map(|&(_, at)| at).or(alone)
            }
        };
        answers[query] = Past::new(after, next);
    }
    answers
}
