//! Charging of long-term costs of delays (specification 9.1, 9.3).
//!
//! Costs become known in an order of time, and are charged location by location when everything else is done.
//! The excess of a causing location is kept from the short term, as long as that is not too much. A thousand
//! members of an operation may wait for one that has called thousands of functions: the rest is requested
//! again.

use std::collections::BTreeMap;

use model::Ticks;

use super::by_iteration::Extent;
use super::delay::{Costs, DelayClass};
use super::lines::Lines;
use super::sides::{Causes, Waits};
use super::work;
use crate::error::Error;
use crate::exchange::Exchange;
use crate::ids::Row;
use crate::metrics::Metrics;

/// Charges costs per tick, by class, to excess by row.
fn charge(
    metrics: &Metrics,
    lines: &mut Lines,
    line: usize,
    costs: &Costs,
    (extent, excess): (Extent, &[(Row, Ticks)]),
) {
    for (class, &cost) in DelayClass::ALL.into_iter().zip(costs).filter(|(_, cost)| **cost > 0.0) {
        lines.charge(line, metrics.delay_costs[class as usize][1], cost, (extent, excess));
    }
}

/// Costs per tick of excess, by cause: short-term and long-term costs, all classes together.
pub(super) fn per_tick(causes: &Causes, costs: impl Iterator<Item = (u32, Costs)>) -> Vec<f64> {
    let of_short_term = causes.list.iter().enumerate();
    let of_short_term =
        of_short_term.map(|(at, cause)| if cause.denominator > 0.0 { causes.cost(at) } else { 0.0 });
    let mut per_tick: Vec<f64> = of_short_term.collect();
    for (cause, costs) in costs {
        per_tick[cause as usize] += costs.iter().sum::<f64>();
    }
    per_tick
}

/// Charges the costs per tick of each cause, one cause after the other. Where the excess was too much to
/// keep, requests the time maps of the waiting locations, and compares again.
///
/// # Errors
/// If a worker failed.
pub(super) fn settle(
    metrics: &Metrics,
    lines: &mut Lines,
    (waits, causes): (&Waits, &Causes),
    costs: impl Iterator<Item = (u32, Costs)>,
    exchange: &mut dyn Exchange,
) -> Result<(), Error> {
    let mut again: BTreeMap<u32, Costs> = BTreeMap::new();
    let place = |lines: &Lines, number: u32| {
        let spot = causes.list[number as usize].delay.causing;
        let line = lines.at(spot.location);
        let since = causes.since(number as usize, lines.line(line));
        (line, Extent { since, before: spot.position })
    };
    for (number, costs) in costs {
        match causes.excess(number) {
            Some(excess) => {
                let (line, extent) = place(lines, number);
                charge(metrics, lines, line, &costs, (extent, excess));
            }
            None if costs.iter().any(|&cost| cost > 0.0) => _ = again.insert(number, costs),
            None => {}
        }
    }
    let numbers = again.keys().copied();
    work::compare_again(
        lines,
        (waits, causes),
        numbers,
        |_, _| true,
        exchange,
        |lines, number, excess| {
            let (line, extent) = place(lines, number);
            charge(metrics, lines, line, &again[&number], (extent, excess));
        },
    )
}
