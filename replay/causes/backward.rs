//! Backward replay: long-term costs and the critical path, from location to location (specification 8.1 and
//! 9).
//!
//! Waiting that was caused by waiting is charged to the first cause. So a cause needs the costs of its
//! waiting, and these are known once everything later is. Each location goes backwards until such a cost is
//! missing. [`solvers`](crate::solvers) gathers the necessary data of the locations; if that is more than one
//! worker can hold, [`relay`](crate::relay) carries costs between workers.

use model::Ticks;
use rustc_hash::FxHashSet;

use super::critical_path::{CriticalPath, Stretch};
use super::delay::{Costs, DelayClass};
use super::graph::{CauseNode, Extent, Graph, Item, NodeId, NodeKind, Numbers};
use super::kept::Kept;
use super::lines::Lines;
use super::points::Next;
use super::sides::Waits;
use crate::error::Error;
use crate::exchange::batch::BatchReader;
use crate::exchange::{Batch, Exchange};
use crate::findings::{Finding, Findings};
use crate::fraction::{fixed, float};
use crate::ids::JournalPosition;
use crate::int::low;
use crate::journal::{JournalSpot, Spot};
use crate::relay::{Blocked, Recurrence};
use crate::solvers::Group;
use crate::tools::Tools;
use crate::wire::{self, Halves, Wire};

/// Marks a message about the critical path; others start with a worker.
const PATH: u64 = 1 << 63;

/// State of a location in the backward replay.
#[derive(Clone, Debug)]
struct LocationState {
    /// Index of its graph.
    graph: usize,
    /// Range of its remaining items.
    next: usize,
    end: usize,
    /// Costs per tick of waiting, by class, of all causes that reach the current position; in fixed point.
    weights: [i128; DelayClass::COUNT],
}

/// Message between workers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Message {
    /// Costs of a cause's waiting, by class; in the forward direction, the culprits' shares of a wait.
    Costs(NodeId, Costs),
    /// The critical path continues before this event.
    Path(JournalSpot),
}

/// Results for the owner of the locations.
#[derive(Debug, Default)]
pub(super) struct Returned {
    /// Long-term costs per tick of each cause, if any.
    costs: Batch,
    /// Stretches of the critical path.
    pub(super) path: Vec<Stretch>,
    /// Events that the critical path has reached more than once.
    again: Vec<JournalSpot>,
}

/// Backward replay of the locations of a group of workers.
pub(super) struct Backward<'a> {
    tools: &'a Tools<'a>,
    group: &'a Group<Graph>,
    numbers: Numbers,
    /// Team meetings that the critical path has reached: index of the graph, and number there.
    met: FxHashSet<(usize, u32)>,
    /// End of the critical path, if it is here and the path has not been started yet.
    last: Option<JournalSpot>,
    ways: Vec<LocationState>,
    path: CriticalPath,
    /// Events that the critical path has reached more than once.
    again: Vec<JournalSpot>,
    /// Locations that can continue.
    ready: Vec<usize>,
    /// Costs of waiting by cause, from their arrival until they are not needed any more.
    arrived: Kept<Costs>,
    /// Long-term costs per tick of causes, by graph.
    costs: Vec<Batch>,
    /// Causes that were released without their costs.
    released: FxHashSet<u32>,
    findings: &'a mut Findings,
}

impl std::fmt::Debug for Backward<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} locations on their way back", self.ways.len())
    }
}

impl<'a> Backward<'a> {
    /// Starts with all locations at their end.
    pub(super) fn new(
        tools: &'a Tools<'a>,
        group: &'a Group<Graph>,
        findings: &'a mut Findings,
    ) -> Backward<'a> {
        let numbers = Numbers::new(group);
        let way = |at: usize| {
            let graph = group.part_of(at);
            let items = group.parts[graph].items.range(at - group.first_line(graph));
            LocationState { graph, next: items.start, end: items.end, weights: [0; DelayClass::COUNT] }
        };
        let ways: Vec<LocationState> = (0..group.lines()).map(way).collect();
        let ready = (0..ways.len()).filter(|&at| ways[at].next < ways[at].end).collect();
        Backward {
            tools,
            group,
            met: FxHashSet::default(),
            last: group.parts.iter().find_map(|graph| graph.last),
            ways,
            path: CriticalPath::new(&group.parts),
            again: Vec::new(),
            ready,
            arrived: Kept::new(numbers.causes()),
            costs: vec![Batch::new(); group.parts.len()],
            released: FxHashSet::default(),
            findings,
            numbers,
        }
    }

    /// The next item of a location.
    fn next(&self, at: usize) -> Option<Item> {
        let LocationState { graph, next, end, .. } = self.ways[at];
        (next < end).then(|| self.group.parts[graph].items.list[next])
    }

    /// A cause in a graph.
    fn cause(&self, graph: usize, number: u32) -> &'a CauseNode {
        &self.group.parts[graph].causes[number as usize]
    }

    fn is_blocked(&self, graph: usize, number: u32) -> bool {
        let cause = self.numbers.cause(graph, number);
        self.cause(graph, number).wait.is_some()
            && self.arrived.get(cause).is_none()
            && !self.released.contains(&cause)
    }

    /// Starts the extent of a cause.
    fn begin(&mut self, at: usize, number: u32) {
        let graph = self.ways[at].graph;
        let (place, cause) = (self.numbers.cause(graph, number), self.cause(graph, number));
        let costs = self.arrived.remove(place).map(|costs| cause.long_term(costs));
        if let Some(costs) = costs {
            Numbered { number, costs }.put(&mut self.costs[graph]);
            // Kept for the end of the extent.
            if cause.reach == Extent::End {
                self.arrived.insert(place, costs);
            }
        }
        if cause.reach != Extent::Nothing {
            self.weigh(at, cause, costs, i128::saturating_add);
        }
    }

    /// Ends the extent of a cause.
    fn end(&mut self, at: usize, number: u32) {
        let graph = self.ways[at].graph;
        let costs = self.arrived.remove(self.numbers.cause(graph, number));
        self.weigh(at, self.cause(graph, number), costs, i128::saturating_sub);
    }

    /// Adds or subtracts the costs per tick of a cause to those per tick of waiting.
    fn weigh(
        &mut self,
        at: usize,
        cause: &CauseNode,
        costs: Option<Costs>,
        change: impl Fn(i128, i128) -> i128,
    ) {
        let weights = &mut self.ways[at].weights;
        let own = cause.class as usize;
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

    /// Sends the costs of a wait state to its cause.
    fn wait(&mut self, at: usize, number: u32, send: &mut impl FnMut(usize, Message)) {
        let LocationState { graph, weights, .. } = self.ways[at];
        let wait = &self.group.parts[graph].waits[number as usize];
        let ticks = wait.ticks as f64;
        let cost = |weight: i128| if weight == 0 { 0.0 } else { float(weight) * ticks };
        let costs = weights.map(cost);
        match self.group.has(wait.cause.worker as usize) {
            Some(graph) => self.arrive(graph, wait.cause.number, costs),
            None => {
                send(self.group.solvers.of(wait.cause.worker as usize), Message::Costs(wait.cause, costs))
            }
        }
    }

    /// Handles the costs of a cause's waiting.
    fn arrive(&mut self, graph: usize, number: u32, costs: Costs) {
        let cause = self.numbers.cause(graph, number);
        if self.released.contains(&cause) {
            return;
        }
        self.arrived.insert(cause, costs);
        let at = self.group.first_line(graph) + self.cause(graph, number).line as usize;
        if self.next(at).is_some_and(|item| item == Item::new(NodeKind::Cause, number)) {
            self.ready.push(at);
        }
    }

    /// Follows the critical path backwards from an event, as long as it stays at the locations here. In a
    /// team it may be at several threads at once (Q12).
    fn follow(&mut self, spot: JournalSpot, send: &mut impl FnMut(usize, Message)) {
        let mut spots = vec![spot];
        while let Some(spot) = spots.pop() {
            let worker = self.tools.owner_of(spot.location);
            if !self.group.workers.contains(&worker) {
                send(self.group.solvers.of(worker), Message::Path(spot));
                continue;
            }
            let at = self.group.at(spot.location);
            let graph = self.ways[at].graph;
            let (stop, is_again) = self.path.visit(self.group, at, spot.position);
            if is_again {
                self.again.push(Spot { position: stop.map_or(JournalPosition::NONE, |stop| stop.0), ..spot });
                continue;
            }
            match stop.map(|stop| stop.1) {
                None | Some(Next::Start | Next::Through) => {}
                Some(Next::Blamed(blamed)) => spots.push(blamed),
                Some(Next::Team(meeting)) => {
                    if self.met.insert((graph, meeting)) {
                        spots.extend(&self.group.parts[graph].meetings[meeting as usize]);
                    }
                }
            }
        }
    }

    /// Sends the results to the owner of each location, after the end of the replay. Returns the results for
    /// this worker, and the causes here that did not get their costs.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn give_back(self, exchange: &mut dyn Exchange) -> Result<(Returned, FxHashSet<u32>), Error> {
        let mut paths = self.path.into_stretches();
        let batches = self.costs.into_iter().enumerate().map(|(graph, costs)| {
            let worker = self.group.workers.start + graph;
            let is_there = |spot: &&JournalSpot| self.tools.owner_of(spot.location) == worker;
            let path = std::mem::take(&mut paths[graph]);
            let again: Vec<JournalSpot> = self.again.iter().filter(is_there).copied().collect();
            let mut batch = Batch::new();
            path.put(&mut batch);
            again.put(&mut batch);
            batch.extend(costs);
            batch
        });
        let words = self.group.give_back(batches.collect(), exchange)?;
        let mut reader = BatchReader::new(&words);
        let (path, again) = Wire::get(&mut reader);
        Ok((Returned { costs: reader.rest().to_vec(), path, again }, self.released))
    }
}

impl Returned {
    /// The causes with their long-term costs per tick.
    pub(super) fn costs(&self) -> impl Iterator<Item = (u32, Costs)> {
        wire::all(&self.costs).map(|Numbered { number, costs }| (number, costs))
    }

    /// Reports places that the critical path reaches again: that happens only if clocks are wrong, unless
    /// threads of a team reach one point on several branches.
    pub(super) fn report_cycles(
        &self,
        tools: &Tools<'_>,
        lines: &Lines,
        waits: &Waits,
        findings: &mut Findings,
    ) {
        if tools.has_teams() {
            return;
        }
        for spot in &self.again {
            let time =
                if spot.position == JournalPosition::NONE { 0 } else { time_of_cause(lines, waits, *spot) };
            findings.add(
                Finding::CyclicWait,
                time,
                spot.location as usize,
                || "the critical path comes to the same wait state again",
            );
        }
    }
}

/// Time of the cause for which an event waits; 0 if it does not wait.
fn time_of_cause(lines: &Lines, waits: &Waits, waiting: JournalSpot) -> Ticks {
    let delays = waits.at(lines.at(waiting.location), waiting.position);
    delays.map(|delay| delay.time).min().unwrap_or(0)
}

impl Recurrence for Backward<'_> {
    type Message = Message;

    fn step(&mut self, send: &mut impl FnMut(usize, Message)) -> bool {
        if let Some(last) = self.last.take() {
            self.follow(last, send);
        }
        let Some(at) = self.ready.pop() else { return false };
        while let Some(item) = self.next(at) {
            let number = item.number();
            match item.kind() {
                NodeKind::Cause if self.is_blocked(self.ways[at].graph, number) => return true,
                NodeKind::Cause => self.begin(at, number),
                NodeKind::End => self.end(at, number),
                NodeKind::Wait => self.wait(at, number, send),
            }
            self.ways[at].next += 1;
        }
        true
    }

    fn hear(&mut self, _: usize, message: Message, send: &mut impl FnMut(usize, Message)) {
        match message {
            Message::Costs(cause, costs) => {
                let graph =
                    self.group.has(cause.worker as usize).expect("costs come to the solver of the cause");
                self.arrive(graph, cause.number, costs);
            }
            Message::Path(spot) => self.follow(spot, send),
        }
    }

    /// The cause to be released first, of those whose costs are missing.
    fn blocked(&self) -> Option<Blocked> {
        let cause = |at: usize| {
            let cause = self.cause(self.ways[at].graph, self.next(at)?.number());
            let spot = Spot { location: self.group.location(at), position: cause.position };
            Some(Blocked { time: cause.time, spot: spot.into() })
        };
        (0..self.ways.len()).filter_map(cause).min()
    }

    /// Releases a cause without its costs: causes depend on each other, so clocks are wrong.
    fn release(&mut self, blocked: Blocked) {
        let at = self.group.at(blocked.spot.location);
        let Some(item) = self.next(at) else { return };
        self.findings.add(
            Finding::CyclicWait,
            blocked.time,
            blocked.spot.location as usize,
            || "what waiting costs depends on itself",
        );
        self.released.insert(self.numbers.cause(self.ways[at].graph, item.number()));
        self.ready.push(at);
    }
}

/// Long-term costs of something numbered, by class: zero in most classes.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Numbered {
    number: u32,
    costs: Costs,
}

/// Encoding: the number with a bit for each class that has costs; then these costs.
impl Wire for Numbered {
    fn put(&self, batch: &mut Batch) {
        const { assert!(DelayClass::COUNT <= u32::BITS as usize, "each class has a bit") };
        let costs = || (0_u32..).zip(self.costs).filter(|(_, cost)| *cost != 0.0);
        let classes = costs().fold(0, |classes: u32, (class, _)| classes | 1 << class);
        Halves(self.number, classes).put(batch);
        costs().for_each(|(_, cost)| cost.put(batch));
    }

    fn get(reader: &mut BatchReader<'_>) -> Numbered {
        let Halves(number, classes): Halves<u32, u32> = Wire::get(reader);
        let mut costs: Costs = [0.0; DelayClass::COUNT];
        let has_costs = |(class, _): &(u32, &mut f64)| classes >> class & 1 == 1;
        (0..).zip(&mut costs).filter(has_costs).for_each(|(_, cost)| *cost = f64::get(reader));
        Numbered { number, costs }
    }
}

impl Wire for Message {
    fn put(&self, batch: &mut Batch) {
        match *self {
            Message::Path(spot) => (PATH, spot).put(batch),
            Message::Costs(NodeId { worker, number }, costs) => {
                (u64::from(worker), Numbered { number, costs }).put(batch);
            }
        }
    }

    fn get(reader: &mut BatchReader<'_>) -> Message {
        match Wire::get(reader) {
            PATH => Message::Path(JournalSpot::get(reader)),
            worker => {
                let Numbered { number, costs } = Wire::get(reader);
                Message::Costs(NodeId { worker: low(worker), number }, costs)
            }
        }
    }
}
