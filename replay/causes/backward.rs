//! Costs in the long term and the critical path: what goes backwards through time, from location to location
//! (specification 8.1 and 9).
//!
//! Waiting that was caused by waiting is charged to what caused the first of it. So a cause has to know what its waiting
//! costs in turn, and that is known once everything later is. Each location goes backwards until such a cost is missing;
//! [`relay`](crate::relay) carries costs between workers.

use std::cmp::Reverse;

use model::Ticks;
use rustc_hash::{FxHashMap, FxHashSet};

use super::delay::{Class, Costs};
use super::lines::Lines;
use super::long_term::{self, Owed};
use super::points::Next;
use super::sides::{Causes, Wait};
use crate::exchange::Batch;
use crate::exchange::batch::BatchReader;
use crate::findings::{Finding, Findings};
use crate::fraction::{fixed, float};
use crate::journal::{Position, Spot};
use crate::relay::{self, Blocked, Recurrence};
use crate::tools::Tools;

/// What a location has to do at a position, in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Kind {
    /// A cause reaches no further back.
    End,
    /// A wait state learns what it costs.
    Wait,
    /// A cause needs to know what its waiting costs.
    Cause,
}

/// What to do, at a position, with which wait or cause. Latest first.
pub(super) type Item = (Reverse<Position>, Kind, u32);

/// Marks a message about the critical path; others have a bit for each class that costs.
const PATH: u64 = 1 << 63;

/// A location on its way back.
#[derive(Clone, Debug, Default)]
struct Way {
    items: Vec<Item>,
    next: usize,
    /// Costs by tick of waiting, by class, of all causes that reach the current position; in fixed point.
    weights: [i128; Class::COUNT],
    /// Numbers of the points at which the critical path leaves, or begins.
    stops: Vec<usize>,
    /// Which of these it has come to, and the last event that it came from.
    visited: FxHashMap<Option<usize>, Position>,
}

/// What a worker tells another one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Message {
    /// What a delay's waiting costs, by class; forwards, which shares of it the culprits have. By its number among the delays
    /// told.
    Costs(u32, Costs),
    /// The critical path goes on before this event.
    Path(Spot),
}

/// What is known once all have come back.
#[derive(Debug)]
pub(super) struct Returned {
    /// The exclusive ticks on the critical path, by location and row.
    pub(super) path: Vec<Vec<Ticks>>,
    /// What is still to be charged.
    pub(super) owed: Vec<Owed>,
    /// What each location had to do, the latest first.
    pub(super) items: Vec<Vec<Item>>,
    /// Causes that did not get their costs.
    pub(super) released: FxHashSet<u32>,
    /// What a tick of excess work costs, by cause: all classes together.
    pub(super) per_tick: Vec<f64>,
}

/// The locations of a worker on their way back.
pub(super) struct Backward<'a> {
    tools: &'a Tools<'a>,
    lines: &'a mut Lines,
    waits: &'a [Wait],
    causes: &'a Causes,
    /// Where the critical path goes on from meetings of teams.
    meetings: &'a [Vec<Spot>],
    /// Meetings that it has come to.
    met: FxHashSet<u32>,
    /// Where the critical path ends, if that is here and nobody has gone back from there yet.
    last: Option<Spot>,
    worker: usize,
    ways: Vec<Way>,
    /// Locations that can go on.
    ready: Vec<usize>,
    /// Costs that have come, by cause, until it is over.
    arrived: FxHashMap<u32, Costs>,
    /// Costs whose excess work was too much to keep.
    owed: Vec<Owed>,
    /// Causes that did not get their costs.
    released: FxHashSet<u32>,
    /// What a tick of excess work costs, by cause.
    per_tick: Vec<f64>,
    findings: &'a mut Findings,
}

impl std::fmt::Debug for Backward<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} locations on their way back", self.ways.len())
    }
}

impl<'a> Backward<'a> {
    /// All locations at their end.
    pub(super) fn new(
        tools: &'a Tools<'a>,
        lines: &'a mut Lines,
        waits: &'a [Wait],
        causes: &'a Causes,
        meetings: &'a [Vec<Spot>],
        worker: usize,
        findings: &'a mut Findings,
    ) -> Backward<'a> {
        let mut ways = vec![Way::default(); lines.len()];
        // Mostly in their order already, latest first.
        for (at, wait) in waits.iter().enumerate().rev().filter(|(_, wait)| wait.has_costs) {
            let Spot { location, position } = wait.delay.waiting;
            ways[lines.at(location)].items.push((Reverse(position), Kind::Wait, at as u32));
        }
        for (at, cause) in causes.list.iter().enumerate().rev().filter(|(_, cause)| cause.denominator > 0.0) {
            let Spot { location, position } = cause.delay.causing;
            let items = &mut ways[lines.at(location)].items;
            items.push((Reverse(position), Kind::Cause, at as u32));
            if let Some(last) = cause.reach.and_then(|first| first.checked_sub(1)) {
                let end = lines.line(lines.at(location)).points()[last].position;
                items.push((Reverse(end), Kind::End, at as u32));
            }
        }
        for (at, way) in ways.iter_mut().enumerate() {
            way.items.sort();
            let points = lines.line(at).points().iter().enumerate();
            way.stops = points.filter(|(_, point)| point.is_stop()).map(|(at, _)| at).collect();
        }
        let ready = (0..ways.len()).filter(|&at| !ways[at].items.is_empty()).collect();
        Backward {
            tools,
            lines,
            waits,
            causes,
            meetings,
            met: FxHashSet::default(),
            last: None,
            worker,
            ways,
            ready,
            arrived: FxHashMap::default(),
            owed: Vec::new(),
            released: FxHashSet::default(),
            per_tick: vec![0.0; causes.list.len()],
            findings,
        }
    }

    /// The critical path ends at this event of one of the locations.
    pub(super) fn begin_path(&mut self, last: Spot) {
        self.last = Some(last);
    }

    fn is_blocked(&self, cause: u32) -> bool {
        self.causes.list[cause as usize].awaits_costs
            && !self.arrived.contains_key(&cause)
            && !self.released.contains(&cause)
    }

    /// A cause begins to reach wait states, or ends.
    fn cause(&mut self, at: usize, number: u32, begins: bool) {
        let cause = &self.causes.list[number as usize];
        let costs = match begins {
            true => self.arrived.get(&number).copied(),
            false => self.arrived.remove(&number),
        };
        let own = costs.map(|costs| cause.long_term(costs));
        if let Some(own) = own.filter(|_| begins) {
            match &cause.shares {
                Some(shares) => {
                    let excess = &self.causes.shares[shares.clone()];
                    long_term::charge(self.tools.metrics, self.lines, at, &own, excess);
                }
                None => self.owed.push(Owed { cause: number, costs: own }),
            }
        }
        let mut weights = own.unwrap_or_default();
        if begins {
            self.per_tick[number as usize] = cause.scale + weights.iter().sum::<f64>();
        }
        if cause.reach.is_none() {
            return;
        }
        weights[cause.delay.class as usize] += cause.scale;
        for (sum, weight) in self.ways[at].weights.iter_mut().zip(weights) {
            if weight != 0.0 {
                let weight = fixed(weight);
                *sum = if begins { sum.saturating_add(weight) } else { sum.saturating_sub(weight) };
            }
        }
    }

    /// A wait state tells its cause what it costs.
    fn wait(&mut self, at: usize, number: u32, tell: &mut impl FnMut(usize, Message)) {
        let wait = &self.waits[number as usize];
        let point = self.lines.line(at).point_behind(wait.past, wait.delay.waiting.position);
        let waited = point.map_or(0, |point| point.wait);
        let costs = self.ways[at].weights.map(|weight| float(weight) * waited as f64);
        if wait.worker == self.worker {
            self.arrive(self.worker, wait.number, costs);
        } else {
            tell(wait.worker, Message::Costs(wait.number, costs));
        }
    }

    /// The costs of a delay have come from a worker.
    fn arrive(&mut self, worker: usize, number: u32, costs: Costs) {
        let cause = self.causes.firsts[worker] as u32 + number;
        if self.released.contains(&cause) {
            return;
        }
        self.arrived.insert(cause, costs);
        let location = self.causes.list[cause as usize].delay.causing.location;
        let at = self.lines.at(location);
        let way = &self.ways[at];
        if way.items.get(way.next).is_some_and(|item| (item.1, item.2) == (Kind::Cause, cause)) {
            self.ready.push(at);
        }
    }

    /// The critical path goes backwards from an event, as long as it stays with this worker's locations. In a team it may
    /// be at several threads at once (Q12).
    fn follow(&mut self, spot: Spot, tell: &mut impl FnMut(usize, Message)) {
        let mut spots = vec![spot];
        while let Some(spot) = spots.pop() {
            let worker = self.tools.owner_of(spot.location);
            if worker != self.worker {
                tell(worker, Message::Path(spot));
                continue;
            }
            let at = self.lines.at(spot.location);
            let line = self.lines.line(at);
            let way = &mut self.ways[at];
            let stop = way.stops.partition_point(|&stop| line.points()[stop].position < spot.position);
            let stop = stop.checked_sub(1).map(|stop| way.stops[stop]);
            let point = stop.map(|stop| &line.points()[stop]);
            let (since, next) = (point.map(|point| point.position), point.map(|point| point.next));
            let before = way.visited.get(&stop).copied();
            way.visited.insert(stop, before.map_or(spot.position, |before| before.max(spot.position)));
            if before.is_some() {
                // Threads of a team may come to one point on several ways; others do not.
                if !self.tools.has_teams() {
                    let waiting = since.map(|position| Spot { location: spot.location, position });
                    let wait = self.waits.iter().find(|wait| Some(wait.delay.waiting) == waiting);
                    let time = wait.map_or(0, |wait| wait.delay.time);
                    self.findings.add(
                        Finding::CyclicWait,
                        time,
                        spot.location as usize,
                        || "the critical path comes to the same wait state again",
                    );
                }
                continue;
            }
            match next {
                None | Some(Next::Start | Next::Through) => {}
                Some(Next::Blamed(blamed)) => spots.push(blamed),
                Some(Next::Team(meeting)) => {
                    if self.met.insert(meeting) {
                        spots.extend(&self.meetings[meeting as usize]);
                    }
                }
            }
        }
    }

    /// Once everything has come to its end. What lies between two events is on the critical path once, whatever ways led
    /// there, and in whatever order.
    pub(super) fn finish(self) -> Returned {
        let mut paths = vec![Vec::new(); self.ways.len()];
        let mut work = Vec::new();
        for (at, (way, path)) in self.ways.iter().zip(&mut paths).enumerate() {
            for (&stop, &end) in &way.visited {
                self.lines.work(at, stop, end, &mut work);
                let line = self.lines.line(at);
                let point = stop.map(|stop| &line.points()[stop]);
                let waited = point.map(|point| (line.row(point.position), point.wait));
                for &(row, ticks) in &work {
                    let waited = waited.filter(|waited| waited.0 == row).map_or(0, |it| it.1.clamp(0, ticks));
                    if row as usize >= path.len() {
                        path.resize(row as usize + 1, 0);
                    }
                    let sum: &mut Ticks = &mut path[row as usize];
                    *sum = (ticks - waited).saturating_add(*sum);
                }
            }
        }
        Returned {
            path: paths,
            owed: self.owed,
            items: self.ways.into_iter().map(|way| way.items).collect(),
            released: self.released,
            per_tick: self.per_tick,
        }
    }
}

impl Recurrence for Backward<'_> {
    type Message = Message;

    fn step(&mut self, tell: &mut impl FnMut(usize, Message)) -> bool {
        if let Some(last) = self.last.take() {
            self.follow(last, tell);
        }
        let Some(at) = self.ready.pop() else { return false };
        while let Some(&(_, kind, number)) = self.ways[at].items.get(self.ways[at].next) {
            match kind {
                Kind::Cause if self.is_blocked(number) => return true,
                Kind::Cause => self.cause(at, number, true),
                Kind::End => self.cause(at, number, false),
                Kind::Wait => self.wait(at, number, tell),
            }
            self.ways[at].next += 1;
        }
        true
    }

    fn hear(&mut self, from: usize, message: Message, tell: &mut impl FnMut(usize, Message)) {
        match message {
            Message::Costs(number, costs) => self.arrive(from, number, costs),
            Message::Path(spot) => self.follow(spot, tell),
        }
    }

    /// The cause that would have to go on first, of those whose costs are missing.
    fn blocked(&self) -> Option<Blocked> {
        let cause = |way: &Way| {
            let &(_, _, number) = way.items.get(way.next)?;
            let delay = &self.causes.list[number as usize].delay;
            Some(Blocked { time: delay.time, spot: delay.causing })
        };
        self.ways.iter().filter_map(cause).min()
    }

    /// Its causes wait for each other, so clocks are wrong.
    fn release(&mut self, blocked: Blocked) {
        let at = self.lines.at(blocked.spot.location);
        let &(_, _, number) = &self.ways[at].items[self.ways[at].next];
        self.findings.add(
            Finding::CyclicWait,
            blocked.time,
            blocked.spot.location as usize,
            || "what waiting costs depends on itself",
        );
        self.released.insert(number);
        self.ready.push(at);
    }
}

impl relay::Message for Message {
    fn encode(self, batch: &mut Batch) {
        match self {
            Message::Path(spot) => batch.extend([PATH, spot.encode()]),
            Message::Costs(number, costs) => {
                let head = batch.len();
                batch.push(u64::from(number) << 8);
                for (class, cost) in costs.iter().enumerate().filter(|(_, cost)| **cost != 0.0) {
                    batch[head] |= 1 << class;
                    batch.push(cost.to_bits());
                }
            }
        }
    }

    fn decode(reader: &mut BatchReader<'_>) -> Message {
        let head = reader.word();
        if head == PATH {
            return Message::Path(Spot::decode(reader.word()));
        }
        let mut costs: Costs = [0.0; Class::COUNT];
        for (class, cost) in costs.iter_mut().enumerate() {
            if head >> class & 1 == 1 {
                *cost = f64::from_bits(reader.word());
            }
        }
        Message::Costs((head >> 8) as u32, costs)
    }
}
