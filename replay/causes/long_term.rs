//! Charging of long-term costs of delays (specification 9.1, 9.3).
//!
//! Costs become known in an order of time, and are charged location by location when everything else is done.
//! The excess of a causing location is kept from the short term, as long as that is not too much. A thousand
//! members of an operation may wait for one that has called thousands of functions: the rest is requested
//! again.

use model::Ticks;

use super::delay::{Class, Costs};
use super::lines::Lines;
use super::sides::{Causes, LongTerm, Waits};
use super::work::{self, Excess, Told};
use crate::error::Error;
use crate::exchange::{Batch, Exchange};
use crate::int::to_usize;
use crate::metrics::Metrics;
use crate::severity::Row;

/// Charges costs per tick, by class, to excess by row.
fn charge(metrics: &Metrics, lines: &mut Lines, line: usize, costs: &Costs, excess: &[(Row, Ticks)]) {
    for (class, &cost) in Class::ALL.into_iter().zip(costs).filter(|(_, cost)| **cost > 0.0) {
        lines.charge(line, metrics.delay_costs[class as usize][1], cost, excess);
    }
}

/// Costs per tick of excess, by cause: short-term and long-term costs, all classes together.
pub(super) fn per_tick(causes: &Causes, costs: impl Iterator<Item = (u32, Costs)>) -> Vec<f64> {
    let of_short_term =
        causes.list.iter().map(|cause| if cause.denominator > 0.0 { cause.scale } else { 0.0 });
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
    let workers = exchange.workers();
    let mut of_worker: Vec<Vec<(u32, Costs)>> = vec![Vec::new(); workers];
    let mut questions = vec![Batch::new(); workers];
    for (number, costs) in costs {
        let cause = &causes.list[number as usize];
        match cause.long_term {
            LongTerm::Nothing => {}
            LongTerm::Kept(first, count) => {
                let line = lines.at(cause.delay.causing.location);
                charge(metrics, lines, line, &costs, &causes.shares[first as usize..][..count as usize]);
            }
            LongTerm::Again if costs.iter().any(|&cost| cost > 0.0) => {
                let (worker, of_worker_number) = causes.told(number);
                questions[worker].push(of_worker_number.into());
                of_worker[worker].push((number, costs));
            }
            LongTerm::Again => {}
        }
    }
    let asked = exchange.exchange(questions)?;
    let counts: Vec<usize> = asked.iter().map(Vec::len).collect();
    let wait =
        |worker: usize, number: usize| waits.list[waits.firsts[worker] + to_usize(asked[worker][number])];
    let mut excess = Excess::default();
    work::bring(
        lines,
        &counts,
        wait,
        |_, _| true,
        exchange,
        |lines, Told { worker, number, .. }| {
            let (cause, costs) = &of_worker[worker][number];
            let cause = &causes.list[*cause as usize];
            let line = lines.at(cause.delay.causing.location);
            let excess = excess.of(lines, cause);
            charge(metrics, lines, line, costs, excess);
        },
    )
}
