//! Definitions of wait states, one file a pattern, and the tree of metrics that they fill.
//!
//! `ls` of this folder is the list of wait states. A pattern is a pure function over matched operations
//! ([`matched`]) with its metric as data ([`Pattern`]). Reports and summaries follow from the list
//! [`PATTERNS`], and a test compares the documentation with it.
//!
//! To add one: a file with its `PATTERN`, and its line in the two lists below. A test reports what is
//! missing.
//!
//! Deliberately absent: files, exchange between workers, and any state; patterns do not know each other.

// Casts that may lose bits are written nowhere: no reader need ask whether their numbers fit.
#![cfg_attr(
    not(test),
    deny(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::undocumented_unsafe_blocks)
)]

mod accelerators;
mod barrier_completion;
mod barrier_wait;
mod condition_contention;
mod create_wait;
mod critical_contention;
mod device_wait;
mod device_wait_for_copy;
mod device_wait_for_kernel;
mod early_fence;
mod early_reduce;
mod early_scan;
mod early_wait;
mod explanation;
mod fence_wait;
mod file_calls;
mod file_handling_wait;
mod file_transfer_completion;
mod file_transfer_wait;
mod finalize_wait;
mod free_wait;
mod init_completion;
mod late_broadcast;
mod late_complete;
mod late_post;
mod late_post_at_access;
mod late_receiver;
mod late_sender;
mod lock_competition;
mod lock_competition_at_access;
mod message_progress;
mod mutex_contention;
mod neighbor_wait;
mod nonblocking_barrier;
mod nonblocking_broadcast;
mod nonblocking_create;
mod nonblocking_file_transfer;
mod nonblocking_neighbor;
mod nonblocking_nxn;
mod nonblocking_progress;
mod nonblocking_reduce;
mod nonblocking_scan;
mod nonblocking_wait;
mod nxn_completion;
mod openmp_explicit_barrier;
mod openmp_implicit_barrier;
mod openmp_lock_contention;
mod target_progress;
mod target_progress_at_access;
mod wait_at_nxn;
mod window_creation_wait;
mod window_release_wait;
mod wrong_order;
mod wrong_order_different;
mod wrong_order_same;

pub use regions::{file_functions as is_file_function, mpi as is_mpi_call};

pub mod collective;
pub mod matched;
mod metric;
mod metric_tree;
mod pattern;
mod regions;

pub use explanation::{Explanation, Kind, Lane, Picture, Segment};
pub use metric::{Metric, Source, StateNumber, Unit};
pub use pattern::{Detect, Pattern, Statistics, Within};

/// All patterns, in the order of the report.
pub const PATTERNS: &[Pattern] = &[
    init_completion::PATTERN,
    finalize_wait::PATTERN,
    create_wait::PATTERN,
    free_wait::PATTERN,
    file_handling_wait::PATTERN,
    window_creation_wait::PATTERN,
    window_release_wait::PATTERN,
    barrier_wait::PATTERN,
    barrier_completion::PATTERN,
    late_post::PATTERN,
    early_wait::PATTERN,
    late_complete::PATTERN,
    fence_wait::PATTERN,
    early_fence::PATTERN,
    lock_competition::PATTERN,
    target_progress::PATTERN,
    late_sender::PATTERN,
    wrong_order::PATTERN,
    wrong_order_different::PATTERN,
    wrong_order_same::PATTERN,
    late_receiver::PATTERN,
    message_progress::PATTERN,
    nonblocking_wait::PATTERN,
    nonblocking_barrier::PATTERN,
    nonblocking_nxn::PATTERN,
    nonblocking_broadcast::PATTERN,
    nonblocking_reduce::PATTERN,
    nonblocking_scan::PATTERN,
    nonblocking_neighbor::PATTERN,
    nonblocking_create::PATTERN,
    nonblocking_file_transfer::PATTERN,
    nonblocking_progress::PATTERN,
    early_reduce::PATTERN,
    early_scan::PATTERN,
    late_broadcast::PATTERN,
    wait_at_nxn::PATTERN,
    nxn_completion::PATTERN,
    neighbor_wait::PATTERN,
    late_post_at_access::PATTERN,
    lock_competition_at_access::PATTERN,
    target_progress_at_access::PATTERN,
    file_transfer_wait::PATTERN,
    file_transfer_completion::PATTERN,
    openmp_explicit_barrier::PATTERN,
    openmp_implicit_barrier::PATTERN,
    critical_contention::PATTERN,
    openmp_lock_contention::PATTERN,
    mutex_contention::PATTERN,
    condition_contention::PATTERN,
    device_wait::PATTERN,
    device_wait_for_kernel::PATTERN,
    device_wait_for_copy::PATTERN,
];

/// All metrics of the report; parents precede children, siblings are in the order of display.
pub fn metrics() -> Vec<Metric> {
    let of_patterns = PATTERNS.iter().map(|pattern| pattern.metric);
    let of_instances = PATTERNS.iter().flat_map(|pattern| pattern.instances.into_iter().flatten());
    metric_tree::metrics().chain(of_patterns).chain(of_instances).collect()
}

/// The metrics that only the analysis of root causes fills; their descendants are among them.
pub fn metrics_of_causes() -> impl Iterator<Item = Metric> {
    metric_tree::of_causes()
}

/// The metrics that are only there if a trace tells when threads were off the processor.
pub fn metrics_of_off_cpu() -> impl Iterator<Item = Metric> {
    metric_tree::of_off_cpu()
}

/// The metrics that are only there if a trace tells how much memory processes had in use.
pub fn metrics_of_memory() -> impl Iterator<Item = Metric> {
    metric_tree::of_memory()
}

/// The metrics that are only there if a trace has functions of CUDA, HIP or OpenCL.
pub fn metrics_of_interfaces() -> impl Iterator<Item = Metric> {
    metric_tree::of_interfaces()
}

/// The metrics that are only there if a trace has streams of accelerators, with kernels or copies.
pub fn metrics_of_streams() -> impl Iterator<Item = Metric> {
    let of_patterns = PATTERNS.iter().filter(|pattern| matches!(pattern.detect, Detect::DeviceWait(_)));
    metric_tree::of_streams().chain(of_patterns.map(|pattern| pattern.metric))
}

/// The metrics that only the model of file I/O fills.
pub fn metrics_of_file_model() -> impl Iterator<Item = Metric> {
    metric_tree::of_file_model()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parent_stands_before_its_children_and_no_name_twice() {
        let metrics = metrics();
        for (at, metric) in metrics.iter().enumerate() {
            let before = &metrics[..at];
            assert!(before.iter().all(|m| m.id != metric.id), "{} is defined twice", metric.id);
            if let Some(parent) = metric.parent {
                let parent = before.iter().find(|m| m.id == parent);
                let parent = parent.unwrap_or_else(|| panic!("{}: parent missing or later", metric.id));
                assert_eq!(parent.unit, metric.unit, "{} has another unit than its parent", metric.id);
            }
        }
    }

    #[test]
    fn every_rest_is_taken_from_metrics_that_exist() {
        let metrics = metrics();
        for metric in &metrics {
            if let Source::Rest(of, without) = metric.source {
                for name in without.iter().chain([&of]) {
                    assert!(metrics.iter().any(|m| m.id == *name), "{}: no metric {name}", metric.id);
                }
            }
        }
    }

    #[test]
    fn every_pattern_file_is_listed() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let patterns: Vec<_> = files
            .filter(|path| path.is_file())
            .filter(|path| {
                std::fs::read_to_string(path).unwrap().contains("pub(crate) const PATTERN: Pattern =")
            })
            .filter(|path| path.file_stem().unwrap() != "lib")
            .collect();
        assert_eq!(patterns.len(), PATTERNS.len(), "files with a pattern: {patterns:#?}");
    }
}
