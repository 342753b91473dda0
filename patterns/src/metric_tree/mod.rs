//! Metrics that are not patterns, by unit and topic.
//!
//! Together with the patterns' metrics they form the metric tree of the report, with the reference's unique
//! names and nesting. Metrics of the reference that nothing fills yet are omitted: always zero would look
//! like "analysed, and fine".

mod bytes;
mod counts;
mod critical_path;
mod delays;
mod files;
mod imbalance;
mod overlap;
mod propagation;
mod time;

use crate::metric::Metric;

/// The metrics of root causes, parents first.
pub(crate) fn of_causes() -> impl Iterator<Item = Metric> {
    [delays::METRICS, propagation::METRICS, critical_path::METRICS].into_iter().flatten().copied()
}

/// In the order of the report: parents precede children.
pub(crate) fn metrics() -> impl Iterator<Item = Metric> {
    let lists = [
        time::METRICS,
        counts::METRICS,
        bytes::METRICS,
        files::METRICS,
        delays::METRICS,
        propagation::METRICS,
        critical_path::METRICS,
        imbalance::METRICS,
        overlap::METRICS,
    ];
    lists.into_iter().flatten().copied()
}
