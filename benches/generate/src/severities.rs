//! Closed forms: what an analysis has to find, as far as it follows from the pattern.

use std::collections::BTreeMap;

/// Sums of metrics over all call paths of a rank, in nanoseconds, bytes or occurrences.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Severities {
    sums: BTreeMap<&'static str, u64>,
}

impl Severities {
    /// Adds to a metric, which is known from then on, even if the amount is 0.
    pub(crate) fn add(&mut self, metric: &'static str, amount: u64) {
        *self.sums.entry(metric).or_default() += amount;
    }

    /// The metrics that are known, by their unique names, with their sums.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.sums.iter().map(|(&metric, &sum)| (metric, sum))
    }
}
