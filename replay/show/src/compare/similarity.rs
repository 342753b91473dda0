//! Similarity of two functions that may be one under a new name: what they call, and how they are called.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::matching::Seen;

/// Call paths below that are looked at: the nearest ones.
const NEAREST: usize = 1000;

/// Letters of a piece of a name.
const PIECE: usize = 3;

/// Letters of a name that are looked at.
const LETTERS: usize = 400;

/// What a call path is recognised by.
#[derive(Debug)]
pub(super) struct Similar<'s> {
    pub(super) call: usize,
    pub(super) name: &'s str,
    pub(super) paradigm: &'s str,
    /// Its own time and that of those below that are looked at.
    pub(super) time: f64,
    /// Names below, each with its share of the time.
    below: BTreeMap<&'s str, f64>,
    pieces: BTreeSet<Vec<char>>,
}

impl<'s> Similar<'s> {
    /// The names below.
    pub(super) fn callees(&self) -> impl Iterator<Item = &'s str> {
        self.below.keys().copied()
    }

    pub(super) fn new(seen: Seen<'s>, call: usize) -> Similar<'s> {
        let weight = |call: usize| seen.weights.get(call).copied().unwrap_or(0.0).max(0.0);
        let mut time = weight(call);
        let mut below: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
        let mut open: VecDeque<usize> = seen.calls.forest.children(call).iter().copied().collect();
        let mut count = 0.0;
        while let Some(next) = open.pop_front().filter(|_| count < NEAREST as f64) {
            count += 1.0;
            time += weight(next);
            let (time, calls) = below.entry(&seen.names[next]).or_default();
            *time += weight(next);
            *calls += 1.0;
            open.extend(seen.calls.forest.children(next));
        }
        // Without times, as many as there are.
        let share = |(seconds, calls): (f64, f64)| if time > 0.0 { seconds / time } else { calls / count };
        Similar {
            call,
            name: &seen.names[call],
            paradigm: &seen.calls.list[call].paradigm,
            time,
            below: below.into_iter().map(|(name, weights)| (name, share(weights))).collect(),
            pieces: pieces(&seen.names[call]),
        }
    }
}

/// From 0 to 1: the mean of what is below and of the names; of leaves, the names alone.
pub(super) fn similarity(one: &Similar<'_>, other: &Similar<'_>) -> f64 {
    let names = of_names(&one.pieces, &other.pieces);
    if one.below.is_empty() && other.below.is_empty() {
        return names;
    }
    f64::midpoint(of_callees(one, other), names)
}

/// From 0 to 1: how much of what is below is the same; 0 if there is nothing.
pub(super) fn of_callees(one: &Similar<'_>, other: &Similar<'_>) -> f64 {
    let (mut common, mut all) = (0.0, 0.0);
    let names_below: BTreeSet<&str> = one.below.keys().chain(other.below.keys()).copied().collect();
    for name in names_below {
        let share = |of: &Similar<'_>| of.below.get(name).copied().unwrap_or(0.0);
        let (own, others) = (share(one), share(other));
        common += own.min(others);
        all += own.max(others);
    }
    if all > 0.0 { common / all } else { 0.0 }
}

/// The share of pieces that both names have.
fn of_names(one: &BTreeSet<Vec<char>>, other: &BTreeSet<Vec<char>>) -> f64 {
    let common = one.intersection(other).count();
    let all = one.len() + other.len() - common;
    if all > 0 { common as f64 / all as f64 } else { 0.0 }
}

/// All pieces of a name; a shorter one is a piece itself.
fn pieces(name: &str) -> BTreeSet<Vec<char>> {
    let letters: Vec<char> = name.chars().take(LETTERS).collect();
    if letters.len() < PIECE {
        return [letters].into();
    }
    letters.windows(PIECE).map(<[char]>::to_vec).collect()
}
