//! Idle threads: time in which worker threads exist and have no work (specification 16.4).
//!
//! Outside of parallel regions only the main thread of a process runs: its time there is idle time of each
//! worker. Time that the main thread spends in a parallel region and a worker does not is idle time of that
//! worker, too. The team was formed without the worker then, which is limited parallelism.
//!
//! Nothing is stored, as the product of workers and call paths may be too large. Values are computed when
//! they are requested.

use crate::call_tree::CallPath;
use crate::ids::PathId;
use crate::metrics::Metrics;
use crate::severity::Severities;
use crate::trace::Trace;
use crate::walk::WalkedProcess;

/// Time missing in a parallel region counts from this part of a second on; less is rounding in the reference.
const LEAST_PART: i128 = 10_000_000_000;

/// The time of the main thread of a process in which other threads may be idle.
#[derive(Clone, Debug)]
pub struct IdleThreads {
    /// By call path: the outermost parallel region above it or the path itself, or none.
    parallel: Vec<PathId>,
    /// The main thread's time outside of parallel regions, by call path.
    outside: Vec<(PathId, i64)>,
    /// The main thread's time in parallel regions and in everything called there, by outermost region.
    inside: Vec<(PathId, i64)>,
    resolution: u64,
}

/// Returns for each call path the outermost parallel region above it, or the path itself, or [`PathId::NONE`].
fn parallel_regions(trace: &Trace, paths: &[CallPath]) -> Vec<PathId> {
    let mut parallel: Vec<PathId> = Vec::with_capacity(paths.len());
    for (at, path) in paths.iter().enumerate() {
        let above = if path.parent == PathId::NONE { PathId::NONE } else { parallel[path.parent.index()] };
        let is_parallel = trace.kinds.get(path.region as usize).is_some_and(|kind| kind.is_parallel);
        parallel.push(if above == PathId::NONE && is_parallel { PathId::new(at) } else { above });
    }
    parallel
}

impl IdleThreads {
    /// Collects the times of the main thread of a process; `None` if the process has no worker threads.
    pub fn new(
        trace: &Trace,
        metrics: &Metrics,
        process: &WalkedProcess,
        severities: &[Severities],
    ) -> Option<IdleThreads> {
        let (main, others) = (severities.first()?, process.locations.get(1..)?);
        if !others.iter().any(|location| location.is_worker) {
            return None;
        }
        let parallel = parallel_regions(trace, &process.paths);
        let times = main.dense(metrics.time).iter().zip(main.paths());
        let outside = times
            .filter(|&(&time, &path)| time > 0 && parallel[path.index()] == PathId::NONE)
            .map(|(&time, &path)| (path, time))
            .collect();
        let inside = sums(&parallel, metrics, main);
        let resolution = trace.definitions.clock.resolution;
        Some(IdleThreads { parallel, outside, inside, resolution })
    }

    /// Returns the idle time of each worker outside of parallel regions, by call path.
    pub fn outside(&self) -> &[(PathId, i64)] {
        &self.outside
    }

    /// Returns how much less time than the main thread a worker with these severities has, by parallel
    /// region.
    pub fn limited(&self, metrics: &Metrics, severities: &Severities) -> Vec<(PathId, i64)> {
        let own = sums(&self.parallel, metrics, severities);
        let of = |region: PathId| own.binary_search_by_key(&region, |sum| sum.0).map_or(0, |at| own[at].1);
        let lacking = self.inside.iter().map(|&(region, time)| (region, time.saturating_sub(of(region))));
        let is_enough = |ticks: i64| i128::from(ticks) * LEAST_PART >= i128::from(self.resolution);
        lacking.filter(|&(_, ticks)| ticks > 0 && is_enough(ticks)).collect()
    }
}

/// Returns a location's time in each outermost parallel region, in the order of the regions.
fn sums(parallel: &[PathId], metrics: &Metrics, severities: &Severities) -> Vec<(PathId, i64)> {
    let times = severities.dense(metrics.time).iter().zip(severities.paths());
    let mut sums: Vec<(PathId, i64)> = times
        .map(|(&time, &path)| (parallel[path.index()], time))
        .filter(|sum| sum.0 != PathId::NONE)
        .collect();
    sums.sort_unstable();
    sums.dedup_by(|next, sum| {
        let is_same = next.0 == sum.0;
        if is_same {
            sum.1 = sum.1.saturating_add(next.1);
        }
        is_same
    });
    sums
}
