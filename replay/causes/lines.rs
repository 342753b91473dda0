//! Time lines of all locations of a worker, and the costs charged to them.

use model::Ticks;

use super::by_iteration::{CostsByIteration, Extent};
use super::points::SyncPoint;
use super::previous::Past;
use super::time_line::{RowPlaces, TimeLine};
use crate::fraction::fixed;
use crate::ids::{JournalPosition, ReportPath, Row};
use crate::int::to_u32;
use crate::journal::{Journal, JournalSpot};
use crate::severity::{MetricId, Records};
use crate::structure::Borders;

/// A location of this worker.
#[derive(Debug)]
struct Line {
    time: TimeLine,
    /// The report's call path by row.
    paths: Vec<ReportPath>,
    /// Costs charged to it.
    shares: Records<i128>,
}

/// All locations of a worker.
#[derive(Debug)]
pub(super) struct Lines {
    lines: Vec<Line>,
    /// Number of the first location.
    first: usize,
    places: RowPlaces,
    /// Costs by iteration, if there are iterations.
    by_iteration: Option<CostsByIteration>,
    /// Ticks by call path of the report, noted for one comparison at a time, and the call paths in use.
    noted: Vec<Ticks>,
    used: Vec<ReportPath>,
}

impl Lines {
    /// An empty list: the locations that are pushed are consecutive, from `first` on. `paths` is the number
    /// of the report's call paths.
    pub(super) fn new(first: usize, paths: usize, by_iteration: Option<CostsByIteration>) -> Self {
        Lines {
            lines: Vec::new(),
            first,
            places: RowPlaces::default(),
            by_iteration,
            noted: vec![0; paths],
            used: Vec::new(),
        }
    }

    /// Adds the next location: its journal and its points, in order, the report's call paths by row, and where iterations begin
    /// and end.
    pub(super) fn push(
        &mut self,
        journal: Journal,
        points: Vec<SyncPoint>,
        paths: Vec<ReportPath>,
        is_worker: bool,
        borders: Borders,
    ) {
        if let Some(by_iteration) = &mut self.by_iteration {
            by_iteration.push(borders);
        }
        let time = TimeLine::new(journal, points, paths.len(), is_worker, &mut self.places);
        self.lines.push(Line { time, paths, shares: Records::default() });
    }

    /// The number of locations.
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// Index of a location among those of this worker.
    pub(super) fn at(&self, location: u32) -> usize {
        location as usize - self.first
    }

    /// Number of the location at an index.
    pub(super) fn location(&self, at: usize) -> u32 {
        to_u32(self.first + at)
    }

    /// The time line of a location.
    pub(super) fn line(&self, at: usize) -> &TimeLine {
        &self.lines[at].time
    }

    /// The report's call path of a row.
    pub(super) fn path(&self, at: usize, row: Row) -> ReportPath {
        self.lines[at].paths[row.index()]
    }

    /// The report's call path of an event; none if there is no such event.
    pub(super) fn path_at(&self, event: JournalSpot) -> ReportPath {
        let at = self.at(event.location);
        self.line(at).row_at(event.position).map_or(ReportPath::NONE, |row| self.path(at, row))
    }

    /// Time map of a location in the past of an event, pruned (see [`TimeLine::pruned`]).
    pub(super) fn pruned(&mut self, spot: JournalSpot, past: Past, into: &mut Vec<(Row, Ticks)>) {
        let at = self.at(spot.location);
        self.lines[at].time.pruned(past, spot.position, &mut self.places, into);
    }

    /// Time map of a location between two events (see [`TimeLine::work`]); from the start if there is no
    /// first.
    pub(super) fn work_since(
        &mut self,
        at: usize,
        since: Option<JournalPosition>,
        before: JournalPosition,
        into: &mut Vec<(Row, Ticks)>,
    ) {
        self.lines[at].time.work_since(since, before, &mut self.places, into);
    }

    /// Time map of a location in the past of an event (see [`TimeLine::work`]).
    pub(super) fn work(&mut self, spot: JournalSpot, past: Past, into: &mut Vec<(Row, Ticks)>) {
        let at = self.at(spot.location);
        self.lines[at].time.work(past, spot.position, &mut self.places, into);
    }

    /// Time map of a location over the whole trace, by row.
    pub(super) fn all_work(&mut self, at: usize, into: &mut Vec<Ticks>) {
        let Line { time, paths, .. } = &self.lines[at];
        let mut work = Vec::new();
        time.work(Past::new(None, time.points().len()), time.end(), &mut self.places, &mut work);
        into.clear();
        into.resize(paths.len(), 0);
        work.into_iter().for_each(|(row, ticks)| into[row.index()] = ticks);
    }

    /// Charges costs to a row.
    pub(super) fn add(&mut self, at: usize, metric: MetricId, row: Row, value: i128) {
        if value != 0 {
            self.lines[at].shares.add(metric, row, value);
        }
    }

    /// Charges costs to the row of an event, and to the iteration with it.
    pub(super) fn add_at(
        &mut self,
        at: usize,
        metric: MetricId,
        (row, event): (Row, JournalPosition),
        value: i128,
    ) {
        self.add(at, metric, row, value);
        if let Some(by_iteration) = self.by_iteration.as_mut().filter(|_| value != 0) {
            by_iteration.add_at(at, metric, event, value);
        }
    }

    /// Charges costs to rows, `cost` per tick of work in a stretch.
    pub(super) fn charge(
        &mut self,
        at: usize,
        metric: MetricId,
        cost: f64,
        (extent, work): (Extent, &[(Row, Ticks)]),
    ) {
        let costs = || work.iter().map(|&(row, ticks)| (row, fixed(cost * ticks as f64)));
        for (row, value) in costs() {
            self.add(at, metric, row, value);
        }
        if let Some(by_iteration) = &mut self.by_iteration {
            by_iteration.charge((at, &self.lines[at].time), metric, extent, costs());
        }
    }

    /// Adds time on the critical path, by row, that lies in a stretch, to its iterations.
    pub(super) fn add_path(&mut self, at: usize, metric: MetricId, extent: Extent, work: &[(Row, Ticks)]) {
        if let Some(by_iteration) = &mut self.by_iteration {
            by_iteration.add_path((at, &self.lines[at].time), metric, extent, work);
        }
    }

    /// Returns what was collected by iteration.
    pub(super) fn take_by_iteration(&mut self) -> Option<CostsByIteration> {
        self.by_iteration.take()
    }

    /// Notes the ticks of a call path for a comparison.
    pub(super) fn note(&mut self, path: ReportPath, ticks: Ticks) {
        self.noted[path.index()] = ticks;
        self.used.push(path);
    }

    /// The noted ticks of a call path.
    pub(super) fn noted(&self, path: ReportPath) -> Ticks {
        self.noted[path.index()]
    }

    /// Clears the notes.
    pub(super) fn forget(&mut self) {
        for path in self.used.drain(..) {
            self.noted[path.index()] = 0;
        }
    }

    /// Costs charged to a location so far.
    pub(super) fn shares(&self, at: usize) -> &Records<i128> {
        &self.lines[at].shares
    }

    /// The report's call paths of a location, by row.
    pub(super) fn paths(&self, at: usize) -> &[ReportPath] {
        &self.lines[at].paths
    }

    /// Costs charged to each location.
    pub(super) fn into_shares(self) -> impl Iterator<Item = Records<i128>> {
        self.lines.into_iter().map(|line| line.shares)
    }
}
