//! Forward propagation of culprits' shares of waiting: the backward replay of costs in the opposite
//! direction.
//!
//! A wait state is charged to the excess work of its cause and to the waiting before that cause, in
//! proportion to their ticks. So a culprit's share of a wait state consists of its excess work there and of
//! its shares of that earlier waiting. Every location processes its items of the backward replay in the
//! opposite order; where the waiting location sent costs, it receives shares. The backward replay in reverse
//! is an order in which no location is blocked, so nothing is ever released.

use model::Ticks;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Culprit, NAMED};
use crate::causes::delay::DelayClass;
use crate::causes::graph::{Extent, Graph, Item, NodeId, NodeKind, Numbers};
use crate::causes::kept::Kept;
use crate::exchange::Batch;
use crate::fraction::fixed;
use crate::ids::ReportPath;
use crate::int::to_u32;
use crate::relay::{Blocked, Recurrence};
use crate::solvers::Group;
use crate::wire::{self, Halves, wire};

/// Call path of the report and location of a wait state.
pub(super) type WaitPlace = (ReportPath, u32);

/// Waiting by place and culprit, in ticks as fixed-point numbers.
pub(super) type Waiting = FxHashMap<WaitPlace, [i128; NAMED]>;

/// Ticks, or fractions of them, by culprit.
type Shares = [f64; NAMED];

/// The culprits' shares of a wait state of another worker.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    wait: NodeId,
    shares: Shares,
}

wire!(Message { wait, shares });

/// Progress of a location.
#[derive(Debug)]
struct LocationShares {
    /// Index of its graph.
    graph: usize,
    /// Start of its items that are left.
    first: usize,
    /// End of its items that are left: the last one is next.
    left: usize,
    /// The culprits' shares of all waiting up to here, in ticks.
    waited: Shares,
}

/// Forward replay of the locations of a group of workers.
pub(super) struct ForwardShares<'a> {
    group: &'a Group<Graph>,
    numbers: Numbers,
    culprits: &'a [Culprit],
    /// The culprits' excess work, in ticks, and by cause its index there from 1, or 0.
    excess: Vec<Shares>,
    excess_of: Vec<u32>,
    /// Causes that did not get their costs in the backward replay.
    released: FxHashSet<u32>,
    ways: Vec<LocationShares>,
    /// Locations that can continue.
    ready: Vec<usize>,
    /// Causes that pass nothing on and have not yet sent that to their wait states: the graph, and the number
    /// there.
    without: Vec<(usize, u32)>,
    /// By cause that propagates up to the current position: the shares of all waiting where its range starts.
    before: Kept<Shares>,
    /// The culprits' shares by wait, from when they are received until they are used.
    shares: Kept<Shares>,
    /// Waiting in the class of each culprit.
    waiting: Waiting,
}

impl<'a> ForwardShares<'a> {
    /// Starts with all locations at their first event; `more` is the [encoded](super::Excess::encode) excess
    /// work of each worker of the group.
    pub(super) fn new(
        group: &'a Group<Graph>,
        culprits: &'a [Culprit],
        more: &[Batch],
        released: FxHashSet<u32>,
    ) -> ForwardShares<'a> {
        let numbers = Numbers::new(group);
        let way = |at: usize| {
            let graph = group.part_of(at);
            let items = group.parts[graph].items.range(at - group.first_line(graph));
            LocationShares { graph, first: items.start, left: items.end, waited: [0.0; NAMED] }
        };
        let mut excess: Vec<Shares> = Vec::with_capacity(more.iter().map(|more| more.len() / 2).sum());
        let mut excess_of = vec![0; numbers.causes()];
        let mut without = Vec::new();
        for (graph, more) in more.iter().enumerate() {
            for (Halves(cause, culprit), ticks) in wire::all::<(Halves<u32, u32>, Ticks)>(more) {
                let place: &mut u32 = &mut excess_of[numbers.cause(graph, cause) as usize];
                if *place == 0 {
                    excess.push([0.0; NAMED]);
                    *place = to_u32(excess.len());
                }
                excess[*place as usize - 1][culprit as usize] += ticks as f64;
            }
            // Where the backward replay continued without costs, nothing may wait for shares: that would be a
            // cycle again.
            let causes = (0..).zip(&group.parts[graph].causes);
            let causes = causes.filter(|(number, cause)| {
                let is_released =
                    || !released.is_empty() && released.contains(&numbers.cause(graph, *number));
                cause.wait.is_some() && (cause.denominator <= 0.0 || is_released())
            });
            without.extend(causes.map(|(number, _)| (graph, number)));
        }
        let ways: Vec<LocationShares> = (0..group.lines()).map(way).collect();
        ForwardShares {
            ready: (0..ways.len()).collect(),
            without,
            group,
            culprits,
            excess,
            excess_of,
            released,
            ways,
            before: Kept::new(numbers.causes()),
            shares: Kept::new(numbers.waits()),
            waiting: FxHashMap::default(),
            numbers,
        }
    }

    /// Returns the waiting for each culprit by place.
    pub(super) fn into_waiting(self) -> Waiting {
        debug_assert!(self.ways.iter().all(|way| way.left == way.first), "a location is held");
        self.waiting
    }

    /// Passes on the excess work of a cause, and the waiting in its range.
    fn cause(&mut self, at: usize, number: u32, tell: &mut impl FnMut(usize, Message)) {
        let graph = self.ways[at].graph;
        let (place, cause) =
            (self.numbers.cause(graph, number), &self.group.parts[graph].causes[number as usize]);
        let mut passed = match cause.reach {
            Extent::Nothing => [0.0; NAMED],
            Extent::Begin | Extent::End => {
                let (waited, before) = (&self.ways[at].waited, self.before.remove(place).unwrap_or_default());
                std::array::from_fn(|which| waited[which] - before[which])
            }
        };
        if let Some(excess) = self.excess_of[place as usize].checked_sub(1) {
            let excess = &self.excess[excess as usize];
            passed.iter_mut().zip(excess).for_each(|(passed, more)| *passed += more);
        }
        let class = cause.class;
        let is_waiting = |which: usize| passed[which] > 0.0 && self.culprits[which].class == class;
        if (0..self.culprits.len()).any(is_waiting) {
            let sums = self.waiting.entry((cause.waiting_path, cause.waiting_location)).or_default();
            for which in (0..self.culprits.len()).filter(|&which| is_waiting(which)) {
                sums[which] = sums[which].saturating_add(fixed(cause.scale * passed[which]));
            }
        }
        if cause.wait.is_some() && !self.released.contains(&place) {
            let mut shares = [0.0; NAMED];
            for ((share, &passed), culprit) in shares.iter_mut().zip(&passed).zip(self.culprits) {
                // The costs of waiting at barriers of threads through further such barriers are charged to
                // nobody (Q16).
                let is_known =
                    (culprit.class, class) != (DelayClass::ThreadBarrier, DelayClass::ThreadBarrier);
                if passed > 0.0 && is_known {
                    *share = passed / cause.denominator;
                }
            }
            self.tell(graph, number, shares, tell);
        }
    }

    /// Sends the culprits' shares of a wait state to the owner of the waiting location.
    fn tell(&mut self, graph: usize, number: u32, shares: Shares, tell: &mut impl FnMut(usize, Message)) {
        let Some(wait) = self.group.parts[graph].causes[number as usize].wait else { return };
        match self.group.has(wait.worker as usize) {
            Some(graph) => self.arrive(graph, wait.number, shares),
            None => tell(self.group.solvers.of(wait.worker as usize), Message { wait, shares }),
        }
    }

    /// Receives the shares of a wait.
    fn arrive(&mut self, graph: usize, number: u32, shares: Shares) {
        let wait = self.numbers.wait(graph, number);
        self.shares.insert(wait, shares);
        let at = self.group.first_line(graph) + self.group.parts[graph].waits[number as usize].line as usize;
        if self.next(at).is_some_and(|item| item == Item::new(NodeKind::Wait, number)) {
            self.ready.push(at);
        }
    }

    /// Returns the next item of a location.
    fn next(&self, at: usize) -> Option<Item> {
        let LocationShares { graph, first, left, .. } = self.ways[at];
        (first < left).then(|| self.group.parts[graph].items.list[left - 1])
    }

    /// Adds the culprits' shares of a wait state.
    fn wait(&mut self, at: usize, number: u32, shares: Shares) {
        let way = &mut self.ways[at];
        let ticks = self.group.parts[way.graph].waits[number as usize].ticks as f64;
        for (waited, share) in way.waited.iter_mut().zip(shares) {
            *waited += share * ticks;
        }
    }
}

impl Recurrence for ForwardShares<'_> {
    type Message = Message;

    fn step(&mut self, tell: &mut impl FnMut(usize, Message)) -> bool {
        for (graph, number) in std::mem::take(&mut self.without) {
            self.tell(graph, number, [0.0; NAMED], tell);
        }
        let Some(at) = self.ready.pop() else { return false };
        while let Some(item) = self.next(at) {
            let (graph, number) = (self.ways[at].graph, item.number());
            match item.kind() {
                NodeKind::End => self.before.insert(self.numbers.cause(graph, number), self.ways[at].waited),
                NodeKind::Cause => self.cause(at, number, tell),
                NodeKind::Wait => match self.shares.remove(self.numbers.wait(graph, number)) {
                    Some(shares) => self.wait(at, number, shares),
                    None => return true,
                },
            }
            self.ways[at].left -= 1;
        }
        true
    }

    fn hear(&mut self, _: usize, Message { wait, shares }: Message, _: &mut impl FnMut(usize, Message)) {
        let graph = self.group.has(wait.worker as usize).expect("shares come to the solver of the wait");
        self.arrive(graph, wait.number, shares);
    }

    fn blocked(&self) -> Option<Blocked> {
        None
    }

    fn release(&mut self, _: Blocked) {}
}
