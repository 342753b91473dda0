//! Locations of a worker: their severities by call path of the report, and their idle times.

use std::collections::BTreeSet;
use std::ops::Range;
use std::rc::Rc;

use crate::formulas::Formulas;
use crate::idle_threads::IdleThreads;
use crate::ids::{PathId, ReportPath, Row};
use crate::imbalance::Totals;
use crate::metrics::Metrics;
use crate::report_paths::ReportPaths;
use crate::results::Results;
use crate::severity::{MetricId, Severities};
use crate::tools::Tools;
use crate::walk::WalkedProcess;

/// A location with the mapping from the call paths of its process to the report's.
#[derive(Debug)]
pub(super) struct ReportLocation<'a> {
    pub(super) severities: &'a Severities,
    /// The report's call path, by the process's.
    pub(super) numbers: &'a [ReportPath],
    /// The idle time of a worker thread.
    pub(super) idle: Option<Box<IdleTime>>,
    /// Whether it takes part in comparisons of processes, and of threads.
    pub(super) participates: [bool; 2],
}

impl ReportLocation<'_> {
    fn path(&self, row: Row) -> ReportPath {
        self.numbers[self.severities.paths()[row.index()].index()]
    }

    fn has_rows_of(&self, other: &ReportLocation<'_>) -> bool {
        self.severities.paths() == other.severities.paths() && self.numbers == other.numbers
    }
}

/// The idle time of a worker thread: ticks by call path of the report, in ascending order.
#[derive(Debug)]
pub(super) struct IdleTime {
    /// Outside of parallel regions, which is the same for all workers of a process.
    pub(super) outside: Rc<[(ReportPath, i64)]>,
    /// In parallel regions.
    pub(super) limited: Vec<(ReportPath, i64)>,
}

/// Neighbours with rows of the same call paths, as is common in most programs.
#[derive(Debug)]
struct LocationRun {
    locations: Range<usize>,
    /// Their rows in the order of the report's call paths.
    rows: Vec<Row>,
}

/// Locations of a run, and their rows that are left.
#[derive(Debug)]
pub(super) struct RunRows<'a> {
    pub(super) locations: Range<usize>,
    pub(super) list: &'a [ReportLocation<'a>],
    /// The metrics of most rows: the numbers by row of each location; empty without any.
    pub(super) columns: Vec<(MetricId, Vec<&'a [i64]>)>,
    rows: &'a [Row],
}

impl RunRows<'_> {
    /// Returns the row of a call path, if there is one. Call paths are requested in ascending order.
    pub(super) fn next_row(&mut self, path: ReportPath) -> Option<Row> {
        while let Some((&row, rest)) =
            self.rows.split_first().filter(|(row, _)| self.list[0].path(**row) <= path)
        {
            self.rows = rest;
            if self.list[0].path(row) == path {
                return Some(row);
            }
        }
        None
    }
}

/// The locations of a worker, which are consecutive in the report.
#[derive(Debug)]
pub(super) struct Locations<'a> {
    /// Position of the first one in the report. All other positions are those in the list.
    pub(super) first: usize,
    pub(super) list: Vec<ReportLocation<'a>>,
    runs: Vec<LocationRun>,
    /// The metrics of most rows.
    dense: Vec<MetricId>,
    /// Whether any location has idle time.
    pub(super) has_idle: bool,
    pub(super) metrics: &'a Metrics,
    pub(super) formulas: &'a Formulas,
    /// The call paths of the report.
    pub(super) paths: &'a ReportPaths,
    /// Whether threads are compared, by call path of the report.
    pub(super) is_parallel: Vec<bool>,
    /// The computation of all locations, if they are compared with each other.
    pub(super) computed: Option<&'a Totals>,
}

impl<'a> Locations<'a> {
    /// Returns the locations of processes; `has_idle_threads` says whether idle time is computed.
    pub(super) fn new(
        tools: &Tools<'a>,
        (processes, results): (&'a [WalkedProcess], &'a [Results]),
        paths: &'a ReportPaths,
        has_idle_threads: bool,
    ) -> Locations<'a> {
        let Tools { trace, metrics, formulas, .. } = *tools;
        let mut list: Vec<ReportLocation<'a>> = Vec::new();
        for ((process, results), numbers) in processes.iter().zip(results).zip(&paths.numbers) {
            let severities = &results.severities;
            let idle = IdleThreads::new(trace, metrics, process, severities).filter(|_| has_idle_threads);
            let outside: Rc<[(ReportPath, i64)]> =
                idle.as_ref().map(|idle| numbered(idle.outside(), numbers)).unwrap_or_default().into();
            for (thread, (location, severities)) in process.locations.iter().zip(severities).enumerate() {
                let is_thread = trace.locations[location.location].is_thread() && location.has_events();
                let idle = idle.as_ref().filter(|_| location.is_worker).map(|idle| {
                    let limited = numbered(&idle.limited(metrics, severities), numbers);
                    Box::new(IdleTime { outside: Rc::clone(&outside), limited })
                });
                let participates = [is_thread && thread == 0, is_thread];
                list.push(ReportLocation { severities, numbers, idle, participates });
            }
        }
        let first = processes.iter().flat_map(|process| &process.locations).map(|it| it.location).next();
        let mut is_parallel = vec![false; paths.len()];
        for path in paths.all() {
            let begins = trace.kinds.get(paths.region(path) as usize).is_some_and(|kind| kind.is_parallel);
            is_parallel[path.index()] =
                begins || paths.parent(path).is_some_and(|parent| is_parallel[parent.index()]);
        }
        Locations { first: first.unwrap_or(0), is_parallel, ..Locations::of(list, metrics, formulas, paths) }
    }

    /// Returns the first locations of a report, without threads in parallel regions.
    pub(super) fn of(
        list: Vec<ReportLocation<'a>>,
        metrics: &'a Metrics,
        formulas: &'a Formulas,
        paths: &'a ReportPaths,
    ) -> Locations<'a> {
        let columns = list.iter().flat_map(|location| location.severities.dense_columns());
        let dense: BTreeSet<MetricId> = columns.map(|(metric, _)| metric).collect();
        Locations {
            first: 0,
            runs: runs(&list),
            dense: dense.into_iter().collect(),
            has_idle: list.iter().any(|location| location.idle.is_some()),
            list,
            metrics,
            formulas,
            paths,
            is_parallel: vec![false; paths.len()],
            computed: None,
        }
    }

    /// Returns the runs of some locations, with their rows from a call path on.
    pub(super) fn runs(&self, path: ReportPath, locations: &Range<usize>) -> Vec<RunRows<'_>> {
        let first = self.runs.partition_point(|run| run.locations.end <= locations.start);
        let runs = self.runs[first..].iter().take_while(|run| run.locations.start < locations.end);
        let among = runs.map(|run| {
            let among = run.locations.start.max(locations.start)..run.locations.end.min(locations.end);
            let list = &self.list[among.clone()];
            let start = run.rows.partition_point(|&row| list[0].path(row) < path);
            let column =
                |metric: MetricId| list.iter().map(move |location| location.severities.dense(metric));
            let columns = self.dense.iter().map(|&metric| (metric, column(metric).collect())).collect();
            RunRows { locations: among, list, columns, rows: &run.rows[start..] }
        });
        among.collect()
    }

    /// Returns the worker's part of some locations of the report, by position in the list.
    pub(super) fn among(&self, locations: &Range<usize>) -> Range<usize> {
        let position = |at: usize| at.saturating_sub(self.first).min(self.list.len());
        position(locations.start)..position(locations.end)
    }

    /// Returns the number of locations in comparisons of processes, and of threads.
    pub(super) fn participants(&self) -> [u64; 2] {
        [0, 1].map(|at| self.list.iter().filter(|location| location.participates[at]).count() as u64)
    }
}

fn runs(list: &[ReportLocation<'_>]) -> Vec<LocationRun> {
    let mut runs: Vec<LocationRun> = Vec::new();
    for (at, location) in list.iter().enumerate() {
        match runs.last_mut() {
            Some(run) if location.has_rows_of(&list[at - 1]) => run.locations.end = at + 1,
            _ => {
                let mut rows: Vec<Row> = (0..location.severities.paths().len()).map(Row::new).collect();
                rows.sort_unstable_by_key(|&row| location.path(row));
                runs.push(LocationRun { locations: at..at + 1, rows });
            }
        }
    }
    runs
}

/// Returns times at call paths of a process by those of the report, in ascending order.
fn numbered(times: &[(PathId, i64)], numbers: &[ReportPath]) -> Vec<(ReportPath, i64)> {
    let mut times: Vec<_> = times.iter().map(|&(path, ticks)| (numbers[path.index()], ticks)).collect();
    times.sort_unstable();
    times
}
