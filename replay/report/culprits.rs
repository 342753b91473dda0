//! Who made the others wait: the places with the largest delay costs, and what else is known of them.

use super::rows::Value;
use crate::fraction::float;
use crate::imbalance::Totals;
use crate::metrics::Metrics;
use crate::severity::MetricId;

/// How many are named.
const NAMED: usize = 5;

/// The kinds of costs, long and short term together, and what the others do.
const KINDS: [(&str, &str); 8] = [
    ("delay_latesender_aggregate", "late senders"),
    ("delay_latereceiver_aggregate", "late receivers"),
    ("delay_barrier_aggregate", "waiting at barriers"),
    ("delay_n21_aggregate", "early reductions"),
    ("delay_12n_aggregate", "late broadcasts"),
    ("delay_n2n_aggregate", "waiting at N x N"),
    ("delay_ompbarrier_aggregate", "waiting at OpenMP barriers"),
    ("delay_ompidle_aggregate", "idle threads"),
];

/// A place that made others wait.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Culprit {
    /// Call path of the report.
    pub(super) path: u32,
    pub(super) location: u32,
    /// What the others' waiting costs, in ticks as a fixed-point number.
    pub(super) costs: i128,
    /// The largest part of these costs: what the others do, and its value.
    pub(super) kind: Option<(&'static str, i128)>,
    /// Whether it is on the critical path.
    pub(super) is_critical: bool,
    /// Computation above the mean, in ticks as a fixed-point number.
    above: i128,
}

/// The largest delay costs, as they are collected from the rows of the report.
#[derive(Debug)]
pub(super) struct Culprits {
    /// `delay`: comes before all others.
    delay: MetricId,
    kinds: Vec<(MetricId, &'static str)>,
    /// Whether a call path of the report is one of starting up or shutting down, which nobody can do much about.
    is_start_up: Vec<bool>,
    critical_path: MetricId,
    above: MetricId,
    /// The largest, the largest first; of equals the first call path and location.
    worst: Vec<Culprit>,
    /// All costs.
    total: i128,
}

impl Culprits {
    /// `is_start_up` tells by call path of the report which ones are not named.
    pub(super) fn new(metrics: &Metrics, is_start_up: Vec<bool>) -> Culprits {
        let id = |name: &str| metrics.find(name).unwrap_or(MetricId::MAX);
        Culprits {
            delay: id("delay"),
            kinds: KINDS.iter().map(|&(name, kind)| (id(name), kind)).collect(),
            is_start_up,
            critical_path: metrics.critical_path,
            above: id("imbalance_above"),
            worst: Vec::new(),
            total: 0,
        }
    }

    /// Adds a row.
    pub(super) fn add(&mut self, metric: MetricId, row: &[Value]) {
        if metric == self.delay {
            row.iter().for_each(|value| self.consider(value));
            return;
        }
        let kind = self.kinds.iter().find(|kind| kind.0 == metric).map(|kind| kind.1);
        if metric != self.critical_path && metric != self.above && kind.is_none() {
            return;
        }
        for value in row {
            let is_it =
                |culprit: &&mut Culprit| (culprit.path, culprit.location) == (value.path, value.location);
            let Some(culprit) = self.worst.iter_mut().find(is_it) else { continue };
            let number = value.number();
            if metric == self.critical_path {
                culprit.is_critical |= number > 0;
            } else if metric == self.above {
                culprit.above = number;
            } else if let Some(kind) = kind.filter(|_| culprit.kind.is_none_or(|kind| kind.1 < number)) {
                culprit.kind = Some((kind, number));
            }
        }
    }

    fn consider(&mut self, value: &Value) {
        let costs = value.number();
        self.total = self.total.saturating_add(costs);
        let at = self.worst.partition_point(|other| other.costs >= costs);
        let is_named = self.is_start_up.get(value.path as usize) != Some(&true);
        if at < NAMED && costs > 0 && is_named {
            let (path, location) = (value.path, value.location);
            let culprit = Culprit { path, location, costs, kind: None, is_critical: false, above: 0 };
            self.worst.insert(at, culprit);
            self.worst.truncate(NAMED);
        }
    }

    /// The largest, and all costs.
    pub(super) fn worst(&self) -> (&[Culprit], i128) {
        (&self.worst, self.total)
    }
}

impl Culprit {
    /// By which part of the mean its computation exceeds the mean; `None` if it does not.
    pub(super) fn more_work(&self, computed: &Totals, is_parallel: &[bool]) -> Option<f64> {
        let participants = computed.participants[usize::from(is_parallel[self.path as usize])];
        let sum = computed.paths[self.path as usize].computation() as f64;
        let mean = sum / participants as f64;
        (self.above > 0 && mean > 0.0).then(|| float(self.above) / mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn largest_costs_are_kept_in_order_without_starting_up() {
        let metrics = Metrics::new(true);
        let mut is_start_up = vec![false; 8];
        is_start_up[3] = true;
        let mut culprits = Culprits::new(&metrics, is_start_up);
        let costs = [3, 9, 4, 9, 1, 7, 0, 8];
        for (path, &costs) in (0..).zip(&costs) {
            culprits.add(culprits.delay, &[Value::new(path, 5, costs)]);
        }
        let (worst, total) = culprits.worst();
        assert_eq!(worst.iter().map(|culprit| culprit.path).collect::<Vec<_>>(), [1, 7, 5, 2, 0]);
        assert_eq!(total, 41);
    }

    #[test]
    fn culprit_is_on_the_critical_path_and_named_by_its_largest_kind() {
        let metrics = Metrics::new(true);
        let mut culprits = Culprits::new(&metrics, Vec::new());
        culprits.add(culprits.delay, &[Value::new(2, 0, 10)]);
        let kinds = culprits.kinds.clone();
        culprits.add(kinds[0].0, &[Value::new(2, 0, 4)]);
        culprits.add(kinds[1].0, &[Value::new(2, 0, 6)]);
        culprits.add(culprits.critical_path, &[Value::new(2, 0, 1), Value::new(2, 1, 1)]);
        let (worst, _) = culprits.worst();
        assert_eq!((worst[0].kind, worst[0].is_critical), (Some((kinds[1].1, 6)), true));
    }
}
