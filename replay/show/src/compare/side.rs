//! A side of a comparison: one run, or several of the same program on as many ranks and threads.

use rustc_hash::FxHashSet;

use super::calls::{Call, Calls};
use super::mapping::Mapping;
use super::matching::{self, Matching, Seen};
use super::measure::Measure;
use super::normalise::normalise;
use super::reading::{Known, Reading};
use super::samples::median;
use crate::error::{Error, Result};
use crate::paths::Glob;
use crate::values::Unit;

/// How call paths are matched.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Rules {
    /// The user's map.
    pub map: Mapping,
    /// Whether call paths match by name only.
    pub is_strict: bool,
    /// Whether arguments of templates are left out of names.
    pub strips_templates: bool,
    /// Whether functions are compared wherever they are called.
    pub is_by_region: bool,
}

/// A side.
#[derive(Debug)]
pub struct Side<'r> {
    /// Its runs, at least one.
    pub runs: Vec<Reading<'r>>,
    /// Their call paths.
    pub calls: Calls,
    /// For each run, the place of its call paths in `calls`.
    pub places: Vec<Vec<usize>>,
}

impl<'r> Side<'r> {
    /// A side of these runs, whose call paths go by their names alone if one side is a log.
    ///
    /// # Errors
    /// If there is none, or they differ in ranks, threads or program.
    pub fn new(runs: Vec<Reading<'r>>, is_by_name: bool) -> Result<Side<'r>> {
        let Some(first) = runs.first() else {
            return Err(Error::new("a side without reports: expected at least one report on each side"));
        };
        if let Some(other) = runs.iter().find(|run| run.shape != first.shape) {
            let (a, b) = (&first.shape, &other.shape);
            return Err(Error::new(format!(
                "{}: {b}, but {} is {a}: all runs of one side must be alike; put runs that differ on different sides of --",
                other.label, first.label
            )));
        }
        let lists: Vec<Vec<Call>> = runs.iter().map(|run| run.calls.clone()).collect();
        let (calls, places) = Calls::join(&lists, is_by_name);
        Ok(Side { runs, calls, places })
    }

    /// The first run, which stands for what all have in common.
    pub fn first(&self) -> &Reading<'r> {
        &self.runs[0]
    }

    /// A number of each run; `None` if one of them has none.
    pub fn sample(&self, number: impl Fn(&Reading<'r>) -> Option<f64>) -> Option<Vec<f64>> {
        self.runs.iter().map(number).collect()
    }

    /// The median of the run's time in some measure; 0 for those that are no time.
    pub fn run_time(&self, measure: Measure) -> f64 {
        let time = |run: &Reading<'r>| measure.of(run, run.total, Some(run.length), visits(run, None));
        self.sample(time).map_or(0.0, |sample| median(&sample))
    }

    /// Names of metrics that all runs have.
    pub fn metrics(&self) -> FxHashSet<&str> {
        let has = |name: &&String| self.runs.iter().all(|run| run.metrics.contains_key(*name));
        self.first().metrics.keys().filter(has).map(String::as_str).collect()
    }

    /// Whether all call paths of all runs are known that took any time: a log has kept the largest values only.
    pub fn knows_calls(&self) -> bool {
        self.runs.iter().all(|run| {
            run.report.is_some() || run.metrics.get("time").is_some_and(|time| time.known == Known::All)
        })
    }

    /// The unit of a metric.
    pub fn unit(&self, metric: &str) -> Option<&Unit> {
        self.first().metrics.get(metric).map(|metric| &metric.unit)
    }

    /// For each call path of a run whether its place in the side is selected.
    pub fn in_run(&self, run: usize, selected: &[bool]) -> Vec<bool> {
        self.places[run].iter().map(|&place| selected[place]).collect()
    }

    /// The call paths that match a glob.
    pub fn select(&self, glob: &Glob) -> Vec<bool> {
        glob.select_in(&self.calls.forest, self.calls.list.len(), |call| &self.calls.list[call].name)
    }

    /// Exclusive time of each call path, per location, as the mean of the runs; 0 without time.
    pub fn weights(&self, metric: &str) -> Vec<f64> {
        let mut weights = vec![0.0; self.calls.list.len()];
        for (run, places) in self.runs.iter().zip(&self.places) {
            let Some(sums) = run.metrics.get(metric) else { continue };
            for (&call, &(sum, _)) in &sums.by_call {
                weights[places[call]] += sum / run.locations / self.runs.len() as f64;
            }
        }
        weights
    }
}

/// Visits of a run at some of its call paths, or at all.
pub fn visits(run: &Reading<'_>, is_selected: Option<&[bool]>) -> Option<f64> {
    let visits = run.metrics.get("visits")?;
    let Some(selected) = is_selected else { return Some(visits.total) };
    let own = visits.by_call.iter().filter(|(call, _)| selected.get(**call) == Some(&true));
    Some(own.map(|(_, &(sum, _))| sum).sum())
}

/// Matches the call paths of two sides.
pub fn matched(sides: [&Side<'_>; 2], rules: &Rules) -> Matching {
    let names = sides.map(|side| {
        let names = side.calls.list.iter().map(|call| normalise(&call.name, rules.strips_templates));
        names.collect::<Vec<_>>()
    });
    let weights = sides.map(|side| side.weights("time"));
    let mapped = [0, 1].map(|at| {
        let mut mapped = vec![None; sides[at].calls.list.len()];
        for (line, globs) in rules.map.lines.iter().enumerate() {
            let selected = sides[at].select(&globs[at]);
            let chosen =
                mapped.iter_mut().zip(selected).filter(|(old, is_selected)| *is_selected && old.is_none());
            chosen.for_each(|(old, _)| *old = Some(line));
        }
        mapped
    });
    let seen = [0, 1].map(|at| Seen {
        calls: &sides[at].calls,
        names: &names[at],
        mapped: &mapped[at],
        weights: &weights[at],
    });
    match rules.is_by_region {
        true => matching::by_region(seen[0], seen[1]),
        false => matching::by_path(seen[0], seen[1], rules.is_strict),
    }
}
