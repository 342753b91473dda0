//! Idle threads over time: the bins in which worker threads have no work.
//!
//! The time itself is that of [`IdleThreads`]: what the main thread spends outside of parallel regions, and what it spends in
//! a parallel region of which the worker has less.

use rustc_hash::FxHashMap;

use super::classes::{IDLE, WaitClass};
use super::timeline::{Bins, FINE_BINS, Run, Timeline};
use crate::idle_threads::IdleThreads;
use crate::ids::PathId;
use crate::metrics::Metrics;
use crate::severity::Severities;
use crate::trace::Trace;
use crate::walk::WalkedProcess;
use model::Ticks;

/// Timelines of a location by outermost parallel region; that outside of all has no path. Kept for processes with several
/// threads only.
pub(super) type RegionTimelines = FxHashMap<PathId, Timeline<1>>;

/// Timelines of a location.
#[derive(Clone, Debug)]
pub struct LocationTimeline {
    /// Its ticks by class that the grid has not taken yet; `None` if there are none.
    of_classes: Option<Box<Timeline>>,
    bins: Bins,
    /// Its ticks by outermost parallel region.
    pub(super) of_regions: RegionTimelines,
}

/// Returns the idle time of each location of a process, by bin. `timelines` are theirs.
pub(super) fn idle_runs(
    trace: &Trace,
    metrics: &Metrics,
    process: &WalkedProcess,
    severities: &[Severities],
    timelines: &mut [LocationTimeline],
) -> Vec<Vec<Run>> {
    let mut all = vec![Vec::new(); process.locations.len()];
    let Some(idle) = IdleThreads::new(trace, metrics, process, severities) else { return all };
    let Some((main, others)) = timelines.split_first_mut() else { return all };
    for (at, other) in (1..).zip(others).filter(|(at, _)| process.locations[*at].is_worker) {
        let limited = idle.limited(metrics, &severities[at]);
        let runs = &mut all[at];
        add(runs, &mut main.of_regions, PathId::NONE, |run| run);
        for &(region, _) in &limited {
            add(runs, &mut main.of_regions, region, |run| run);
            add(runs, &mut other.of_regions, region, Run::negative);
        }
        // Time that goes backwards in some call path is no idle time there, but it is in the bins.
        let ticks =
            |places: &[(PathId, i64)]| places.iter().fold(0, |sum: i64, place| sum.wrapping_add(place.1));
        let sum = runs.iter().fold(0, |sum: Ticks, run| sum.wrapping_add(run.ticks()));
        let rest = ticks(idle.outside()).wrapping_add(ticks(&limited)).wrapping_sub(sum);
        runs.push(Run::single(FINE_BINS - 1, IDLE, rest));
    }
    all
}

/// Adds the ticks in a region to idle ones, with their sign.
fn add(runs: &mut Vec<Run>, timelines: &mut RegionTimelines, region: PathId, sign: fn(Run) -> Run) {
    let Some(timeline) = timelines.get_mut(&region) else { return };
    runs.extend(timeline.runs().iter().map(|&run| Run { class: IDLE, ..sign(run) }));
}

impl LocationTimeline {
    /// Makes the timelines of a location that was walked.
    pub fn new(of_classes: Timeline, of_regions: Vec<(PathId, Timeline<1>)>, bins: Bins) -> LocationTimeline {
        let of_regions = of_regions.into_iter().collect();
        LocationTimeline { of_classes: Some(of_classes.into()), bins, of_regions }
    }

    /// Moves the ticks of a wait that begins at a time from one class to another.
    ///
    /// # Panics
    /// If there are no such classes.
    pub fn wait(&mut self, class: WaitClass, begin: Ticks, ticks: Ticks) {
        let bins = self.bins;
        self.of_classes.get_or_insert_with(|| Timeline::new(bins).into()).wait(class, begin, ticks);
    }

    /// Takes its ticks by class.
    pub(super) fn take(&mut self) -> Option<Box<Timeline>> {
        self.of_classes.take()
    }
}
