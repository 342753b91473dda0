//! Which wait states a cause is passed on to: those between the last common synchronisation and the cause.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use super::delay::Delay;
use super::points::{Peers, SyncPoint};
use super::previous::{self, Members, Partner, Past, Query};
use crate::communicators::Participants;
use crate::journal::Position;
use crate::trace::Trace;

/// Members that are asked for at once, about.
const QUERIES: usize = 1 << 20;

/// The number of the first point that a cause is passed on to; it is to all that follow before the cause. `None`: to nothing.
pub(super) type Reach = Option<usize>;

/// What is meant: everything since both sides have synchronised.
pub(super) fn corrected(past: Past) -> Reach {
    Some(past.points().start)
}

/// What the reference does: members of a collective operation that have synchronised with the cause later than all others have
/// a weight that begins at the next such point, not at their own (Q15); with two processes, none (Q19).
pub(super) fn reference(
    trace: &Trace,
    points: &[SyncPoint],
    causes: &[(Delay, Past)],
    members: &mut Members<'_>,
) -> Vec<Reach> {
    let ranks = |communicator: u32| match trace.communicators.get(communicator as usize) {
        Some(Participants::Ranks(ranks)) => &ranks[..],
        _ => &[],
    };
    let mut operations: Vec<&Delay> = causes.iter().map(|(delay, _)| delay).collect();
    operations.retain(|delay| delay.class.is_of_collectives());
    operations.sort_by_key(|delay| delay.causing.position);
    operations.dedup_by_key(|delay| delay.causing.position);
    // The points of all members, for each operation.
    let mut of_operation: FxHashMap<Position, Vec<Option<usize>>> = FxHashMap::default();
    let mut rest = &operations[..];
    while !rest.is_empty() {
        let mut queries = Vec::new();
        let mut ends = Vec::new();
        // Each search goes through all points, each query takes memory.
        while let Some((delay, others)) = rest.split_first().filter(|_| queries.len() < QUERIES) {
            let me = trace.locations[delay.causing.location as usize].process as u32;
            let before = delay.causing.position;
            let others_of = ranks(delay.communicator).iter().filter(|&&process| process != me);
            queries.extend(others_of.map(|&process| Query { before, partner: Partner::Process(process) }));
            ends.push((before, queries.len()));
            rest = others;
        }
        let answers = previous::find(points, &queries, members);
        let mut begin = 0;
        for (position, end) in ends {
            let mut firsts: Vec<Option<usize>> =
                answers[begin..end].iter().map(|past| past.after()).collect();
            firsts.sort_unstable();
            firsts.dedup();
            of_operation.insert(position, firsts);
            begin = end;
        }
    }
    let is_pair = trace.world_size() == 2;
    let reach = |&(delay, past): &(Delay, Past)| {
        let after = past.after();
        let Some(firsts) =
            of_operation.get(&delay.causing.position).filter(|_| delay.class.is_of_collectives())
        else {
            return corrected(past);
        };
        let is_base = firsts.first() == Some(&after);
        let knows_one = after.is_some_and(|at| match &points[at].peers {
            Peers::One(_) => true,
            Peers::Several(peers) => peers.len() == 1,
            _ => false,
        });
        if is_base && !(is_pair && knows_one) {
            return corrected(past);
        }
        *firsts.iter().find(|&&first| first > after && Some(&first) != firsts.first())?
    };
    causes.iter().map(reach).collect()
}

/// For each of so many points, whether any of these causes, each with the number of points before it, reaches it.
pub(super) fn covered(points: usize, causes: impl Iterator<Item = (Reach, usize)>) -> Vec<bool> {
    let mut changes = vec![0_i64; points + 1];
    for (reach, end) in causes {
        if let Some(first) = reach.filter(|&first| first < end) {
            changes[first] += 1;
            changes[end] -= 1;
        }
    }
    let mut count = 0;
    let covers = |change: &i64| {
        count += change;
        count > 0
    };
    changes[..points].iter().map(covers).collect()
}

/// A stretch of a location with a weight.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Span {
    /// It begins behind this position, or at the begin of everything.
    pub(super) after: Option<Position>,
    /// It ends before this one.
    pub(super) before: Position,
    /// Not negative.
    pub(super) weight: f64,
}

/// The largest weight at each of these positions, which fall.
pub(super) fn heaviest(mut spans: Vec<Span>, positions: &[Position]) -> Vec<f64> {
    spans.sort_by_key(|span| span.before);
    // Weights are not negative: their bits have their order.
    let mut open: BinaryHeap<(u64, Reverse<Option<Position>>)> = BinaryHeap::new();
    let mut weight_at = |position: Position| {
        while let Some(span) = spans.pop_if(|span| span.before > position) {
            open.push((span.weight.to_bits(), Reverse(span.after)));
        }
        // What begins behind this position begins behind all that come.
        while open.peek().is_some_and(|&(_, Reverse(after))| after.is_some_and(|after| after >= position)) {
            open.pop();
        }
        open.peek().map_or(0.0, |&(bits, _)| f64::from_bits(bits))
    };
    positions.iter().map(|&position| weight_at(position)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heaviest_span_counts_only_strictly_inside() {
        let spans = vec![
            Span { after: Some(10), before: 40, weight: 0.5 },
            Span { after: Some(20), before: 30, weight: 0.9 },
            Span { after: None, before: 15, weight: 0.1 },
        ];
        let weights = heaviest(spans, &[40, 35, 30, 25, 20, 12, 10, 5]);
        assert_eq!(weights, [0.0, 0.5, 0.5, 0.9, 0.5, 0.5, 0.1, 0.1]);
    }
}
