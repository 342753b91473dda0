//! The standard set of scenarios: what is usually worth a try, from what the run spends its time with (what-if 3.4).

use std::cmp::Reverse;

use model::Ticks;

use super::changes::{Excess, Paths};
use super::levers::WORTH;
use super::predict::Prediction;
use super::scenario::{Change, Place, Scenario};
use crate::error::Error;
use crate::exchange::Exchange;

/// Places with work above the mean that are tried, and barriers; and places that are looked at for that.
const PLACES: usize = 5;
const LOOKED_AT: usize = 64;
const BARRIERS: usize = 2;

/// Changes of a program that are tried together, each of which is worth it.
const TOGETHER: usize = 3;

/// The scenarios of the standard set, each once.
///
/// # Errors
/// If a worker failed.
pub(super) fn scenarios(paths: &Paths<'_>, exchange: &mut dyn Exchange) -> Result<Vec<Scenario>, Error> {
    let mut changes = vec![Change::Ideal, Change::Latency(0.5), Change::Bandwidth(2.0), Change::Eager(None)];
    let mut places: Vec<Excess> = Vec::new();
    for excess in paths.excesses(LOOKED_AT, exchange)? {
        // What is done below a place belongs to it, too: of those above each other the one with most excess of its own counts.
        let is_near = |it: &Excess| it.rank == excess.rank && are_related(&it.path, &excess.path);
        if places.len() < PLACES && !places.iter().any(is_near) {
            places.push(excess);
        }
    }
    for Excess { path, rank, .. } in places {
        changes.push(Change::Level(Place { path: path.clone(), rank: Some(rank) }));
        changes.push(Change::Balance(path));
    }
    changes.extend(paths.barriers(BARRIERS, exchange)?.into_iter().map(Change::Remove));
    let mut scenarios: Vec<Scenario> = Vec::new();
    for change in changes {
        let scenario = Scenario::of(change.to_string(), change);
        if !scenarios.contains(&scenario) {
            scenarios.push(scenario);
        }
    }
    Ok(scenarios)
}

/// The changes of a program that gain most, together; `None` if fewer than two gain something.
pub(super) fn together(list: &[Prediction], run: Ticks) -> Option<Scenario> {
    let gains = |it: &&Prediction| (run - it.ticks) as f64 > WORTH * run as f64;
    let mut best: Vec<&Prediction> =
        list.iter().filter(|it| place(&it.scenario).is_some()).filter(gains).collect();
    best.sort_by_key(|it| it.ticks);
    let mut chosen: Vec<&Scenario> = Vec::new();
    for it in best {
        // Of one place only the first.
        let is_near = |other: &&Scenario| {
            place(other).zip(place(&it.scenario)).is_some_and(|(one, other)| are_related(one, other))
        };
        if !chosen.iter().any(is_near) {
            chosen.push(&it.scenario);
        }
    }
    chosen.truncate(TOGETHER);
    (chosen.len() > 1).then(|| Scenario::together(&chosen))
}

/// Sorts predictions by what they gain, most first.
pub(super) fn sort(list: &mut [Prediction], run: Ticks) {
    list.sort_by_key(|it| Reverse(run - it.ticks));
}

/// Whether one of two call paths is above the other, or they are the same.
fn are_related(one: &str, other: &str) -> bool {
    let is_above = |above: &str, below: &str| {
        below.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    is_above(one, other) || is_above(other, one)
}

/// The call path that a change of the program is at; `None` of one of the network.
fn place(scenario: &Scenario) -> Option<&str> {
    match &scenario.changes[..] {
        [Change::Level(Place { path, .. }) | Change::Balance(path) | Change::Remove(path)] => Some(path),
        _ => None,
    }
}
