//! Severities of one location: integers by metric and call path, until the report is written.

use crate::call_tree::PathId;

/// Position of a metric in [`Metrics`](crate::metrics::Metrics).
pub type MetricId = usize;

/// A number of bytes or occurrences as a severity; absurd ones from a damaged trace are cut.
pub fn amount(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Severities of one location. Ticks, bytes and occurrences are exact integers, so that their sums do not depend on any
/// order.
#[derive(Clone, Debug, Default)]
pub struct Severities {
    /// By metric, then by call path; a column reaches as far as the last path that has a value.
    columns: Vec<Vec<i64>>,
}

impl Severities {
    /// No severities yet, of `metrics` metrics.
    pub fn new(metrics: usize) -> Severities {
        Severities { columns: vec![Vec::new(); metrics] }
    }

    /// Adds to the severity of a metric at a call path.
    pub fn add(&mut self, metric: MetricId, path: PathId, value: i64) {
        let column = &mut self.columns[metric];
        let at = path as usize;
        if at >= column.len() {
            column.resize(at + 1, 0);
        }
        column[at] = column[at].saturating_add(value);
    }

    /// Replaces all severities of a metric; position in `column` is the call path.
    pub fn set_column(&mut self, metric: MetricId, column: Vec<i64>) {
        self.columns[metric] = column;
    }

    /// The severities of a metric; position is the call path. May be shorter than the call tree: the rest is zero.
    pub fn column(&self, metric: MetricId) -> &[i64] {
        &self.columns[metric]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_add_up_at_their_path() {
        let mut severities = Severities::new(2);
        severities.add(1, 3, 5);
        severities.add(1, 3, 2);
        severities.add(1, 0, 1);
        assert_eq!(severities.column(1), [1, 0, 0, 7]);
        assert!(severities.column(0).is_empty());
    }
}
