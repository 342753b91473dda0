//! The formula layer: metrics that follow from others, for one location at a time.
//!
//! Viewers could compute these themselves, from expressions in the report; not all readers can, so values are stored.

use patterns::Source;

use crate::call_tree::CallTree;
use crate::metrics::Metrics;
use crate::severity::{MetricId, Severities};
use crate::trace::Trace;

/// Which regions each metric selects, as far as it selects any.
#[derive(Clone, Debug)]
pub struct Selections {
    /// By metric, then by position of the region; empty for metrics that do not select.
    selected: Vec<Vec<bool>>,
    program: u32,
}

impl Selections {
    /// Evaluates every metric's selection on every region, once.
    pub fn new(trace: &Trace, metrics: &Metrics) -> Selections {
        let select = |select: fn(&model::Region) -> bool| {
            (0..trace.region_count() as u32).map(|at| select(trace.region(at))).collect()
        };
        let selected = metrics
            .list
            .iter()
            .map(|metric| match metric.source {
                Source::TimeIn(regions) | Source::VisitsOf(regions) => select(regions),
                Source::Measured | Source::Sum | Source::Rest(..) => Vec::new(),
            })
            .collect();
        Selections { selected, program: trace.artificial(crate::trace::Artificial::Program) }
    }

    /// Whether a metric selects the region of a call path.
    fn holds(&self, metric: MetricId, region: u32) -> bool {
        let regions = &self.selected[metric];
        regions.get(region as usize).copied().unwrap_or_else(|| regions[self.program as usize])
    }
}

/// Computes all metrics of a location that are not measured.
pub fn derive(severities: &mut Severities, tree: &CallTree, metrics: &Metrics, selections: &Selections) {
    let number = |id: &str| metrics.list.iter().position(|metric| metric.id == id);
    // Selections first: sums and rests are made of them.
    for (at, metric) in metrics.list.iter().enumerate() {
        let base = match metric.source {
            Source::TimeIn(_) => metrics.time,
            Source::VisitsOf(_) => metrics.visits,
            Source::Measured | Source::Sum | Source::Rest(..) => continue,
        };
        let regions = tree.paths().iter().map(|path| path.region);
        let values = severities.column(base).iter().zip(regions);
        let column = values.map(|(&value, region)| if selections.holds(at, region) { value } else { 0 });
        let column = trimmed(column.collect());
        severities.set_column(at, column);
    }
    // Children stand behind their parents.
    for (at, metric) in metrics.list.iter().enumerate().rev() {
        if !matches!(metric.source, Source::Sum) {
            continue;
        }
        let mut column = Vec::new();
        for (child, below) in metrics.list.iter().enumerate() {
            if below.parent == Some(metric.id) {
                combine(&mut column, severities.column(child), i64::saturating_add);
            }
        }
        severities.set_column(at, column);
    }
    for (at, metric) in metrics.list.iter().enumerate() {
        if let Source::Rest(of, without) = metric.source {
            let mut column = number(of).map_or(Vec::new(), |of| severities.column(of).to_vec());
            for part in without.iter().filter_map(|id| number(id)) {
                combine(&mut column, severities.column(part), i64::saturating_sub);
            }
            severities.set_column(at, trimmed(column));
        }
    }
}

/// Drops zeros at the end.
fn trimmed(mut column: Vec<i64>) -> Vec<i64> {
    let length = column.iter().rposition(|&value| value != 0).map_or(0, |last| last + 1);
    column.truncate(length);
    column
}

fn combine(column: &mut Vec<i64>, other: &[i64], operation: impl Fn(i64, i64) -> i64) {
    if column.len() < other.len() {
        column.resize(other.len(), 0);
    }
    for (value, &other) in column.iter_mut().zip(other) {
        *value = operation(*value, other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call_tree::{NO_PATH, NO_SITE};
    use crate::options::Semantics;
    use crate::trace::Trace;
    use model::{Paradigm, Region, RegionRole};

    #[test]
    fn classes_of_time_follow_from_the_regions_and_sum_up() {
        let mut definitions = crate::trace::tests::world(&[0]);
        for (at, (name, paradigm, role)) in [
            ("main", Paradigm::COMPILER, RegionRole::FUNCTION),
            ("MPI_Recv", Paradigm::MPI, RegionRole::POINT2POINT),
            ("MPI_Wtime", Paradigm::MPI, RegionRole::FUNCTION),
        ]
        .into_iter()
        .enumerate()
        {
            let region = Region { name: name.into(), paradigm, role, ..Region::default() };
            definitions.regions.push(at as u64, region).unwrap();
        }
        let trace = Trace::new(definitions, Semantics::Corrected).unwrap();
        let metrics = Metrics::new();
        let mut tree = CallTree::default();
        tree.enter(NO_PATH, 0, NO_SITE);
        tree.enter(0, 1, NO_SITE);
        tree.enter(0, 2, NO_SITE);
        let mut severities = Severities::new(metrics.list.len());
        severities.set_column(metrics.time, vec![50, 30, 20]);
        derive(&mut severities, &tree, &metrics, &Selections::new(&trace, &metrics));
        let column = |id: &str| {
            let at = metrics.list.iter().position(|metric| metric.id == id).unwrap();
            severities.column(at).to_vec()
        };
        assert_eq!(column("execution"), [50, 30, 20]);
        assert_eq!(column("comp"), [50]);
        assert_eq!(column("mpi"), [0, 30, 20]);
        assert_eq!(column("mpi_communication"), [0, 30]);
        assert_eq!(column("overhead"), []);
    }
}
