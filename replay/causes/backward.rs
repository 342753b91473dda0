//! Costs in the long term and the critical path: what goes backwards through time, from location to location
//! (specification 8.1 and 9).
//!
//! Waiting that was caused by waiting is charged to what caused the first of it. So a cause has to know what its waiting
//! costs in turn, and that is known once everything later is. Each location goes backwards until such a cost is missing;
//! [`relay`](crate::relay) carries costs between workers.

use model::Ticks;
use rustc_hash::FxHashSet;

use super::critical_path::{CriticalPath, Visit};
use super::delay::{Class, Costs};
use super::kept::Kept;
use super::lines::Lines;
use super::long_term::{self, Owed};
use super::points::Next;
use super::sides::{Cause, Causes, Waits};
use crate::exchange::Batch;
use crate::exchange::batch::{BatchReader, pair};
use crate::findings::{Finding, Findings};
use crate::fraction::{fixed, float};
use crate::journal::{Position, Spot};
use crate::relay::{self, Blocked, Recurrence};
use crate::tools::Tools;

/// What a location has to do at a position, in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A cause reaches no further back.
    End,
    /// A wait state learns what it costs.
    Wait,
    /// A cause needs to know what its waiting costs.
    Cause,
}

/// What to do with which wait or cause.
pub(super) type Item = (Kind, u32);

/// Marks a message about the critical path; others have a bit for each class that costs.
const PATH: u64 = 1 << 63;

/// A location on its way back.
#[derive(Clone, Debug)]
struct Way {
    /// What it has to do next, and the end of that.
    next: usize,
    end: usize,
    /// Costs by tick of waiting, by class, of all causes that reach the current position; in fixed point.
    weights: [i128; Class::COUNT],
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

/// What each location has to do, the latest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Items {
    /// One location after the other.
    pub(super) list: Vec<Item>,
    /// Where the items of each location begin, and the end of all.
    pub(super) firsts: Vec<usize>,
}

impl Items {
    fn new(lines: &Lines, waits: &Waits, causes: &Causes) -> Items {
        let mut items = Items::default();
        let mut keys = Vec::new();
        for line in 0..lines.len() {
            items.firsts.push(items.list.len());
            let points = lines.line(line).points();
            let (of_waits, causes_here) = (waits.of_line.of(line), causes.of_line.of(line));
            // Each kind comes in few runs, latest first, which the sort makes use of.
            for (place, &number) in of_waits.iter().enumerate().rev() {
                let wait = &waits.list[number as usize];
                if wait.costly > 0 {
                    keys.push(key(wait.delay.waiting.position, Kind::Wait, place));
                }
            }
            let of_causes = causes_here.iter().map(|&number| &causes.list[number as usize]).enumerate().rev();
            let of_causes = of_causes.filter(|(_, cause)| cause.denominator > 0.0);
            keys.extend(
                of_causes.clone().map(|(place, cause)| key(cause.delay.causing.position, Kind::Cause, place)),
            );
            keys.extend(of_causes.filter_map(|(place, cause)| {
                let last = cause.reach?.checked_sub(1)?;
                Some(key(points[last as usize].position, Kind::End, place))
            }));
            keys.sort();
            items.list.extend(keys.drain(..).map(|key| match key as u32 >> PLACE_BITS {
                0 => (Kind::End, causes_here[place(key)]),
                1 => (Kind::Wait, of_waits[place(key)]),
                _ => (Kind::Cause, causes_here[place(key)]),
            }));
        }
        items.firsts.push(items.list.len());
        items
    }
}

/// Bits for the place of a wait or cause among those of a location: memory is full before there are as many.
const PLACE_BITS: u32 = 30;

/// What items are sorted by: the latest first, then by kind, and the place of the wait or cause at its location.
fn key(position: Position, kind: Kind, place: usize) -> u64 {
    pair(!position, (kind as u32) << PLACE_BITS | place as u32)
}

/// The place in a [`key`].
fn place(key: u64) -> usize {
    (key as u32 & ((1 << PLACE_BITS) - 1)) as usize
}

/// What is known once all have come back.
#[derive(Debug)]
pub(super) struct Returned {
    /// Where the critical path has been.
    pub(super) path: CriticalPath,
    /// What is still to be charged.
    pub(super) owed: Vec<Owed>,
    /// What each location had to do.
    pub(super) items: Items,
    /// Causes that did not get their costs.
    pub(super) released: FxHashSet<u32>,
    /// What a tick of excess work costs, by cause: all classes together.
    pub(super) per_tick: Vec<f64>,
}

/// The locations of a worker on their way back.
pub(super) struct Backward<'a> {
    tools: &'a Tools<'a>,
    lines: &'a Lines,
    waits: &'a Waits,
    causes: &'a Causes,
    /// Where the critical path goes on from meetings of teams.
    meetings: &'a [Vec<Spot>],
    /// Meetings that it has come to.
    met: FxHashSet<u32>,
    /// Where the critical path ends, if that is here and nobody has gone back from there yet.
    last: Option<Spot>,
    worker: usize,
    items: Items,
    ways: Vec<Way>,
    path: CriticalPath,
    /// Locations that can go on.
    ready: Vec<usize>,
    /// What waiting costs, by cause, from when that has come until it is over.
    arrived: Kept<Costs>,
    /// What causes are still to be charged for.
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
        lines: &'a Lines,
        waits: &'a Waits,
        causes: &'a Causes,
        meetings: &'a [Vec<Spot>],
        worker: usize,
        findings: &'a mut Findings,
    ) -> Backward<'a> {
        let items = Items::new(lines, waits, causes);
        let way = |ends: &[usize]| Way { next: ends[0], end: ends[1], weights: [0; Class::COUNT] };
        let ways: Vec<Way> = items.firsts.windows(2).map(way).collect();
        let ready = (0..ways.len()).filter(|&at| ways[at].next < ways[at].end).collect();
        Backward {
            tools,
            waits,
            causes,
            meetings,
            met: FxHashSet::default(),
            last: None,
            worker,
            items,
            ways,
            path: CriticalPath::new(lines),
            ready,
            arrived: Kept::new(causes.list.len()),
            owed: Vec::new(),
            released: FxHashSet::default(),
            per_tick: vec![0.0; causes.list.len()],
            findings,
            lines,
        }
    }

    /// The critical path ends at this event of one of the locations.
    pub(super) fn begin_path(&mut self, last: Spot) {
        self.last = Some(last);
    }

    /// What a location has to do next.
    fn next(&self, at: usize) -> Option<Item> {
        let Way { next, end, .. } = self.ways[at];
        (next < end).then(|| self.items.list[next])
    }

    fn is_blocked(&self, cause: u32) -> bool {
        self.causes.list[cause as usize].awaits_costs()
            && self.arrived.get(cause).is_none()
            && !self.released.contains(&cause)
    }

    /// A cause begins to reach wait states.
    fn cause(&mut self, at: usize, number: u32) {
        let cause = &self.causes.list[number as usize];
        let costs = self.arrived.remove(number).map(|costs| cause.long_term(costs));
        self.per_tick[number as usize] = cause.scale;
        if let Some(costs) = costs {
            self.owed.extend(long_term::owed(number, &costs));
            self.per_tick[number as usize] += costs.iter().sum::<f64>();
            // It will end.
            if cause.reach.is_some_and(|first| first > 0) {
                self.arrived.insert(number, costs);
            }
        }
        if cause.reach.is_some() {
            self.weigh(at, cause, costs, i128::saturating_add);
        }
    }

    /// A cause reaches no further.
    fn end(&mut self, at: usize, number: u32) {
        let costs = self.arrived.remove(number);
        self.weigh(at, &self.causes.list[number as usize], costs, i128::saturating_sub);
    }

    /// What a tick of a cause costs becomes a part of what a tick of waiting costs, or is none any more.
    fn weigh(&mut self, at: usize, cause: &Cause, costs: Option<Costs>, change: impl Fn(i128, i128) -> i128) {
        let weights = &mut self.ways[at].weights;
        let own = cause.delay.class as usize;
        let Some(mut costs) = costs else {
            weights[own] = change(weights[own], fixed(cause.scale));
            return;
        };
        costs[own] += cause.scale;
        for (sum, cost) in weights.iter_mut().zip(costs) {
            if cost != 0.0 {
                *sum = change(*sum, fixed(cost));
            }
        }
    }

    /// A wait state tells its cause what it costs.
    fn wait(&mut self, at: usize, number: u32, tell: &mut impl FnMut(usize, Message)) {
        let ticks = self.waits.list[number as usize].costly as f64;
        let cost = |weight: i128| if weight == 0 { 0.0 } else { float(weight) * ticks };
        let costs = self.ways[at].weights.map(cost);
        let (worker, number) = self.waits.told(number);
        if worker == self.worker {
            self.arrive(worker, number, costs);
        } else {
            tell(worker, Message::Costs(number, costs));
        }
    }

    /// The costs of a delay have come from a worker.
    fn arrive(&mut self, worker: usize, number: u32, costs: Costs) {
        let cause = self.causes.firsts[worker] as u32 + number;
        if self.released.contains(&cause) {
            return;
        }
        self.arrived.insert(cause, costs);
        let at = self.lines.at(self.causes.list[cause as usize].delay.causing.location);
        if self.next(at).is_some_and(|item| item == (Kind::Cause, cause)) {
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
            let Visit { stop, is_again } = self.path.visit(self.lines, spot);
            if is_again {
                // Threads of a team may come to one point on several ways; others do not.
                if !self.tools.has_teams() {
                    let time =
                        stop.map_or(0, |stop| self.time_of_cause(Spot { position: stop.position, ..spot }));
                    self.findings.add(
                        Finding::CyclicWait,
                        time,
                        spot.location as usize,
                        || "the critical path comes to the same wait state again",
                    );
                }
                continue;
            }
            match stop.map(|stop| stop.next) {
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

    /// When that was caused for which an event waits; 0 if it does not wait.
    fn time_of_cause(&self, waiting: Spot) -> Ticks {
        let of_line = self.waits.of_line.of(self.lines.at(waiting.location)).iter();
        let delays = of_line.map(|&wait| &self.waits.list[wait as usize].delay);
        delays.filter(|delay| delay.waiting == waiting).map(|delay| delay.time).min().unwrap_or(0)
    }

    /// Once everything has come to its end.
    pub(super) fn finish(self) -> Returned {
        Returned {
            path: self.path,
            owed: self.owed,
            items: self.items,
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
        while let Some((kind, number)) = self.next(at) {
            match kind {
                Kind::Cause if self.is_blocked(number) => return true,
                Kind::Cause => self.cause(at, number),
                Kind::End => self.end(at, number),
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
        let cause = |at: usize| {
            let (_, number) = self.next(at)?;
            let delay = &self.causes.list[number as usize].delay;
            Some(Blocked { time: delay.time, spot: delay.causing })
        };
        (0..self.ways.len()).filter_map(cause).min()
    }

    /// Its causes wait for each other, so clocks are wrong.
    fn release(&mut self, blocked: Blocked) {
        let at = self.lines.at(blocked.spot.location);
        let Some((_, number)) = self.next(at) else { return };
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
