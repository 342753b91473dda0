//! Culprits: the places with the largest costs, who waits for them, and between which calls they were slow.
//!
//! They are known once all costs are, and on every worker. What else is said of them takes a second look at their delays
//! alone: nothing of it is kept for all places.

mod excess;
mod forward;
mod stretch;
mod victims;

pub use stretch::Stretch;
pub use victims::Victims;

use super::backward::Returned;
use super::delay::Class;
use super::lines::Lines;
use super::sides::{Causes, Waits};
use crate::error::Error;
use crate::exchange::batch::{BatchReader, halves, pair, wide};
use crate::exchange::{Exchange, share};
use crate::relay;
use crate::report_paths::ReportPaths;
use crate::severity::Row;
use crate::tools::Tools;
use excess::Excess;
use forward::Forward;

/// How many there are, at most.
pub(super) const NAMED: usize = 5;

/// A place that made others wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Culprit {
    /// Call path of the report.
    pub path: u32,
    /// Position of the location in the report.
    pub location: u32,
    /// What the others' waiting costs, in ticks as a fixed-point number.
    pub costs: i128,
    /// The class with the largest part of the costs.
    pub class: Class,
}

/// What is said of a culprit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Named {
    /// The place.
    pub culprit: Culprit,
    /// Who waits for it, and where.
    pub victims: Option<Victims>,
    /// Between which calls of MPI it was slow, if it calls MPI itself.
    pub stretch: Option<Stretch>,
}

/// Finds the culprits, and what is said of them: that on worker 0 only.
///
/// # Errors
/// If a worker failed.
pub(super) fn find(
    tools: &Tools<'_>,
    paths: &ReportPaths,
    lines: &mut Lines,
    waits: &Waits,
    causes: &Causes,
    returned: Returned,
    exchange: &mut dyn Exchange,
) -> Result<Vec<Named>, Error> {
    let culprits = choose(tools, paths, lines, exchange)?;
    if culprits.is_empty() {
        return Ok(Vec::new());
    }
    let excess = Excess::find(tools, &culprits, lines, waits, causes, exchange)?;
    let stretches =
        stretch::find(tools, paths, &culprits, lines, causes, &returned.per_tick, &excess, exchange)?;
    let mut forward =
        Forward::new(tools, lines, waits, causes, returned, &culprits, &excess, exchange.worker());
    relay::run(&mut forward, exchange);
    let victims = victims::find(paths, &culprits, forward.into_waiting(), exchange)?;
    let named = culprits.into_iter().zip(victims).zip(stretches);
    Ok(named.map(|((culprit, victims), stretch)| Named { culprit, victims, stretch }).collect())
}

/// The places with the largest costs, the largest first; of equals the first call path and location. Starting up and
/// shutting down is none: nobody can do much about that.
fn choose(
    tools: &Tools<'_>,
    paths: &ReportPaths,
    lines: &Lines,
    exchange: &mut dyn Exchange,
) -> Result<Vec<Culprit>, Error> {
    let kind =
        |path: u32| tools.trace.kinds.get(paths.tree[paths.order[path as usize] as usize].region as usize);
    let is_start_up = |path: u32| kind(path).is_some_and(|kind| kind.is_init || kind.is_finalize);
    let mut worst = Vec::new();
    for at in 0..lines.len() {
        let of_class = |class: Class, row: Row| -> i128 {
            let metrics = tools.metrics.delay_costs[class as usize];
            let costs = metrics.map(|metric| lines.shares(at).value(metric, row));
            costs[0].saturating_add(costs[1])
        };
        for row in lines.shares(at).rows() {
            let path = lines.path(at, row);
            let costs = Class::ALL.map(|class| of_class(class, row));
            let all = costs.iter().fold(0, |sum: i128, &costs| sum.saturating_add(costs));
            if all > 0 && !is_start_up(path) {
                let largest = Class::ALL.into_iter().rev().max_by_key(|&class| costs[class as usize]);
                let class = largest.unwrap_or(Class::LateSender);
                let location = lines.location(at);
                insert(&mut worst, Culprit { path, location, costs: all, class });
            }
        }
    }
    let encode = |culprit: &Culprit| {
        let [high, low] = wide(culprit.costs.cast_unsigned());
        [pair(culprit.path, culprit.location), culprit.class as u64, high, low]
    };
    let told = share(exchange, worst.iter().flat_map(encode).collect())?;
    worst.clear();
    for batch in &told {
        let mut reader = BatchReader::new(batch);
        while !reader.is_empty() {
            let (path, location) = halves(reader.word());
            let class = Class::ALL[reader.word() as usize];
            insert(&mut worst, Culprit { path, location, class, costs: reader.wide().cast_signed() });
        }
    }
    Ok(worst)
}

/// Keeps a culprit, if it is one of the worst.
fn insert(worst: &mut Vec<Culprit>, culprit: Culprit) {
    let rank = |culprit: &Culprit| (-culprit.costs, culprit.path, culprit.location);
    let at = worst.partition_point(|other| rank(other) < rank(&culprit));
    if at < NAMED {
        worst.insert(at, culprit);
        worst.truncate(NAMED);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn largest_costs_are_kept_in_order() {
        let mut worst = Vec::new();
        for (path, costs) in (0..).zip([3, 9, 4, 9, 1, 7, 5, 8]) {
            for location in [6, 5] {
                insert(&mut worst, Culprit { path, location, costs, class: Class::Barrier });
            }
        }
        let places: Vec<_> = worst.iter().map(|culprit| (culprit.path, culprit.location)).collect();
        assert_eq!(places, [(1, 5), (1, 6), (3, 5), (3, 6), (7, 5)]);
    }
}
