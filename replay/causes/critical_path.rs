//! Critical path: the stretches of locations that it covers (specification 8.1).

use std::cmp::Reverse;
use std::sync::Arc;

use model::Ticks;

use super::by_iteration::Extent;
use super::event_times::EventTimes;
use super::graph::Graph;
use super::lines::Lines;
use super::points::Next;
use super::previous::Past;
use super::sides::Causes;
use crate::details::critical::{Link, PathRow, PathRows};
use crate::ids::{JournalPosition, ReportPath, Row};
use crate::int::to_u32;
use crate::journal::{JournalSpot, Spot};
use crate::severity::MetricId;
use crate::solvers::{Group, Part};
use crate::wire::wire;

/// The critical path at the locations of a group of workers. It stops at some points of each: a stretch
/// starts behind each of them, and one before the first.
#[derive(Clone, Debug)]
pub(super) struct CriticalPath {
    /// The last event from which the path was entered, by graph and stretch.
    ends: Vec<Vec<JournalPosition>>,
}

/// A stretch of the critical path at the locations of a graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Stretch {
    /// Its number: the stretches of one location follow those of the one before.
    number: u32,
    /// The event at which it ends.
    end: JournalPosition,
}

wire!(Stretch { [number, end] });

impl CriticalPath {
    /// An empty path.
    pub(super) fn new(graphs: &[Arc<Graph>]) -> CriticalPath {
        let stretches = |graph: &Arc<Graph>| graph.stops.list.len() + graph.lines();
        CriticalPath {
            ends: graphs.iter().map(|graph| vec![JournalPosition::NONE; stretches(graph)]).collect(),
        }
    }

    /// Extends the path to an event of a location, and backwards from there. Returns the stop before it, none
    /// at the start of the trace; and whether the stretch was covered before.
    pub(super) fn visit(
        &mut self,
        group: &Group<Graph>,
        at: usize,
        position: JournalPosition,
    ) -> (Option<(JournalPosition, Next)>, bool) {
        let number = group.part_of(at);
        let (graph, line) = (&group.parts[number], at - group.first_line(number));
        let stops = graph.stops.of(line);
        let before = stops.partition_point(|&(stop, _)| stop < position);
        let end = &mut self.ends[number][graph.stops.range(line).start + line + before];
        let is_again = *end != JournalPosition::NONE;
        *end = if is_again { position.max(*end) } else { position };
        (before.checked_sub(1).map(|before| stops[before]), is_again)
    }

    /// The covered stretches, by graph.
    pub(super) fn into_stretches(self) -> Vec<Vec<Stretch>> {
        let of_graph = |ends: Vec<JournalPosition>| {
            let stretches = (0..).zip(ends).map(|(number, end)| Stretch { number, end });
            stretches.filter(|stretch| stretch.end != JournalPosition::NONE).collect()
        };
        self.ends.into_iter().map(of_graph).collect()
    }
}

/// What the rows of the critical path are made of besides its stretches.
#[derive(Debug)]
pub(super) struct RowMaker<'a> {
    pub(super) times: &'a EventTimes,
    pub(super) causes: &'a Causes,
    /// The time of the last event, by location.
    pub(super) ends: Vec<Ticks>,
    /// The end of the path, if it is here.
    pub(super) last: Option<JournalSpot>,
    pub(super) rows: PathRows,
}

/// Exclusive ticks on the critical path, by location and row. A period counts once, however many branches
/// lead there, and in whatever order. Adds them to the metric by iteration. Makes the rows of the path, too, if there is a maker.
pub(super) fn ticks(
    (lines, metric): (&mut Lines, MetricId),
    path: &[Stretch],
    mut maker: Option<&mut RowMaker<'_>>,
) -> Vec<Vec<Ticks>> {
    let mut rest = path;
    let mut first = 0;
    let mut ticks = Vec::with_capacity(lines.len());
    for at in 0..lines.len() {
        let points = (0..).zip(lines.line(at).points());
        let stops: Vec<usize> =
            points.filter(|(_, point)| point.is_stop()).map(|(number, _)| number).collect();
        let next = first + to_u32(stops.len()) + 1;
        let (here, later) = rest.split_at(rest.partition_point(|stretch| stretch.number < next));
        let stretches = here.iter().map(|stretch| (stretch.number - first, stretch.end));
        let mut rows = maker.as_deref_mut().map(|maker| {
            let events: Vec<JournalPosition> = here.iter().map(|stretch| stretch.end).collect();
            let times = maker.times.of_path(lines, at, maker.causes, &events);
            RowsOfLine {
                location: lines.location(at),
                maker,
                times: times.into_iter(),
                current: None,
                work: Vec::new(),
            }
        });
        ticks.push(ticks_of((lines, metric), at, &stops, stretches, rows.as_mut()));
        if let Some(mut rows) = rows {
            rows.end(lines.paths(at));
        }
        (rest, first) = (later, next);
    }
    ticks
}

/// Exclusive ticks of a location, from the numbers of the points at which the path stops.
fn ticks_of(
    (lines, metric): (&mut Lines, MetricId),
    at: usize,
    stops: &[usize],
    stretches: impl Iterator<Item = (u32, JournalPosition)>,
    mut rows: Option<&mut RowsOfLine<'_, '_>>,
) -> Vec<Ticks> {
    let location = lines.location(at);
    let mut path = Vec::new();
    let mut work = Vec::new();
    for (number, position) in stretches {
        let points = lines.line(at).points();
        let stop = (number as usize).checked_sub(1).map(|before| stops[before]);
        let first = stop.map_or(0, |stop| stop + 1);
        // The event is not behind the next stop.
        let next = stops.get(number as usize).map_or(points.len(), |&next| next);
        let end = first + points[first..next].partition_point(|point| point.position < position);
        lines.work(Spot { location, position }, Past::new(stop, end), &mut work);
        let line = lines.line(at);
        let waited = stop.map(|stop| (line.point_piece(stop).0, line.points()[stop].wait));
        let since = stop.map(|stop| line.points()[stop].position);
        let extent = Extent { since, before: position };
        for (row, ticks) in &mut work {
            let waited = waited.filter(|waited| waited.0 == *row).map_or(0, |it| it.1.clamp(0, *ticks));
            *ticks -= waited;
        }
        lines.focus(at, extent, waited.map(|(row, ticks)| (row, ticks.max(0))), &mut work);
        for (row, ticks) in &work {
            if row.index() >= path.len() {
                path.resize(row.index() + 1, 0);
            }
            let sum: &mut Ticks = &mut path[row.index()];
            *sum = ticks.saturating_add(*sum);
        }
        lines.add_path(at, metric, extent, &work);
        if let Some(rows) = &mut rows {
            rows.add(at, position, &work, lines);
        }
    }
    path
}

/// Rows of the critical path at a location, in the order of time.
#[derive(Debug)]
struct RowsOfLine<'m, 'a> {
    location: u32,
    maker: &'m mut RowMaker<'a>,
    /// The time of each stretch's end, and how the path goes on.
    times: std::vec::IntoIter<Option<(Ticks, Link)>>,
    /// The row that may still grow.
    current: Option<PathRow>,
    /// Its time by row of the severities.
    work: Vec<(Row, Ticks)>,
}

impl RowsOfLine<'_, '_> {
    /// Adds the next stretch, which ends at an event.
    ///
    /// It begins as long before its end as its time on the path is. Where a location waits in a collective operation, the
    /// path has the time from the enter of the call to the begin of the operation after the waiting.
    fn add(&mut self, line: usize, event: JournalPosition, work: &[(Row, Ticks)], lines: &Lines) {
        let here = Spot { location: self.location, position: event };
        let known = self.times.next().flatten();
        let (end, mut link) = known.unwrap_or((self.maker.ends[line], Link::Begin));
        if self.maker.last == Some(here) {
            link = Link::Begin;
        }
        let ticks = work.iter().fold(0, |sum: Ticks, &(_, ticks)| ticks.saturating_add(sum));
        let begin = end.saturating_sub(ticks);
        match &mut self.current {
            Some(row) if row.end == begin => (row.end, row.link) = (end, link),
            _ => {
                self.end(lines.paths(line));
                let path = ReportPath::NONE;
                self.current =
                    Some(PathRow { begin, end, location: self.location, path, path_ticks: 0, link });
            }
        }
        self.work.extend(work);
    }

    /// Ends the row, given the report's call paths of the location.
    fn end(&mut self, paths: &[ReportPath]) {
        let Some(row) = self.current.take() else { return };
        self.work.sort_unstable_by_key(|&(row, _)| row);
        let sums = self.work.chunk_by(|a, b| a.0 == b.0).map(|of_row| {
            let sum = of_row.iter().fold(0, |sum: Ticks, &(_, ticks)| ticks.saturating_add(sum));
            (sum, Reverse(paths[of_row[0].0.index()]))
        });
        if let Some((path_ticks, Reverse(path))) = sums.max().filter(|_| row.end > row.begin) {
            self.maker.rows.push(PathRow { path, path_ticks, ..row });
        }
        self.work.clear();
    }
}
