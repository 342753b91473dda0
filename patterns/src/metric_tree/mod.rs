//! Metrics that are not patterns, by unit and topic.
//!
//! Together with the patterns' metrics they form the metric tree of the report, with the reference's unique
//! names and nesting. Metrics of the reference that nothing fills yet are omitted: always zero would look
//! like "analysed, and fine".

mod accelerators;
mod bytes;
mod counts;
mod critical_path;
mod delays;
mod file_requests;
mod files;
mod imbalance;
mod memory;
mod off_cpu;
mod overlap;
mod propagation;
mod time;

use crate::metric::Metric;

/// The metrics of root causes, parents first.
pub(crate) fn of_causes() -> impl Iterator<Item = Metric> {
    let lists = [delays::METRICS, accelerators::COSTS, propagation::METRICS, critical_path::METRICS];
    lists.into_iter().flatten().copied()
}

/// The metrics of the model of file I/O.
pub(crate) fn of_file_model() -> impl Iterator<Item = Metric> {
    file_requests::METRICS.iter().copied()
}

/// The metrics of time off the processor.
pub(crate) fn of_off_cpu() -> impl Iterator<Item = Metric> {
    off_cpu::METRICS.iter().copied()
}

/// The metrics of memory.
pub(crate) fn of_memory() -> impl Iterator<Item = Metric> {
    memory::METRICS.iter().copied()
}

/// The metrics of functions of accelerators' interfaces.
pub(crate) fn of_interfaces() -> impl Iterator<Item = Metric> {
    accelerators::INTERFACES.iter().copied()
}

/// The metrics of streams of accelerators, and of waiting for them, other than those of patterns.
pub(crate) fn of_streams() -> impl Iterator<Item = Metric> {
    [accelerators::STREAMS, accelerators::COSTS].into_iter().flatten().copied()
}

/// In the order of the report: parents precede children.
pub(crate) fn metrics() -> impl Iterator<Item = Metric> {
    let lists = [
        time::METRICS,
        accelerators::INTERFACES,
        counts::METRICS,
        bytes::METRICS,
        files::METRICS,
        file_requests::METRICS,
        delays::METRICS,
        accelerators::COSTS,
        propagation::METRICS,
        critical_path::METRICS,
        imbalance::METRICS,
        overlap::METRICS,
        off_cpu::METRICS,
        memory::METRICS,
        accelerators::STREAMS,
    ];
    lists.into_iter().flatten().copied()
}
