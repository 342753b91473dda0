//! Graph of the backward replay at the locations of a worker: wait states with costs, their causes, and the
//! stops of the critical path. It is a small part of a worker's data, so few workers can hold that of all
//! ([`solvers`](crate::solvers)).

use std::ops::Range;

use model::Ticks;

use super::delay::{Costs, DelayClass};
use super::lines::Lines;
use super::points::{Next, SyncPoint};
use super::sides::{Causes, Waits};
use crate::error::Error;
use crate::exchange::batch::{BatchReader, halves, pair};
use crate::exchange::{Batch, Exchange};
use crate::ids::{JournalPosition, ReportPath};
use crate::int::{low, to_u32};
use crate::journal::JournalSpot;
use crate::solvers::{Group, Part, firsts};
use crate::wire::{self, Half, Halves, Wire, batch_of, wire};

/// Kind of work at a position of a location, in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NodeKind {
    /// End of the extent of a cause, going backwards.
    End,
    /// A wait state, whose costs become known.
    Wait,
    /// A cause, which needs the costs of its waiting.
    Cause,
}

/// Item of work: kind, and number of a wait or cause of the graph, in one word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Item(u32);

/// Bits of the number of a wait or cause: memory would be full before there are as many.
const NUMBER_BITS: u32 = 30;

impl Item {
    pub(super) fn new(kind: NodeKind, number: u32) -> Item {
        Item((kind as u32) << NUMBER_BITS | number)
    }

    pub(super) fn kind(self) -> NodeKind {
        match self.0 >> NUMBER_BITS {
            0 => NodeKind::End,
            1 => NodeKind::Wait,
            _ => NodeKind::Cause,
        }
    }

    /// The number of the wait or cause.
    pub(super) fn number(self) -> u32 {
        self.0 & ((1 << NUMBER_BITS) - 1)
    }
}

/// Global id of a wait or a cause.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct NodeId {
    /// The worker that has it in its graph.
    pub(super) worker: u32,
    /// Its number there.
    pub(super) number: u32,
}

wire!(NodeId { [worker, number] });

/// A wait state that has costs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct WaitNode {
    /// Waiting time.
    pub(super) ticks: Ticks,
    /// Index of its location in the graph.
    pub(super) line: u32,
    /// Its cause.
    pub(super) cause: NodeId,
}

wire!(WaitNode { ticks, line, cause });

/// The wait states to which a cause propagates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Extent {
    /// None.
    Nothing,
    /// All back to the start of the trace.
    Begin,
    /// Those up to the [`NodeKind::End`] item of the cause.
    End,
}

impl Half for Extent {
    fn to_half(self) -> u32 {
        self as u32
    }

    fn of_half(half: u32) -> Extent {
        [Extent::Nothing, Extent::Begin, Extent::End][half as usize]
    }
}

/// A cause of waiting. Its number is that in [`Causes`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct CauseNode {
    /// Excess and waiting of the causing location, together, in ticks (specification 9.1).
    pub(super) denominator: f64,
    /// Short-term waiting per tick of both.
    pub(super) scale: f64,
    /// Time at which the call of the causing event was entered.
    pub(super) time: Ticks,
    /// Index of its location in the graph, and the position of the causing event there.
    pub(super) line: u32,
    pub(super) position: JournalPosition,
    /// Call path of the report (none for idle threads) and location of the waiting event.
    pub(super) waiting_path: ReportPath,
    pub(super) waiting_location: u32,
    /// The wait from which it gets its costs; `None` if these are zero.
    pub(super) wait: Option<NodeId>,
    pub(super) class: DelayClass,
    pub(super) reach: Extent,
}

wire!(CauseNode {
    denominator,
    scale,
    time,
    [line, position],
    [waiting_path, waiting_location],
    [class, reach],
    wait,
});

/// Numbers of words in a batch: of a cause without its wait, of a wait, and of a stop.
const CAUSE: usize = 7;
const WAIT: usize = 3;
const STOP: usize = 2;

impl CauseNode {
    /// Long-term costs per tick, by class, from the costs of its waiting (specification 9.1).
    pub(super) fn long_term(&self, mut costs: Costs) -> Costs {
        if self.class == DelayClass::ThreadBarrier {
            // The reference does not propagate costs of barriers of threads through further ones (Q16).
            costs[DelayClass::ThreadBarrier as usize] = 0.0;
        }
        costs.map(|cost| cost / self.denominator)
    }
}

/// Lists of several locations, concatenated.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct ByLine<T> {
    pub(super) list: Vec<T>,
    /// Start of each location's list, and the end of all.
    firsts: Vec<usize>,
}

impl<T> ByLine<T> {
    fn with_room(things: usize) -> ByLine<T> {
        ByLine { list: Vec::with_capacity(things), firsts: vec![0] }
    }

    /// Ends the list of a location.
    fn end_line(&mut self) {
        self.firsts.push(self.list.len());
    }

    /// Range of a location's list.
    pub(super) fn range(&self, line: usize) -> Range<usize> {
        self.firsts[line]..self.firsts[line + 1]
    }

    /// A location's list.
    pub(super) fn of(&self, line: usize) -> &[T] {
        &self.list[self.range(line)]
    }
}

/// Graph of the backward replay at the locations of a worker.
#[derive(Clone, PartialEq, Debug)]
pub struct Graph {
    /// Number of the first location; the others follow without gap.
    pub(super) first: u32,
    /// Items of each location, the latest first.
    pub(super) items: ByLine<Item>,
    pub(super) waits: Vec<WaitNode>,
    pub(super) causes: Vec<CauseNode>,
    /// Points at which the critical path stops, by location in the order of positions.
    pub(super) stops: ByLine<(JournalPosition, Next)>,
    /// Continuations of the critical path at meetings of teams.
    pub(super) meetings: Vec<Vec<JournalSpot>>,
    /// End of the critical path, if it is here.
    pub(super) last: Option<JournalSpot>,
}

/// Message to another worker: the offsets, in the sender's graph, of causes and waits whose other side is the
/// receiver's.
#[derive(Clone, Copy, Debug)]
struct Begins {
    causes: u32,
    waits: u32,
}

wire!(Begins { [causes, waits] });

/// Numbering of causes and waits over all graphs of a group.
#[derive(Debug)]
pub(super) struct Numbers {
    /// Start of the causes of each graph, and the end of all; likewise the waits.
    causes: Vec<usize>,
    waits: Vec<usize>,
}

impl Numbers {
    pub(super) fn new(group: &Group<Graph>) -> Numbers {
        Numbers {
            causes: firsts(&group.parts, |graph| graph.causes.len()),
            waits: firsts(&group.parts, |graph| graph.waits.len()),
        }
    }

    /// Number of all causes.
    pub(super) fn causes(&self) -> usize {
        self.causes[self.causes.len() - 1]
    }

    /// Number of all waits.
    pub(super) fn waits(&self) -> usize {
        self.waits[self.waits.len() - 1]
    }

    /// Group-wide number of a graph's cause.
    pub(super) fn cause(&self, graph: usize, number: u32) -> u32 {
        to_u32(self.causes[graph]) + number
    }

    /// Group-wide number of a graph's wait.
    pub(super) fn wait(&self, graph: usize, number: u32) -> u32 {
        to_u32(self.waits[graph]) + number
    }
}

impl Graph {
    /// Builds the graph of this worker's locations.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn new(
        lines: &Lines,
        (waits, causes): (&Waits, &Causes),
        meetings: Vec<Vec<JournalSpot>>,
        last: Option<JournalSpot>,
        exchange: &mut dyn Exchange,
    ) -> Result<Graph, Error> {
        let costly = waits.list.iter().filter(|wait| wait.costly > 0).count();
        let stops = |line| lines.line(line).points().iter().filter(|point| point.is_stop());
        let mut graph = Graph {
            first: lines.location(0),
            // Exact capacities: a list that grows is copied, and unused capacity takes no memory pages.
            items: ByLine::with_room(costly + 2 * causes.list.len()),
            waits: Vec::with_capacity(costly),
            causes: Vec::with_capacity(causes.list.len()),
            stops: ByLine::with_room((0..lines.len()).map(|line| stops(line).count()).sum()),
            meetings,
            last,
        };
        let mut numbers = vec![0; waits.list.len()];
        for (number, wait) in numbers.iter_mut().zip(&waits.list).filter(|(_, wait)| wait.costly > 0) {
            *number = to_u32(graph.waits.len());
            let line = to_u32(lines.at(wait.delay.waiting.location));
            graph.waits.push(WaitNode { ticks: wait.costly, line, cause: NodeId::default() });
        }
        graph.causes.extend(causes.list.iter().enumerate().map(|(at, cause)| CauseNode {
            denominator: cause.denominator,
            scale: causes.cost(at),
            time: cause.delay.time,
            line: to_u32(lines.at(cause.delay.causing.location)),
            position: cause.delay.causing.position,
            waiting_path: cause.waiting_path,
            waiting_location: cause.delay.waiting.location,
            wait: cause.awaits_costs.then(NodeId::default),
            class: cause.delay.class,
            reach: match cause.reach {
                None => Extent::Nothing,
                Some(0) => Extent::Begin,
                Some(_) => Extent::End,
            },
        }));
        let mut keys = Vec::new();
        for line in 0..lines.len() {
            graph.push_items(line, lines, waits, &numbers, causes, &mut keys);
            let begin = lines.path_begin(line);
            let next = |point: &SyncPoint| match begin.is_some_and(|begin| point.position < begin) {
                true => Next::Start,
                false => point.next,
            };
            graph.stops.list.extend(stops(line).map(|point| (point.position, next(point))));
            graph.stops.end_line();
        }
        let begins = graph.begins(waits, causes);
        let told = exchange.exchange(begins.map(|begins| batch_of([&begins])).collect())?;
        graph.link(waits, causes, told.iter().map(|batch| wire::one::<Begins>(batch)));
        Ok(graph)
    }

    /// Adds the items of a location, the latest first; `numbers` are those of waits in the graph.
    fn push_items(
        &mut self,
        line: usize,
        lines: &Lines,
        waits: &Waits,
        numbers: &[u32],
        causes: &Causes,
        keys: &mut Vec<u64>,
    ) {
        let points = lines.line(line).points();
        let (of_waits, causes_here) = (waits.of_line.of(line), causes.of_line.of(line));
        // Each kind comes in few runs, latest first, for which the sort is fast.
        for (place, &number) in of_waits.iter().enumerate().rev() {
            let wait = &waits.list[number as usize];
            if wait.costly > 0 {
                keys.push(key(wait.delay.waiting.position, NodeKind::Wait, place));
            }
        }
        let of_causes = causes_here.iter().map(|&number| &causes.list[number as usize]).enumerate().rev();
        let of_causes = of_causes.filter(|(_, cause)| cause.denominator > 0.0);
        keys.extend(
            of_causes.clone().map(|(place, cause)| key(cause.delay.causing.position, NodeKind::Cause, place)),
        );
        keys.extend(of_causes.filter_map(|(place, cause)| {
            let last = cause.reach?.checked_sub(1)?;
            Some(key(points[last as usize].position, NodeKind::End, place))
        }));
        keys.sort();
        self.items.list.extend(keys.drain(..).map(|key| {
            let item = Item(low(key));
            let place = item.number() as usize;
            match item.kind() {
                NodeKind::Wait => Item::new(NodeKind::Wait, numbers[of_waits[place] as usize]),
                kind => Item::new(kind, causes_here[place]),
            }
        }));
        self.items.end_line();
    }

    /// The offsets to be sent to each worker.
    fn begins<'g>(&'g self, waits: &'g Waits, causes: &'g Causes) -> impl Iterator<Item = Begins> + 'g {
        let mut costly: u32 = 0;
        waits.firsts.windows(2).zip(&causes.firsts).map(move |(ends, &first)| {
            let begins = Begins { causes: to_u32(first), waits: costly };
            costly += to_u32(waits.list[ends[0]..ends[1]].iter().filter(|wait| wait.costly > 0).count());
            begins
        })
    }

    /// Links waits and causes to their other sides, from the offsets received from each worker.
    fn link(&mut self, waits: &Waits, causes: &Causes, begins: impl Iterator<Item = Begins> + Clone) {
        let mut next = self.waits.iter_mut();
        for (worker, (ends, begins)) in (0..).zip(waits.firsts.windows(2).zip(begins.clone())) {
            let told = (begins.causes..).zip(&waits.list[ends[0]..ends[1]]);
            for ((number, _), wait) in told.filter(|(_, wait)| wait.costly > 0).zip(&mut next) {
                wait.cause = NodeId { worker, number };
            }
        }
        for (worker, (ends, begins)) in (0..).zip(causes.firsts.windows(2).zip(begins)) {
            let awaiting = self.causes[ends[0]..ends[1]].iter_mut().filter_map(|cause| cause.wait.as_mut());
            (begins.waits..).zip(awaiting).for_each(|(number, wait)| *wait = NodeId { worker, number });
        }
    }
}

impl Part for Graph {
    fn first(&self) -> u32 {
        self.first
    }

    fn lines(&self) -> usize {
        self.items.firsts.len() - 1
    }

    fn words(&self) -> usize {
        let meetings: usize = self.meetings.iter().map(|meeting| meeting.len() + 1).sum();
        let awaiting = self.causes.iter().filter(|cause| cause.wait.is_some()).count();
        let items = self.items.list.len().div_ceil(2);
        let nodes = self.waits.len() * WAIT + self.causes.len() * CAUSE + self.stops.list.len() * STOP;
        HEAD + usize::from(self.last.is_some()) + 2 * self.lines() + items + awaiting + nodes + meetings
    }
}

impl Wire for Graph {
    fn put(&self, batch: &mut Batch) {
        let Graph { first, items, waits, causes, stops, meetings, last } = self;
        (*first, (*last, items.list.len())).put(batch);
        // Two items in a word.
        let second = |items: &[Item]| items.get(1).map_or(0, |item| item.0);
        batch.extend(items.list.chunks(2).map(|items| pair(items[0].0, second(items))));
        items.firsts.put(batch);
        waits.put(batch);
        causes.put(batch);
        stops.list.put(batch);
        stops.firsts.put(batch);
        meetings.put(batch);
    }

    fn get(reader: &mut BatchReader<'_>) -> Graph {
        let (first, (last, count)): (u32, (Option<JournalSpot>, usize)) = Wire::get(reader);
        let pairs = reader.words(count.div_ceil(2)).iter().map(|&word| halves(word));
        let mut list = Vec::with_capacity(count);
        list.extend(pairs.flat_map(|(one, other)| [Item(one), Item(other)]).take(count));
        Graph {
            first,
            last,
            items: ByLine { list, firsts: Wire::get(reader) },
            waits: Wire::get(reader),
            causes: Wire::get(reader),
            stops: ByLine { list: Wire::get(reader), firsts: Wire::get(reader) },
            meetings: Wire::get(reader),
        }
    }
}

/// A position, and the continuation of the critical path there.
impl Wire for (JournalPosition, Next) {
    fn put(&self, batch: &mut Batch) {
        let (position, next) = *self;
        let kind: u32 = match next {
            Next::Through => 0,
            Next::Start => 1,
            Next::Blamed(_) => 2,
            Next::Team(_) => 3,
        };
        Halves(position, kind).put(batch);
        match next {
            Next::Through | Next::Start => batch.push(0),
            Next::Blamed(spot) => spot.put(batch),
            Next::Team(meeting) => meeting.put(batch),
        }
    }

    fn get(reader: &mut BatchReader<'_>) -> (JournalPosition, Next) {
        let Halves(position, kind) = Wire::get(reader);
        let next = match kind {
            2_u32 => Next::Blamed(JournalSpot::get(reader)),
            3 => Next::Team(u32::get(reader)),
            kind => {
                let _: u64 = Wire::get(reader);
                if kind == 1 { Next::Start } else { Next::Through }
            }
        };
        (position, next)
    }
}

/// Number of words in the header.
const HEAD: usize = 11;

/// Sort key of items: the latest first, then by kind, then by place of the wait or cause at its location.
fn key(position: JournalPosition, kind: NodeKind, place: usize) -> u64 {
    pair(!position.to_half(), Item::new(kind, to_u32(place)).0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graph_comes_back_from_its_words() {
        let at = JournalPosition::new;
        let spot = |position| crate::journal::Spot { location: 5, position: at(position) };
        let link = NodeId { worker: 3, number: u32::MAX };
        let cause = |wait, reach| CauseNode {
            denominator: 0.1,
            scale: 1e-300,
            time: -7,
            line: 1,
            position: at(9),
            waiting_path: ReportPath::NONE,
            waiting_location: 2,
            wait,
            class: DelayClass::IdleThreads,
            reach,
        };
        let items = [(NodeKind::Cause, 0), (NodeKind::Wait, 1), (NodeKind::End, (1 << NUMBER_BITS) - 1)];
        let graph = Graph {
            first: 4,
            items: ByLine {
                list: items.map(|(kind, number)| Item::new(kind, number)).to_vec(),
                firsts: vec![0, 0, 3],
            },
            waits: vec![WaitNode { ticks: -1, line: 1, cause: link }; 2],
            causes: vec![
                cause(Some(link), Extent::End),
                cause(None, Extent::Begin),
                cause(None, Extent::Nothing),
            ],
            stops: ByLine {
                list: vec![
                    (at(1), Next::Start),
                    (at(2), Next::Blamed(spot(8))),
                    (at(3), Next::Team(6)),
                    (at(4), Next::Through),
                ],
                firsts: vec![0, 4, 4],
            },
            meetings: vec![vec![], vec![spot(1), spot(2)]],
            last: Some(spot(7)),
        };
        let batch = batch_of([&graph]);
        assert_eq!(batch.len(), graph.words());
        assert_eq!(wire::one::<Graph>(&batch), graph);
        for (item, (kind, number)) in graph.items.of(1).iter().zip(items) {
            assert_eq!((item.kind(), item.number()), (kind, number));
        }
    }
}
