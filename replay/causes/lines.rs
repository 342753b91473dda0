//! The time lines of all locations of a worker, and the costs that are charged to them.

use model::Ticks;

use super::time_line::{Scratch, TimeLine};
use crate::exchange::Batch;
use crate::exchange::batch::{BatchReader, halves, pair};
use crate::journal::{Position, Spot};
use crate::severity::{Columns, MetricId, Row};

/// A location of this worker.
#[derive(Debug)]
struct Line {
    time: TimeLine,
    /// The report's call path by row.
    paths: Vec<u32>,
    /// What was charged to it.
    shares: Columns<i128>,
}

/// All locations of a worker.
#[derive(Debug)]
pub(super) struct Lines {
    lines: Vec<Line>,
    /// The first location.
    first: usize,
    scratch: Scratch,
    /// Ticks by call path of the report, for one comparison at a time; and which those are.
    noted: Vec<Ticks>,
    used: Vec<u32>,
}

impl Lines {
    /// The time lines of consecutive locations, the first of which is `first`, each with the report's call paths by row.
    /// `paths` is the number of these.
    pub(super) fn new(first: usize, lines: Vec<(TimeLine, Vec<u32>)>, paths: usize) -> Self {
        let line = |(time, paths)| Line { time, paths, shares: Columns::default() };
        Lines {
            lines: lines.into_iter().map(line).collect(),
            first,
            scratch: Scratch::default(),
            noted: vec![0; paths],
            used: Vec::new(),
        }
    }

    /// The number of locations.
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// The number of a location among those of this worker.
    pub(super) fn at(&self, location: u32) -> usize {
        location as usize - self.first
    }

    /// The location at a number.
    pub(super) fn location(&self, at: usize) -> u32 {
        (self.first + at) as u32
    }

    /// The time line of a location.
    pub(super) fn line(&self, at: usize) -> &TimeLine {
        &self.lines[at].time
    }

    /// The report's call path of a row.
    pub(super) fn path(&self, at: usize, row: Row) -> u32 {
        self.lines[at].paths[row as usize]
    }

    /// What a location did until an event (see [`TimeLine::pruned`]).
    pub(super) fn pruned(&mut self, spot: Spot, after: Option<usize>, into: &mut Vec<(Row, Ticks)>) {
        let at = self.at(spot.location);
        self.lines[at].time.pruned(after, spot.position, &mut self.scratch, into);
    }

    /// What a location did between two events (see [`TimeLine::work`]); from the begin, if there is no first.
    pub(super) fn work_since(
        &mut self,
        at: usize,
        since: Option<Position>,
        before: Position,
        into: &mut Vec<(Row, Ticks)>,
    ) {
        self.lines[at].time.work_since(since, before, &mut self.scratch, into);
    }

    /// What a location did until an event (see [`TimeLine::work`]).
    pub(super) fn work(
        &mut self,
        at: usize,
        after: Option<usize>,
        before: u32,
        into: &mut Vec<(Row, Ticks)>,
    ) {
        self.lines[at].time.work(after, before, &mut self.scratch, into);
    }

    /// Charges costs to a row.
    pub(super) fn add(&mut self, at: usize, metric: MetricId, row: Row, value: i128) {
        if value != 0 {
            self.lines[at].shares.add(metric, row, value);
        }
    }

    /// Charges costs where an event is.
    pub(super) fn add_at(&mut self, spot: Spot, metric: MetricId, value: i128) {
        let at = self.at(spot.location);
        let row = self.line(at).row(spot.position);
        self.add(at, metric, row, value);
    }

    /// Notes the ticks of a call path.
    pub(super) fn note(&mut self, path: u32, ticks: Ticks) {
        self.noted[path as usize] = ticks;
        self.used.push(path);
    }

    /// The ticks that were noted.
    pub(super) fn noted(&self, path: u32) -> Ticks {
        self.noted[path as usize]
    }

    /// Forgets what was noted.
    pub(super) fn forget(&mut self) {
        for path in self.used.drain(..) {
            self.noted[path as usize] = 0;
        }
    }

    /// What was charged to a location so far.
    pub(super) fn shares(&self, at: usize) -> &Columns<i128> {
        &self.lines[at].shares
    }

    /// The report's call paths of a location, by row.
    pub(super) fn paths(&self, at: usize) -> &[u32] {
        &self.lines[at].paths
    }

    /// What was charged to each location.
    pub(super) fn into_shares(self) -> impl Iterator<Item = Columns<i128>> {
        self.lines.into_iter().map(|line| line.shares)
    }
}

/// Ticks that do not fit into half a word stand in the next one.
const LONG: u32 = u32::MAX;

/// Writes ticks by call path to a batch: the number of words and a mark first.
#[derive(Debug)]
pub(super) struct MapWriter<'b> {
    batch: &'b mut Batch,
    head: usize,
}

impl<'b> MapWriter<'b> {
    /// A map with a mark, and nothing in it yet.
    pub(super) fn new(batch: &'b mut Batch, mark: u32) -> MapWriter<'b> {
        let head = batch.len();
        batch.push(pair(mark, 0));
        MapWriter { batch, head }
    }

    /// Adds a call path.
    pub(super) fn push(&mut self, path: u32, ticks: Ticks) {
        let before = self.batch.len();
        match ticks.cast_unsigned() {
            short if short < u64::from(LONG) => self.batch.push(pair(path, short as u32)),
            long => self.batch.extend([pair(path, LONG), long]),
        }
        self.batch[self.head] += (self.batch.len() - before) as u64;
    }
}

/// Reads what a [`MapWriter`] wrote, and answers the mark.
pub(super) fn read_map(reader: &mut BatchReader<'_>, mut with: impl FnMut(u32, Ticks)) -> u32 {
    let (mark, length) = halves(reader.word());
    let mut entries = BatchReader::new(reader.words(length as usize));
    while !entries.is_empty() {
        let (path, short) = halves(entries.word());
        let ticks = if short == LONG { entries.word() } else { short.into() };
        with(path, ticks.cast_signed());
    }
    mark
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_with_short_and_long_times_come_back() {
        let entries = [(3, 7), (4, 1 << 40), (9, LONG.into()), (u32::MAX, 0)];
        let mut batch = vec![1];
        let mut writer = MapWriter::new(&mut batch, 5);
        entries.iter().for_each(|&(path, ticks)| writer.push(path, ticks));
        MapWriter::new(&mut batch, 0);
        let mut reader = BatchReader::new(&batch[1..]);
        let mut read = Vec::new();
        assert_eq!(read_map(&mut reader, |path, ticks| read.push((path, ticks))), 5);
        assert_eq!(read, entries);
        assert_eq!(read_map(&mut reader, |_, _| panic!("nothing is in there")), 0);
        assert!(reader.is_empty());
    }
}
