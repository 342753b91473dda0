//! The metrics that are not patterns, by unit; those of imbalance by themselves.
//!
//! Together with the patterns' metrics this is the tree of the report, with the reference's unique names and nesting.
//! Left out are its metrics that nothing fills yet: a metric that is always zero would look like "analysed, and fine".

mod bytes;
mod counts;
mod imbalance;
mod time;

use crate::metric::Metric;

/// In the order of the report: parents precede children.
pub(crate) fn metrics() -> impl Iterator<Item = Metric> {
    [time::METRICS, counts::METRICS, bytes::METRICS, imbalance::METRICS].into_iter().flatten().copied()
}
