//! The locations of a worker: their severities, and what else they have to report.

use std::ops::Range;
use std::rc::Rc;

use crate::call_tree::PathId;
use crate::formulas::Formulas;
use crate::imbalance::{Own, Part, Spread, Totals};
use crate::metrics::Metrics;
use crate::report_paths::ReportPaths;
use crate::severity::{MetricId, Row, Severities};

/// A location's severities with the way from its call paths to the report's.
#[derive(Debug)]
pub(super) struct Source<'a> {
    pub(super) severities: &'a Severities,
    /// The report's call path, by the process's.
    pub(super) numbers: &'a [u32],
    /// When a worker thread was idle.
    pub(super) idle: Option<Box<IdleTime>>,
    /// Whether it takes part in comparisons of processes, and of threads.
    pub(super) participates: [bool; 2],
}

impl Source<'_> {
    /// The report's call paths by row.
    pub(super) fn paths(&self) -> impl Iterator<Item = u32> {
        self.severities.paths().iter().map(|&path| self.numbers[path as usize])
    }

    /// The report's call path of a row.
    pub(super) fn path_of(&self, row: Row) -> u32 {
        self.numbers[self.severities.paths()[row as usize] as usize]
    }

    fn has_rows_of(&self, other: &Source<'_>) -> bool {
        self.severities.paths() == other.severities.paths() && self.numbers == other.numbers
    }
}

/// The idle time of a worker thread: call paths of the report in rising order, with ticks.
#[derive(Debug)]
pub(super) struct IdleTime {
    /// Outside of parallel regions, which is the same for all workers of a process.
    pub(super) outside: Rc<[(u32, i64)]>,
    /// In parallel regions.
    pub(super) limited: Vec<(u32, i64)>,
}

/// Idle time at call paths of a process by those of the report, in rising order.
pub(super) fn numbered(times: &[(PathId, i64)], numbers: &[u32]) -> Vec<(u32, i64)> {
    let mut times: Vec<_> = times.iter().map(|&(path, ticks)| (numbers[path as usize], ticks)).collect();
    times.sort_unstable();
    times
}

/// The locations of a worker, which follow each other in the report.
#[derive(Debug)]
pub(super) struct Sources<'a> {
    /// Position of the first one in the report.
    pub(super) first: usize,
    pub(super) list: Vec<Source<'a>>,
    /// Whether any of them is idle at times.
    has_idle: bool,
    /// Neighbours in the list whose rows are of the same call paths, as those of most programs are.
    pub(super) alike: Vec<Range<usize>>,
    /// For each of these neighbours: their rows in the order of the report's call paths.
    pub(super) rows: Vec<Vec<u32>>,
    /// By metric that most rows have: what each of them has, by row. Nothing of any other metric.
    pub(super) dense: Vec<Vec<&'a [i64]>>,
    /// By metric, whether any of them has records of it: whole numbers, and shares of ticks.
    pub(super) is_recorded: [Vec<bool>; 2],
    pub(super) metrics: &'a Metrics,
    pub(super) formulas: &'a Formulas,
    /// The call paths of the report.
    pub(super) paths: &'a ReportPaths,
    /// Whether threads are compared, by call path of the report.
    pub(super) is_parallel: Vec<bool>,
    /// By call path of the report, how often time counts as computation; and how often metrics in records do.
    pub(super) weights: Vec<i8>,
    pub(super) recorded_work: Vec<(MetricId, i64)>,
    /// How what each location computed compares to the mean, if they are compared.
    pub(super) compared: Option<Compared<'a>>,
}

/// What locations are compared with.
#[derive(Debug)]
pub(super) struct Compared<'a> {
    /// What all of them computed.
    pub(super) totals: &'a Totals,
    /// By call path of the report, whether any of the worker is not at the mean: at all, above, and below.
    pub(super) is_off: Vec<[bool; 3]>,
}

impl Compared<'_> {
    /// What [`is_off`](Compared::is_off) tells.
    pub(super) const PARTS: [Part; 3] = [Part::All, Part::Above, Part::Below];
}

impl<'a> Sources<'a> {
    pub(super) fn new(
        first: usize,
        list: Vec<Source<'a>>,
        metrics: &'a Metrics,
        formulas: &'a Formulas,
        paths: &'a ReportPaths,
        is_parallel: Vec<bool>,
    ) -> Sources<'a> {
        let mut alike: Vec<Range<usize>> = Vec::new();
        for (at, source) in list.iter().enumerate() {
            match alike.last_mut() {
                Some(run) if source.has_rows_of(&list[at - 1]) => run.end = at + 1,
                _ => alike.push(at..at + 1),
            }
        }
        let rows = alike.iter().map(|run| {
            let source = &list[run.start];
            let mut rows: Vec<u32> = (0..source.severities.paths().len() as u32).collect();
            rows.sort_unstable_by_key(|&row| source.path_of(row));
            rows
        });
        let rows = rows.collect();
        let mut dense = vec![Vec::new(); metrics.list.len()];
        let mut is_recorded = [0, 1].map(|_| vec![false; metrics.list.len()]);
        for (at, source) in list.iter().enumerate() {
            let severities: &'a Severities = source.severities;
            for (metric, column) in severities.dense_columns() {
                dense[metric].resize(at, &[][..]);
                dense[metric].push(column);
            }
            let (whole, shares) = severities.records();
            for (is_recorded, metrics) in is_recorded.iter_mut().zip([whole.metrics(), shares.metrics()]) {
                metrics.iter().for_each(|&metric| is_recorded[metric] = true);
            }
        }
        dense.iter_mut().filter(|of| !of.is_empty()).for_each(|of| of.resize(list.len(), &[]));
        let weight = |of, region| formulas.weight(metrics.computation, of, region);
        let weights =
            (0..paths.len() as u32).map(|path| weight(metrics.time, paths.region(path)) as i8).collect();
        let recorded = (0..).zip(&is_recorded[0]).filter(|(_, is_recorded)| **is_recorded);
        let recorded_work =
            recorded.map(|(metric, _)| (metric, weight(metric, 0))).filter(|it| it.1 != 0).collect();
        Sources {
            first,
            has_idle: list.iter().any(|source| source.idle.is_some()),
            list,
            alike,
            rows,
            dense,
            is_recorded,
            metrics,
            formulas,
            paths,
            is_parallel,
            weights,
            recorded_work,
            compared: None,
        }
    }

    /// The call paths of the report in the order in which they were met, which is mostly that of rows.
    pub(super) fn met(&self) -> &'a [u32] {
        &self.paths.positions
    }

    /// Whether idle threads add to a metric.
    pub(super) fn is_of_idle_threads(&self, metric: MetricId) -> bool {
        let Metrics { time, idle_threads, limited_parallelism, .. } = *self.metrics;
        self.has_idle && [time, idle_threads, limited_parallelism].contains(&metric)
    }

    /// The call paths at which a location has idle time of a metric, and the ticks.
    pub(super) fn idle_time(
        &self,
        source: &Source<'_>,
        metric: MetricId,
    ) -> impl Iterator<Item = (u32, i64)> {
        self.idle_times(source, metric).into_iter().flatten().copied()
    }

    /// The idle time of a location that a metric has at a call path, in ticks.
    pub(super) fn idle_time_at(&self, source: &Source<'_>, metric: MetricId, path: u32) -> i64 {
        let times = self.idle_times(source, metric).into_iter();
        let found = times.map(|times| times.binary_search_by_key(&path, |time| time.0).map(|at| times[at].1));
        found.map(|ticks| ticks.unwrap_or(0)).sum()
    }

    fn idle_times<'s>(&self, source: &'s Source<'_>, metric: MetricId) -> [&'s [(u32, i64)]; 2] {
        let Some(IdleTime { outside, limited }) = source.idle.as_deref() else { return Default::default() };
        let is_outside = metric != self.metrics.limited_parallelism;
        [if is_outside { outside } else { &[] }, limited]
    }

    /// Which of some locations of the report are the worker's.
    pub(super) fn own(&self, locations: &Range<usize>) -> Range<usize> {
        let start = locations.start.max(self.first);
        start..locations.end.min(self.first + self.list.len()).max(start)
    }

    /// How many locations take part in comparisons of processes, and of threads.
    pub(super) fn participants(&self) -> [u64; 2] {
        [0, 1].map(|at| self.list.iter().filter(|source| source.participates[at]).count() as u64)
    }

    /// Compares what locations computed with what all did.
    pub(super) fn compare(&mut self, totals: &'a Totals, spreads: Vec<Spread>) {
        let participants = self.participants();
        let is_off = (0..).zip(&self.is_parallel).zip(spreads).map(|((path, &is_parallel), spread)| {
            let own = |computation| Own { path, is_parallel, computation, comes: true };
            let spread = spread.of_all(participants[usize::from(is_parallel)]);
            Compared::PARTS.map(|part| {
                spread.into_iter().flatten().any(|computation| totals.difference(part, own(computation)) != 0)
            })
        });
        self.compared = Some(Compared { totals, is_off: is_off.collect() });
    }
}
