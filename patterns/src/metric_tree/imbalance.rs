//! Metrics of computational imbalance: the difference of each location's computation from the mean.

use crate::metric::Metric;
use crate::metric::Source::Comparison;
use crate::metric::Unit::Seconds;

pub(super) const METRICS: &[Metric] = &[
    Metric::root(
        "imbalance",
        "Computational imbalance",
        Seconds,
        Comparison,
        "Difference between the computation of a location and the mean of all.",
    ),
    Metric::below(
        "imbalance",
        "imbalance_above",
        "Overload",
        Seconds,
        Comparison,
        "Computation of a location above the mean.",
    ),
    Metric::below(
        "imbalance_above",
        "imbalance_above_single",
        "Single participant",
        Seconds,
        Comparison,
        "Computation above the mean where only one location computes.",
    ),
    Metric::below(
        "imbalance",
        "imbalance_below",
        "Underload",
        Seconds,
        Comparison,
        "Computation that a location lacks to the mean.",
    ),
    Metric::below(
        "imbalance_below",
        "imbalance_below_bypass",
        "Non-participation",
        Seconds,
        Comparison,
        "Computation that a location lacks to the mean where it never comes.",
    ),
    Metric::below(
        "imbalance_below_bypass",
        "imbalance_below_singularity",
        "Singularity",
        Seconds,
        Comparison,
        "Computation that a location lacks to the mean where only another one ever comes.",
    ),
];
