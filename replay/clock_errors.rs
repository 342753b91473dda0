//! A lower bound of clock errors, and the waiting that may be due to them alone.
//!
//! A message that is received before it was sent, or a collective operation that a member leaves before the
//! last one enters it, shows that clocks differ by at least that much. Waiting that is no longer than the
//! largest of these differences may not have happened at all.

use std::collections::BTreeMap;

use model::Ticks;

use crate::error::Error;
use crate::exchange::{Exchange, share};
use crate::matching::{Matches, Membership};
use crate::severity::MetricId;
use crate::walk::Walked;
use crate::wire::wire;

/// Returns the largest difference of clocks, in ticks, that any worker has found; 0 if there is none.
///
/// # Errors
/// If a worker failed.
pub fn largest(
    processes: &[Walked],
    matches: &[Matches],
    exchange: &mut dyn Exchange,
) -> Result<Ticks, Error> {
    let largest = processes.iter().zip(matches).map(|(walked, matches)| of_process(walked, matches)).max();
    let told = share(exchange, vec![largest.unwrap_or(0).cast_unsigned()])?;
    Ok(told.iter().flatten().map(|word| word.cast_signed()).max().unwrap_or(0))
}

fn of_process(walked: &Walked, matches: &Matches) -> Ticks {
    let operations = &walked.operations;
    let collectives = operations.collectives.iter().zip(&matches.collectives);
    let collectives = collectives.filter_map(|(collective, membership)| match *membership {
        Membership::Synchronising { last_begin, .. } => Some(last_begin - collective.end),
        Membership::Independent | Membership::Unmatched => None,
    });
    collectives.fold(matches.clock_error, Ticks::max)
}

/// Waiting that is no longer than the known error of the clocks.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Doubtful {
    /// The largest known clock error, in ticks; 0 if there is none.
    pub limit: Ticks,
    /// Ticks of waiting by metric.
    pub waiting: BTreeMap<MetricId, i64>,
}

impl Doubtful {
    /// Makes an empty sum for clocks with this error.
    pub fn new(limit: Ticks) -> Doubtful {
        Doubtful { limit, waiting: BTreeMap::new() }
    }

    /// Adds those ticks that count of an instance of waiting, if it is short enough to be doubtful.
    pub fn consider(&mut self, metric: MetricId, ticks: Ticks, counted: Ticks) {
        if ticks <= self.limit && counted > 0 {
            self.add(metric, counted);
        }
    }

    fn add(&mut self, metric: MetricId, ticks: Ticks) {
        let sum = self.waiting.entry(metric).or_default();
        *sum = sum.saturating_add(ticks);
    }

    /// Adds the doubtful waiting of another process or worker.
    pub fn merge(&mut self, other: &Doubtful) {
        self.limit = self.limit.max(other.limit);
        other.waiting.iter().for_each(|(&metric, &ticks)| self.add(metric, ticks));
    }
}

wire!(Doubtful { limit, waiting });

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire;

    #[test]
    fn waiting_is_doubtful_up_to_the_error_and_survives_the_way_to_another_worker() {
        let mut doubtful = Doubtful::new(10);
        [(3, 10), (3, 4), (3, 11), (5, 1)]
            .into_iter()
            .for_each(|(metric, ticks)| doubtful.consider(metric, ticks, ticks));
        let mut sum = Doubtful::default();
        sum.merge(&wire::one(&wire::batch_of([&doubtful])));
        sum.merge(&doubtful);
        assert_eq!((sum.limit, sum.waiting), (10, BTreeMap::from([(3, 28), (5, 2)])));
    }
}
