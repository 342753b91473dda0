//! What a location has to report: its severities, what follows from them, and what follows from other locations.

use rustc_hash::FxHashMap;

use crate::call_tree::{CallPath, PathId};
use crate::formulas::Formulas;
use crate::fraction::whole;
use crate::idle_threads::IdleThreads;
use crate::imbalance::{Part, Totals};
use crate::metrics::Metrics;
use crate::severity::{MetricId, Severities};

/// A location's severities with the way from its call paths to the report's.
#[derive(Debug)]
pub(super) struct Source<'a> {
    /// Position of the location in the report.
    pub(super) location: usize,
    pub(super) severities: &'a Severities,
    /// The call paths of its process.
    pub(super) paths: &'a [CallPath],
    /// The report's call path, by the process's.
    pub(super) numbers: &'a [u32],
    pub(super) metrics: &'a Metrics,
    pub(super) formulas: &'a Formulas,
    /// What the main thread did, at a worker thread.
    pub(super) idle: Option<&'a IdleThreads>,
    /// Whether it takes part in comparisons of processes, and of threads.
    pub(super) participates: [bool; 2],
    pub(super) imbalance: Option<Imbalance<'a>>,
}

/// What all locations computed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Imbalance<'a> {
    pub(super) totals: &'a Totals,
    /// Whether threads are compared, by call path of the report.
    pub(super) is_parallel: &'a [bool],
}

impl Source<'_> {
    /// Calls `with` with each call path of the report that has a value, and the value.
    pub(super) fn values(&self, metric: MetricId, mut with: impl FnMut(u32, i128)) {
        let metrics = self.metrics;
        if metric == metrics.time && self.idle.is_some() {
            self.allocated(with);
        } else if metric == metrics.idle_threads || metric == metrics.limited_parallelism {
            let outside = self.idle.map_or(&[][..], |idle| idle.outside());
            let outside = outside.iter().filter(|_| metric == metrics.idle_threads);
            for &(path, ticks) in outside.chain(&self.limited()) {
                with(self.numbers[path as usize], whole(ticks));
            }
        } else if let Some(at) = metrics.imbalance.iter().position(|&of| of == metric) {
            self.deviations(Part::ALL[at], with);
        } else if self.formulas.has_fractions(metric) {
            let column = self.formulas.shares(metric, self.severities, self.paths);
            let values = column.iter().zip(self.severities.paths()).filter(|(value, _)| **value != 0);
            values.for_each(|(&value, &path)| with(self.numbers[path as usize], value));
        } else {
            self.column(metric, |path, value| with(path, value.into()));
        }
    }

    /// Values that the location has by itself.
    pub(super) fn column(&self, metric: MetricId, mut with: impl FnMut(u32, i64)) {
        let column = self.formulas.column(metric, self.severities, self.paths);
        for (&value, &path) in column.iter().zip(self.severities.paths()).filter(|(value, _)| **value != 0) {
            with(self.numbers[path as usize], value);
        }
    }

    fn limited(&self) -> Vec<(PathId, i64)> {
        self.idle.map_or(Vec::new(), |idle| idle.limited(self.metrics, self.severities))
    }

    /// The time that was measured, and on top of it the time in which the thread was idle.
    fn allocated(&self, mut with: impl FnMut(u32, i128)) {
        let times = self.severities.column(self.metrics.time).iter().zip(self.severities.paths());
        let mut own: FxHashMap<PathId, i64> = times.map(|(&time, &path)| (path, time)).collect();
        let outside = self.idle.map_or(&[][..], |idle| idle.outside());
        for &(path, ticks) in outside.iter().chain(&self.limited()) {
            with(self.numbers[path as usize], i128::from(own.remove(&path).unwrap_or(0)) + i128::from(ticks));
        }
        for path in self.severities.paths() {
            if let Some(time) = own.remove(path).filter(|&time| time != 0) {
                with(self.numbers[*path as usize], time.into());
            }
        }
    }

    /// How far the location is from the mean of all, wherever it takes part.
    fn deviations(&self, part: Part, mut with: impl FnMut(u32, i128)) {
        let Some(Imbalance { totals, is_parallel }) = self.imbalance else { return };
        if totals.participants[1] < 2 {
            return;
        }
        let (mut computation, mut comes) = (vec![0; is_parallel.len()], vec![false; is_parallel.len()]);
        self.column(self.metrics.computation, |path, value| computation[path as usize] = value);
        self.column(self.metrics.visits, |path, _| comes[path as usize] = true);
        for (path, &is_parallel) in is_parallel.iter().enumerate() {
            if self.participates[usize::from(is_parallel)] {
                let value = totals.value(part, path, is_parallel, computation[path], comes[path]);
                if value != 0 {
                    with(path as u32, value);
                }
            }
        }
    }
}

/// What the locations of a worker computed.
pub(super) fn totals(sources: &[Source<'_>], is_parallel: &[bool]) -> Totals {
    let mut totals = Totals { paths: vec![Default::default(); is_parallel.len()], ..Totals::default() };
    for source in sources {
        let takes_part = |path: u32| source.participates[usize::from(is_parallel[path as usize])];
        for (count, participates) in totals.participants.iter_mut().zip(source.participates) {
            *count += u64::from(participates);
        }
        source.column(source.metrics.computation, |path, value| {
            totals.paths[path as usize].add(if takes_part(path) { value.into() } else { 0 }, 0);
        });
        source.column(source.metrics.visits, |path, _| {
            totals.paths[path as usize].add(0, u32::from(takes_part(path)));
        });
    }
    totals
}
