//! What delays cost in the long term, once it is known (specification 9.1, 9.3).
//!
//! What a location did more than the one that waits for it is kept from the short term, as long as that is not too much. A
//! thousand members of an operation may wait for one that has been through thousands of functions: the rest is asked for
//! again when everything else is over.

use model::Ticks;

use super::delay::{Class, Costs};
use super::lines::Lines;
use super::sides::{Causes, Waits};
use super::work::{self, Excess, Told};
use crate::error::Error;
use crate::exchange::{Batch, Exchange};
use crate::metrics::Metrics;
use crate::severity::Row;

/// What is still to be charged to a cause.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owed {
    /// The cause.
    pub(super) cause: u32,
    /// What a tick of it costs in the long term, by class.
    pub(super) costs: Costs,
}

/// Charges long-term costs to the excess work by row; `costs` are those of a tick.
pub(super) fn charge(
    metrics: &Metrics,
    lines: &mut Lines,
    line: usize,
    costs: &Costs,
    excess: &[(Row, Ticks)],
) {
    for class in Class::ALL.into_iter().filter(|&class| costs[class as usize] > 0.0) {
        lines.charge(line, metrics.delay_costs[class as usize][1], costs[class as usize], excess);
    }
}

/// Charges what is owed: asks for the work of those that waited, and compares it again.
///
/// # Errors
/// If a worker failed.
pub(super) fn settle(
    metrics: &Metrics,
    lines: &mut Lines,
    waits: &Waits,
    causes: &Causes,
    owed: Vec<Owed>,
    exchange: &mut dyn Exchange,
) -> Result<(), Error> {
    let workers = exchange.workers();
    let mut of_worker: Vec<Vec<Owed>> = vec![Vec::new(); workers];
    let mut questions = vec![Batch::new(); workers];
    for owed in owed {
        let (worker, number) = causes.told(owed.cause);
        questions[worker].push(number.into());
        of_worker[worker].push(owed);
    }
    let asked = exchange.exchange(questions)?;
    let counts: Vec<usize> = asked.iter().map(Vec::len).collect();
    let wait =
        |worker: usize, number: usize| waits.list[waits.firsts[worker] + asked[worker][number] as usize];
    let mut excess = Excess::default();
    work::bring(lines, &counts, wait, exchange, |lines, Told { worker, number, .. }| {
        let Owed { cause, costs } = &of_worker[worker][number];
        let cause = &causes.list[*cause as usize];
        let line = lines.at(cause.delay.causing.location);
        let excess = excess.of(lines, cause);
        charge(metrics, lines, line, costs, excess);
    })
}
