//! Time lines of all locations of a worker, and the costs charged to them.

use model::Ticks;

use super::by_iteration::{CostsByIteration, Extent};
use super::focus;
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
    /// Costs by iteration, if there are iterations; with a focus, by whether they lie in windows.
    by_iteration: Option<CostsByIteration>,
    /// The borders of windows of each location; none without a focus.
    windows: Vec<Borders>,
    /// Whether the critical path begins with these.
    begins_path: bool,
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
            windows: Vec::new(),
            begins_path: false,
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

    /// Notes the windows of the next location, with a focus of all of them; and whether the critical path ends before the first one.
    pub(super) fn push_windows(&mut self, borders: Borders, begins_path: bool) {
        self.windows.push(borders);
        self.begins_path = begins_path;
    }

    /// Where the critical path begins at a location, if not with the trace.
    pub(super) fn path_begin(&self, at: usize) -> Option<JournalPosition> {
        self.windows.get(at).filter(|_| self.begins_path)?.first()
    }

    /// Whether only what lies in windows counts.
    pub(super) fn is_focused(&self) -> bool {
        !self.windows.is_empty()
    }

    /// The share of a stretch's time that lies in windows (see [`focus::share_of`]).
    pub(super) fn share_in_windows(&self, at: usize, extent: Extent) -> f64 {
        focus::share_of(self.line(at), self.borders(at), extent)
    }

    /// The borders of the windows of a location.
    ///
    /// # Panics
    /// Without a focus.
    pub(super) fn borders(&self, at: usize) -> &Borders {
        &self.windows[at]
    }

    /// Reduces time by row of a stretch to what lies in windows, if only that counts; `waited` comes first in its row, and is not part
    /// of the work.
    pub(super) fn focus(
        &self,
        at: usize,
        extent: Extent,
        waited: Option<(Row, Ticks)>,
        work: &mut [(Row, Ticks)],
    ) {
        if let Some(borders) = self.windows.get(at) {
            let inside = focus::inside((self.line(at), borders), extent, waited);
            work.iter_mut().for_each(|(row, ticks)| *ticks = inside.get(row).map_or(0, |&it| it.min(*ticks)));
        }
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
        let time = &self.lines[at].time;
        let mut work = Vec::new();
        time.work(Past::new(None, time.points().len()), time.end(), &mut self.places, &mut work);
        let extent = Extent { since: None, before: self.lines[at].time.end() };
        self.focus(at, extent, None, &mut work);
        let paths = &self.lines[at].paths;
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
