//! What delays cost in the long term, once it is known (specification 9.1, 9.3).
//!
//! It becomes known in an order of time, and is charged location by location when everything else is over. What a location did
//! more than the one that waits for it is kept from the short term, as long as that is not too much. A thousand members of an
//! operation may wait for one that has been through thousands of functions: the rest is asked for again.

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

/// Charges costs of a tick, by class, to excess work by row.
fn charge(metrics: &Metrics, lines: &mut Lines, line: usize, costs: &Costs, excess: &[(Row, Ticks)]) {
    for (class, &cost) in Class::ALL.into_iter().zip(costs).filter(|(_, cost)| **cost > 0.0) {
        lines.charge(line, metrics.delay_costs[class as usize][1], cost, excess);
    }
}

/// What a tick of excess work costs, by cause: in the short term and in the long term, all classes together.
pub(super) fn per_tick(causes: &Causes, costs: impl Iterator<Item = (u32, Costs)>) -> Vec<f64> {
    let of_short_term =
        causes.list.iter().map(|cause| if cause.denominator > 0.0 { cause.scale } else { 0.0 });
    let mut per_tick: Vec<f64> = of_short_term.collect();
    for (cause, costs) in costs {
        per_tick[cause as usize] += costs.iter().sum::<f64>();
    }
    per_tick
}

/// Charges what a tick of each cause costs, to one cause after the other. Where the excess work was too much to keep, asks for
/// the work of those that waited, and compares it again.
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
