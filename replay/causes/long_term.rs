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
use crate::metrics::Metrics;
use crate::severity::Row;

/// What is still to be charged to a cause.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owed {
    cause: u32,
    class: Class,
    /// What a tick of it costs.
    cost: f64,
}

/// What is to be charged to a cause, if a tick of it costs so much.
pub(super) fn owed(cause: u32, costs: &Costs) -> impl Iterator<Item = Owed> {
    let owed = Class::ALL.into_iter().zip(costs).map(move |(class, &cost)| Owed { cause, class, cost });
    owed.filter(|owed| owed.cost > 0.0)
}

/// Charges what is owed to a cause to its excess work by row.
fn charge(metrics: &Metrics, lines: &mut Lines, line: usize, owed: &[Owed], excess: &[(Row, Ticks)]) {
    for owed in owed {
        lines.charge(line, metrics.delay_costs[owed.class as usize][1], owed.cost, excess);
    }
}

/// Charges all that is owed, to one cause after the other. Where the excess work was too much to keep, asks for the work of
/// those that waited, and compares it again.
///
/// # Errors
/// If a worker failed.
pub(super) fn settle(
    metrics: &Metrics,
    lines: &mut Lines,
    waits: &Waits,
    causes: &Causes,
    owed: &[Owed],
    exchange: &mut dyn Exchange,
) -> Result<(), Error> {
    let workers = exchange.workers();
    let mut of_worker: Vec<Vec<&[Owed]>> = vec![Vec::new(); workers];
    let mut questions = vec![Batch::new(); workers];
    for owed in owed.chunk_by(|a, b| a.cause == b.cause) {
        let cause = &causes.list[owed[0].cause as usize];
        match cause.long_term {
            LongTerm::Nothing => {}
            LongTerm::Kept(first, count) => {
                let line = lines.at(cause.delay.causing.location);
                charge(metrics, lines, line, owed, &causes.shares[first as usize..][..count as usize]);
            }
            LongTerm::Again => {
                let (worker, number) = causes.told(owed[0].cause);
                questions[worker].push(number.into());
                of_worker[worker].push(owed);
            }
        }
    }
    let asked = exchange.exchange(questions)?;
    let counts: Vec<usize> = asked.iter().map(Vec::len).collect();
    let wait =
        |worker: usize, number: usize| waits.list[waits.firsts[worker] + asked[worker][number] as usize];
    let mut excess = Excess::default();
    work::bring(
        lines,
        &counts,
        wait,
        |_, _| true,
        exchange,
        |lines, Told { worker, number, .. }| {
            let owed = of_worker[worker][number];
            let cause = &causes.list[owed[0].cause as usize];
            let line = lines.at(cause.delay.causing.location);
            let excess = excess.of(lines, cause);
            charge(metrics, lines, line, owed, excess);
        },
    )
}
