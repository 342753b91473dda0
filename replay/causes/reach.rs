//! Propagation range of a cause: the wait states between the last common synchronisation and the cause.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use rustc_hash::FxHashMap;

use super::delay::Delay;
use super::points::{Peers, SyncPoint};
use super::previous::{self, Members, Partner, Past, Query};
use crate::communicators::Participants;
use crate::ids::JournalPosition;
use crate::int::to_u32;
use crate::trace::Trace;

/// Approximate number of queries per search.
const QUERIES: usize = 1 << 20;

/// Number of the first point to which a cause propagates, as to all that follow before the cause; `None` for
/// no propagation.
pub(super) type Reach = Option<u32>;

/// Corrected semantics: all points since the last common synchronisation.
pub(super) fn corrected(past: Past) -> Reach {
    let Range { start, end } = past.points();
    (start < end).then_some(to_u32(start))
}

/// Reference semantics: for members of a collective operation that have synchronised with the cause later
/// than all others have, the range starts at the next such point, not at their own (Q15); with two processes
/// there is none (Q19).
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
    let mut of_operation: FxHashMap<JournalPosition, Vec<Option<usize>>> = FxHashMap::default();
    let mut rest = &operations[..];
    while !rest.is_empty() {
        let mut queries = Vec::new();
        let mut ends = Vec::new();
        // Each search goes through all points, each query takes memory: a compromise.
        while let Some((delay, others)) = rest.split_first().filter(|_| queries.len() < QUERIES) {
            let me = to_u32(trace.locations[delay.causing.location as usize].process);
            let before = delay.causing.position;
            let others_of = ranks(delay.scope).iter().filter(|&&process| process != me);
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
        let knows_one = after.is_some_and(|at| match points[at].peers {
            Peers::One(_) => true,
            Peers::Several(list) => members.list(list).len() == 1,
            _ => false,
        });
        if is_base && !(is_pair && knows_one) {
            return corrected(past);
        }
        let first = firsts.iter().find(|&&first| first > after && Some(&first) != firsts.first())?;
        first.map(|first| to_u32(first))
    };
    causes.iter().map(reach).collect()
}

/// For each of `points` points, whether any of these causes covers it; each has a range of points.
pub(super) fn covered(points: usize, causes: impl Iterator<Item = Range<usize>>) -> Vec<bool> {
    let mut changes = vec![0_i32; points + 1];
    for Range { start, end } in causes {
        changes[start] += 1;
        changes[end] -= 1;
    }
    let mut count = 0;
    let covers = |change: &i32| {
        count += change;
        count > 0
    };
    changes[..points].iter().map(covers).collect()
}

/// A range of points with a weight.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Span {
    /// Number of the first point.
    pub(super) first: u32,
    /// Number behind the last point.
    pub(super) end: u32,
    /// Weight, not negative.
    pub(super) weight: f64,
}

impl Span {
    /// The points in a past.
    pub(super) fn new(past: Past, weight: f64) -> Span {
        let Range { start, end } = past.points();
        Span { first: to_u32(start), end: to_u32(end), weight }
    }
}

/// The largest weight at each of these points, which are in descending order.
pub(super) fn heaviest(mut spans: Vec<Span>, points: impl Iterator<Item = u32>) -> impl Iterator<Item = f64> {
    spans.sort_by_key(|span| span.end);
    // Weights are not negative, so their bits sort like the numbers.
    let mut open: BinaryHeap<(u64, Reverse<u32>)> = BinaryHeap::new();
    points.map(move |point| {
        while let Some(span) = spans.pop_if(|span| span.end > point) {
            open.push((span.weight.to_bits(), Reverse(span.first)));
        }
        // A span that starts behind this point starts behind all that follow.
        while open.peek().is_some_and(|&(_, Reverse(first))| first > point) {
            open.pop();
        }
        open.peek().map_or(0.0, |&(bits, _)| f64::from_bits(bits))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heaviest_span_counts_only_inside() {
        let spans = vec![
            Span { first: 11, end: 40, weight: 0.5 },
            Span { first: 21, end: 30, weight: 0.9 },
            Span { first: 0, end: 15, weight: 0.1 },
        ];
        let weights = heaviest(spans, [40, 35, 30, 25, 20, 12, 10, 5].into_iter());
        assert_eq!(weights.collect::<Vec<_>>(), [0.0, 0.5, 0.5, 0.9, 0.5, 0.5, 0.1, 0.1]);
    }
}
