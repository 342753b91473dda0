//! Metrics of the critical path and its imbalance.

use crate::metric::Metric;
use crate::metric::Source::{Rest, Shares, Sum};
use crate::metric::Unit::Seconds;

pub(super) const METRICS: &[Metric] = &[
    Metric::root(
        "critical_path",
        "Critical path",
        Seconds,
        Shares,
        "Time on the chain of activities that the length of the run depends on, until MPI_Finalize. Where it is on several threads at once, all of them count.",
    ),
    Metric::below(
        "critical_path",
        "critical_path_imbalance",
        "Imbalance",
        Seconds,
        Shares,
        "Time on the critical path by which it exceeds what all locations do on average.",
    ),
    Metric::root(
        "performance_impact",
        "Performance impact",
        Seconds,
        Sum,
        "Time of all locations, by how it depends on the critical path.",
    ),
    Metric::below(
        "performance_impact",
        "performance_impact_criticalpath",
        "Critical-path activities",
        Seconds,
        Sum,
        "Time that all locations spend because of what is on the critical path.",
    ),
    Metric::below(
        "performance_impact_criticalpath",
        "critical_path_activities",
        "Activity impact",
        Seconds,
        Shares,
        "Time of locations in what is also on the critical path.",
    ),
    Metric::below(
        "performance_impact_criticalpath",
        "critical_imbalance_impact",
        "Imbalance impact",
        Seconds,
        Shares,
        "Time lost because what is on the critical path is not done by all alike.",
    ),
    Metric::below(
        "critical_imbalance_impact",
        "intra_partition_imbalance",
        "Intra-partition imbalance",
        Seconds,
        Rest("critical_imbalance_impact", &["inter_partition_imbalance"]),
        "Loss between locations that do the same.",
    ),
    Metric::below(
        "critical_imbalance_impact",
        "inter_partition_imbalance",
        "Inter-partition imbalance",
        Seconds,
        Shares,
        "Loss between locations that do different things.",
    ),
    Metric::below(
        "performance_impact",
        "non_critical_path_activities",
        "Non-critical-path activities",
        Seconds,
        Shares,
        "Time of locations beyond their share of what is on the critical path.",
    ),
];
