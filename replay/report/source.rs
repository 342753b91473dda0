//! The locations of a worker: their severities, and what else they have to report.

use std::ops::Range;

use super::blocks::Block;
use crate::formulas::Formulas;
use crate::idle_threads::IdleThreads;
use crate::imbalance::Totals;
use crate::metrics::Metrics;
use crate::severity::{MetricId, Severities};

/// A location's severities with the way from its call paths to the report's.
#[derive(Debug)]
pub(super) struct Source<'a> {
    pub(super) severities: &'a Severities,
    /// The report's call path, by the process's.
    pub(super) numbers: &'a [u32],
    /// What the main thread did, at a worker thread.
    pub(super) idle: Option<&'a IdleThreads>,
    /// Whether it takes part in comparisons of processes, and of threads.
    pub(super) participates: [bool; 2],
}

impl Source<'_> {
    /// The report's call paths by row.
    pub(super) fn paths(&self) -> impl Iterator<Item = u32> {
        self.severities.paths().iter().map(|&path| self.numbers[path as usize])
    }

    fn has_rows_of(&self, other: &Source<'_>) -> bool {
        self.severities.paths() == other.severities.paths() && self.numbers == other.numbers
    }
}

/// The locations of a worker, which follow each other in the report.
#[derive(Debug)]
pub(super) struct Sources<'a> {
    /// Position of the first one in the report.
    pub(super) first: usize,
    pub(super) list: Vec<Source<'a>>,
    /// Neighbours in the list whose rows are of the same call paths, as those of most programs are.
    pub(super) alike: Vec<Range<usize>>,
    /// By metric, whether any of them has severities of it by itself.
    pub(super) has_column: Vec<bool>,
    pub(super) metrics: &'a Metrics,
    pub(super) formulas: &'a Formulas,
    /// The region of each call path of the report.
    pub(super) regions: Vec<u32>,
    /// Whether threads are compared, by call path of the report.
    pub(super) is_parallel: Vec<bool>,
    /// What all locations computed, if they are compared.
    pub(super) computed: Option<&'a Totals>,
}

impl<'a> Sources<'a> {
    pub(super) fn new(
        first: usize,
        list: Vec<Source<'a>>,
        metrics: &'a Metrics,
        formulas: &'a Formulas,
        regions: Vec<u32>,
        is_parallel: Vec<bool>,
    ) -> Sources<'a> {
        let mut alike: Vec<Range<usize>> = Vec::new();
        for (at, source) in list.iter().enumerate() {
            match alike.last_mut() {
                Some(run) if source.has_rows_of(&list[at - 1]) => run.end = at + 1,
                _ => alike.push(at..at + 1),
            }
        }
        let mut has_column = vec![false; metrics.list.len()];
        for (whole, shares) in list.iter().map(|source| source.severities.columns()) {
            whole.iter().for_each(|(metric, _)| has_column[metric] = true);
            shares.iter().for_each(|(metric, _)| has_column[metric] = true);
        }
        Sources { first, list, alike, has_column, metrics, formulas, regions, is_parallel, computed: None }
    }

    /// Whether idle threads add to a metric.
    pub(super) fn is_of_idle_threads(&self, metric: MetricId) -> bool {
        let Metrics { time, idle_threads, limited_parallelism, .. } = *self.metrics;
        [time, idle_threads, limited_parallelism].contains(&metric)
            && self.list.iter().any(|source| source.idle.is_some())
    }

    /// The idle time of a location that a metric has: call paths of the report, and ticks.
    pub(super) fn idle_time(
        &self,
        source: &Source<'_>,
        metric: MetricId,
    ) -> impl Iterator<Item = (u32, i64)> {
        let outside = source.idle.map_or(&[][..], |idle| idle.outside());
        let outside = outside.iter().filter(move |_| metric != self.metrics.limited_parallelism).copied();
        let limited = source.idle.map_or(Vec::new(), |idle| idle.limited(self.metrics, source.severities));
        outside.chain(limited).map(|(path, ticks)| (source.numbers[path as usize], ticks))
    }

    /// What the locations computed.
    pub(super) fn totals(&self) -> Totals {
        let mut totals = Totals { paths: vec![Default::default(); self.regions.len()], ..Totals::default() };
        for source in &self.list {
            for (count, participates) in totals.participants.iter_mut().zip(source.participates) {
                *count += u64::from(participates);
            }
        }
        for run in &self.alike {
            let paths: Vec<u32> = self.list[run.start].paths().collect();
            self.blocks(self.metrics.computation, &paths, run.clone(), |block| self.add(&block, &mut totals));
        }
        totals
    }

    fn add(&self, block: &Block<'_>, totals: &mut Totals) {
        let (computation, visits) = (block.computation(), block.visits());
        let rows = computation.chunks_exact(block.width()).zip(visits.chunks_exact(block.width()));
        for (&path, (computation, visits)) in block.paths.iter().zip(rows) {
            let is_parallel = usize::from(self.is_parallel[path as usize]);
            let (mut sum, mut visitors) = (0, 0);
            for ((source, &ticks), &visits) in block.sources().zip(computation).zip(visits) {
                if source.participates[is_parallel] {
                    sum += i128::from(ticks);
                    visitors += u32::from(visits != 0);
                }
            }
            totals.paths[path as usize].add(sum, visitors);
        }
    }
}
