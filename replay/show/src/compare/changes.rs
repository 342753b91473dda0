//! Changes of metrics by call path.

use std::collections::{BTreeMap, BTreeSet};

use super::coverage;
use super::matching::{Matching, Pair};
use super::measure::Measure;
use super::reading::{Known, Reading, has_outside};
use super::samples::{Change, State, median};
use super::side::Side;
use crate::values::{Unit, WAITING};

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

    /// Whether one side has wait states and the other one has not: then communication contains waiting on one side.
    pub fn has_waiting_on_one_side(&self) -> bool {
        let [a, b] = self.sides.map(|side| side.metrics().contains(WAITING));
        a != b
    }

    /// Whether work outside of the run has changed by more than noise.
    pub fn has_other_outside(&self) -> bool {
        let sample = |side: &Side<'_>| side.sample(|run| Some(run.outside / run.locations));
        let [Some(a), Some(b)] = self.sides.map(sample) else { return false };
        let [run_a, run_b] = self.sides.map(|side| side.run_time(Measure::Mean));
        Change::between(&a, &b, (run_a, run_b), self.floor.of(&Unit::Seconds), 1).state != State::Same
    }

    /// Whether a change may be one of work outside of the run alone.
    pub fn may_be_outside(&self, change: &CallChange) -> bool {
        if !has_outside(&change.metric) || !self.has_other_outside() {
            return false;
        }
        let outside = |side: &Side<'_>| {
            let of = |run: &Reading<'_>| self.measure.of(run, run.outside, Some(run.outside), None);
            side.sample(of).map(|sample| median(&sample))
        };
        // Per visit it is not known.
        let [Some(a), Some(b)] = self.sides.map(outside) else { return true };
        change.change.difference().abs() - (b - a).abs() <= change.change.floor
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
            let sums = [0, 1].map(|at| {
                (0..self.sides[at].runs.len()).map(|run| self.sums(at, run, metric)).collect::<Vec<_>>()
            });
            let pairs: BTreeSet<usize> = sums.iter().flatten().flat_map(BTreeMap::keys).copied().collect();
            for pair in pairs {
                let sample = |at: usize| {
                    let values = sums[at].iter().enumerate();
                    values.map(|(run, sums)| self.value(at, run, metric, sums.get(&pair))).collect()
                };
                let (Some(a), Some(b)): (Option<Vec<f64>>, Option<Vec<f64>>) = (sample(0), sample(1)) else {
                    continue;
                };
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

    /// The value of a run at a pair with these sums. Without any it is 0, if the run knows all values; else `None`, also if it
    /// has no value of this measure.
    fn value(&self, at: usize, number: usize, metric: &str, sums: Option<&[f64; 3]>) -> Option<f64> {
        let run = &self.sides[at].runs[number];
        let knows_all = run.metrics.get(metric).is_some_and(|sums| sums.known == Known::All);
        match sums {
            Some(&[sum, most, visits]) => self.measure.of(run, sum, Some(most), Some(visits)),
            None => knows_all.then_some(0.0),
        }
    }

    /// Sum, largest value and visits of a run for each pair of which all is known that it has.
    fn sums(&self, at: usize, number: usize, metric: &str) -> BTreeMap<usize, [f64; 3]> {
        let (side, run) = (self.sides[at], &self.sides[at].runs[number]);
        let mut sums: BTreeMap<usize, [f64; 3]> = BTreeMap::new();
        let Some(own) = run.metrics.get(metric) else { return sums };
        let visits = run.metrics.get("visits");
        let pair = |call: usize| self.matching.of[at][side.places[number][call]];
        let mut listed: BTreeMap<usize, usize> = BTreeMap::new();
        for (&call, &(sum, most)) in &own.by_call {
            let visited = visits.and_then(|visits| visits.by_call.get(&call)).map_or(0.0, |visits| visits.0);
            let sums = sums.entry(pair(call)).or_default();
            *sums = [sums[0] + sum, sums[1] + most, sums[2] + visited];
            *listed.entry(pair(call)).or_default() += 1;
        }
        match own.known {
            Known::All => {}
            // A function may be called where the log has no value of it.
            Known::Listed if !self.matching.is_by_region => {
                let mut calls: BTreeMap<usize, usize> = BTreeMap::new();
                (0..run.calls.len()).for_each(|call| *calls.entry(pair(call)).or_default() += 1);
                sums.retain(|pair, _| listed.get(pair) == calls.get(pair));
            }
            Known::Listed | Known::Parts => sums.clear(),
        }
        sums
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
