//! Chains of waiting: what the cause of a severe wait has waited for itself, and so on.
//!
//! The next wait of a chain is one of the cause's location, between the last point at which it synchronised with the one
//! that waits, from which delays are measured (specification 7.1), and the causing event: the longest, of equals the latest.
//! Chains go from worker to worker, all together: one exchange for each hop.

use std::rc::Rc;

use model::Ticks;
use rustc_hash::FxHashMap;

use super::delay::DelayClass;
use super::event_times::EventTimes;
use super::lines::Lines;
use super::previous::{self, Members, Partner, Past, Query};
use super::sides::Waits;
use crate::details::instances::{NO_NUMBER, SelectedWait};
use crate::error::Error;
use crate::exchange::{Batch, Exchange};
use crate::ids::ReportPath;
use crate::int::to_u32;
use crate::journal::{JournalSpot, Spot};
use crate::tools::Tools;
use crate::wire::{self, Wire, wire};

/// Waits of a chain, at most.
const MOST: usize = 16;

/// A wait of a chain lasts at least this fraction of the first one.
const LEAST: Ticks = 10;

/// A wait of a chain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hop {
    /// The location that waits, and its call path of the report.
    pub location: u32,
    /// That call path; in the first hop unknown.
    pub path: ReportPath,
    /// Since when it waits.
    pub begin: Ticks,
    /// How long.
    pub ticks: Ticks,
    /// The location of the cause, and its call path of the report.
    pub cause_location: u32,
    /// That call path; in the first hop unknown without root causes.
    pub cause_path: ReportPath,
    /// When the cause was there.
    pub cause_time: Ticks,
}

wire!(Hop { [location, path], begin, ticks, [cause_location, cause_path], cause_time });

/// A chain so far.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Chain {
    /// Position of the wait among those that are asked about.
    pub(super) wait: usize,
    /// The waits, at least the first one.
    pub(super) hops: Vec<Hop>,
    /// The events that wait.
    seen: Vec<JournalSpot>,
    /// The event that the last one waits for; `None` at the end of the chain.
    causing: Option<JournalSpot>,
    /// The team, if the last one waits in a barrier of threads, or [`NO_NUMBER`].
    team: u32,
}

wire!(Chain { wait, hops, seen, causing, team });

impl Chain {
    /// The chain that begins with a severe wait.
    fn new(number: usize, wait: &SelectedWait) -> Chain {
        let both = &wait.both;
        let cause = wait.instance.cause.location;
        let hop = Hop {
            location: both.waiting.location,
            path: ReportPath::NONE,
            begin: both.begin,
            ticks: both.ticks,
            cause_location: cause,
            cause_path: ReportPath::NONE,
            cause_time: both.cause_time,
        };
        let waiting = Spot { location: both.waiting.location, position: both.waits_at.in_journal() };
        let causing = Spot { location: cause, position: both.cause_at.in_journal() };
        let has_events = !waiting.position.is_none() && !causing.position.is_none();
        Chain {
            wait: number,
            hops: vec![hop],
            seen: vec![waiting],
            causing: has_events.then_some(causing),
            team: both.team,
        }
    }

    /// The event that the last one waits for, if the chain goes on with it.
    pub(super) fn next(&self) -> Option<JournalSpot> {
        self.causing
    }

    /// The one with which the cause has synchronised last.
    fn partner(&self, tools: &Tools<'_>) -> Partner {
        match self.team {
            NO_NUMBER => Partner::Process(to_u32(tools.process_of(self.hops[self.hops.len() - 1].location))),
            team => Partner::Team(team),
        }
    }

    /// Adds the wait before the causing event to which the chain has come, or ends the chain.
    fn go_on(&mut self, lines: &Lines, waits: &Waits, times: &EventTimes, past: Past, causing: JournalSpot) {
        let line = lines.at(causing.location);
        let (first, last) = (self.hops[0], self.hops.len() - 1);
        self.hops[last].cause_path = lines.path_at(causing);
        self.causing = None;
        if self.hops.len() == MOST {
            return;
        }
        let points = lines.line(line).points()[past.points()].iter().filter(|point| point.wait > 0);
        let Some(longest) = points.max_by_key(|point| point.wait) else { return };
        let waiting = Spot { location: causing.location, position: longest.position };
        if longest.wait.saturating_mul(LEAST) < first.ticks || self.seen.contains(&waiting) {
            return;
        }
        let Some(delay) = waits.at(line, longest.position).next() else { return };
        self.hops.push(Hop {
            location: causing.location,
            path: lines.path_at(waiting),
            begin: times.begin(delay),
            ticks: longest.wait,
            cause_location: delay.causing.location,
            cause_path: ReportPath::NONE,
            cause_time: delay.time,
        });
        self.seen.push(waiting);
        self.causing = Some(delay.causing).filter(|causing| !causing.position.is_none());
        self.team = if delay.class == DelayClass::ThreadBarrier { delay.scope } else { NO_NUMBER };
    }
}

/// Follows the chains of severe waits. Returns those that have ended at this worker.
///
/// # Errors
/// If a worker failed.
pub(super) fn follow(
    tools: &Tools<'_>,
    asked: &[SelectedWait],
    (lines, waits, times): (&Lines, &Waits, &EventTimes),
    lists: &[Rc<[u32]>],
    exchange: &mut dyn Exchange,
) -> Result<Vec<Chain>, Error> {
    let me = exchange.worker();
    let mut members = Members::new(tools.trace, lists);
    let all = asked.iter().enumerate().map(|(number, wait)| Chain::new(number, wait));
    // Where a chain begins everybody knows, so that needs no exchange.
    let (mut here, mut ended): (Vec<Chain>, Vec<Chain>) = all
        .filter(|chain| tools.owner_of(chain.hops[0].cause_location) == me)
        .partition(|chain| chain.next().is_some());
    for hop in 1..=MOST {
        let mut by_line: FxHashMap<usize, Vec<(Chain, JournalSpot)>> = FxHashMap::default();
        for chain in here {
            match chain.next() {
                Some(causing) => {
                    by_line.entry(lines.at(causing.location)).or_default().push((chain, causing))
                }
                None => ended.push(chain),
            }
        }
        let mut outgoing = vec![Batch::new(); exchange.workers()];
        for (line, chains) in by_line {
            let query = |(chain, causing): &(Chain, JournalSpot)| Query {
                before: causing.position,
                partner: chain.partner(tools),
            };
            let queries: Vec<Query> = chains.iter().map(query).collect();
            let pasts = previous::find(lines.line(line).points(), &queries, &mut members);
            for ((mut chain, causing), past) in chains.into_iter().zip(pasts) {
                chain.go_on(lines, waits, times, past, causing);
                match chain.next() {
                    Some(next) => chain.put(&mut outgoing[tools.owner_of(next.location)]),
                    None => ended.push(chain),
                }
            }
        }
        if hop == MOST {
            break;
        }
        here = exchange.exchange(outgoing)?.iter().flat_map(|batch| wire::all::<Chain>(batch)).collect();
    }
    Ok(ended)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::JournalPosition;

    #[test]
    fn chains_survive_the_way_to_another_worker() {
        let hop = |location| Hop {
            location,
            path: ReportPath::new(4),
            begin: -3,
            ticks: 9,
            cause_location: 7,
            cause_path: ReportPath::NONE,
            cause_time: 6,
        };
        let spot = |position| Spot { location: 2, position: JournalPosition::new(position) };
        let chain = Chain {
            wait: 8,
            hops: vec![hop(1), hop(2)],
            seen: vec![spot(5), spot(6)],
            causing: Some(spot(9)),
            team: NO_NUMBER,
        };
        let ended = Chain { causing: None, team: 3, ..chain.clone() };
        let batch = wire::batch_of([&chain, &ended]);
        assert_eq!(wire::all::<Chain>(&batch).collect::<Vec<_>>(), [chain, ended]);
    }
}
