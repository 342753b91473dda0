//! Changes of metrics by call path.

use std::collections::BTreeMap;

use super::coverage;
use super::matching::{Matching, Pair};
use super::measure::Measure;
use super::samples::{Change, State};
use super::side::Side;
use crate::values::Unit;

/// A change of a metric at a call path.
#[derive(Clone, PartialEq, Debug)]
pub struct CallChange {
    /// Unique name of the metric.
    pub metric: String,
    /// The unit of the numbers.
    pub unit: Unit,
    /// The pair of call paths.
    pub pair: usize,
    /// The change.
    pub change: Change,
}

/// Two sides whose call paths are matched.
#[derive(Clone, Copy, Debug)]
pub struct Compared<'c, 'r> {
    /// A and B.
    pub sides: [&'c Side<'r>; 2],
    /// Their call paths.
    pub matching: &'c Matching,
    /// The form of values.
    pub measure: Measure,
    /// What the user wants a change to exceed, by unit.
    pub floor: &'c Floor,
}

/// The least change that the user wants to see.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Floor(pub Option<(f64, Unit)>);

impl Floor {
    /// The least change of values with this unit.
    pub fn of(&self, unit: &Unit) -> f64 {
        self.0.as_ref().filter(|(_, own)| own == unit).map_or(0.0, |(value, _)| *value)
    }
}

impl Compared<'_, '_> {
    /// The change between two samples of a quantity of this unit.
    pub fn change(&self, a: &[f64], b: &[f64], unit: &Unit, gates: usize) -> Change {
        let is_time = *unit == Unit::Seconds || self.measure == Measure::Share;
        let run = if is_time { self.sides.map(|side| side.run_time(self.measure)) } else { [0.0; 2] };
        let unit = self.measure.unit(unit);
        Change::between(a, b, (run[0], run[1]), self.floor.of(&unit), gates)
    }

    /// The call path of a pair as names from the root on: that of B, else that of A.
    pub fn names(&self, pair: usize) -> Vec<&str> {
        match self.matching.pairs.get(pair) {
            Some(Pair { b: Some(b), .. }) => self.sides[1].calls.names(*b),
            Some(Pair { a: Some(a), .. }) => self.sides[0].calls.names(*a),
            _ => Vec::new(),
        }
    }

    /// Changes of some metrics at all call paths where one side has a value, the largest difference first. Metrics that one
    /// side does not have are left out, and waiting where one side has analysed too little.
    pub fn by_call(&self, metrics: &[&str]) -> Vec<CallChange> {
        let mut changes = Vec::new();
        let is_covered = self.sides.into_iter().all(coverage::is_enough);
        for metric in metrics.iter().filter(|metric| is_covered || !coverage::needs_coverage(metric)) {
            let units = self.sides.map(|side| side.unit(metric));
            let [Some(unit), Some(other)] = units else { continue };
            if unit != other {
                continue;
            }
            let mut values: BTreeMap<usize, [Option<Vec<f64>>; 2]> = BTreeMap::new();
            for at in [0, 1] {
                for (pair, sample) in self.samples(at, metric) {
                    values.entry(pair).or_default()[at] = Some(sample);
                }
            }
            for (pair, [a, b]) in values {
                let zeros = |at: usize| {
                    // Lines of a history have the largest values only: others are unknown.
                    let runs = &self.sides[at].runs;
                    runs.iter().all(|run| run.report.is_some()).then(|| vec![0.0; runs.len()])
                };
                let (Some(a), Some(b)) = (a.or_else(|| zeros(0)), b.or_else(|| zeros(1))) else { continue };
                let change = self.change(&a, &b, unit, 1);
                let (metric, unit) = ((*metric).to_owned(), self.measure.unit(unit));
                changes.push(CallChange { metric, unit, pair, change });
            }
        }
        let size = |change: &CallChange| change.change.difference().abs();
        changes.sort_by(|one, other| {
            // Names take time, and many call paths have not changed at all.
            let of_call = || match size(one) == 0.0 {
                true => (&one.metric, one.pair).cmp(&(&other.metric, other.pair)),
                false => (&one.metric, self.names(one.pair)).cmp(&(&other.metric, self.names(other.pair))),
            };
            size(other).total_cmp(&size(one)).then_with(of_call)
        });
        changes
    }

    /// A value of each run of a side for each pair that has one.
    fn samples(&self, at: usize, metric: &str) -> BTreeMap<usize, Vec<f64>> {
        let side = self.sides[at];
        let mut sums: BTreeMap<usize, Vec<[f64; 3]>> = BTreeMap::new();
        for (number, (run, places)) in side.runs.iter().zip(&side.places).enumerate() {
            let visits = run.metrics.get("visits");
            let Some(own) = run.metrics.get(metric) else { continue };
            for (&call, &(sum, most)) in &own.by_call {
                let pair = self.matching.of[at][places[call]];
                let sums = sums.entry(pair).or_insert_with(|| vec![[0.0; 3]; side.runs.len()]);
                let visited =
                    visits.and_then(|visits| visits.by_call.get(&call)).map_or(0.0, |visits| visits.0);
                let sums = &mut sums[number];
                *sums = [sums[0] + sum, sums[1] + most, sums[2] + visited];
            }
        }
        let sample = |(pair, sums): (usize, Vec<[f64; 3]>)| {
            let of_run = |(run, &[sum, most, visits]): (_, &[f64; 3])| {
                self.measure.of(run, sum, Some(most), Some(visits))
            };
            let sample: Option<Vec<f64>> = side.runs.iter().zip(&sums).map(of_run).collect();
            Some((pair, sample?))
        };
        sums.into_iter().filter_map(sample).collect()
    }

    /// How much of a metric a side has at call paths that are matched, from 0 to 1; `None` without any.
    pub fn matched_share(&self, at: usize, metric: &str) -> Option<f64> {
        let weights = self.sides[at].weights(metric);
        let all: f64 = weights.iter().sum();
        let own = weights.iter().enumerate().filter(|(call, _)| self.matching.is_matched(at, *call));
        (all > 0.0).then(|| own.map(|(_, weight)| weight).sum::<f64>() / all)
    }
}

/// Whether a change is worth a line.
pub fn is_notable(change: &CallChange) -> bool {
    change.change.state != State::Same
}
