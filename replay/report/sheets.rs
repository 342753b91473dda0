//! Numbers of some call paths at some locations, as locations have them: fetched one location after the other.
//!
//! What a location has is in memory of its own. To go there takes long, so it is done once for many call paths.

use std::cell::{OnceCell, RefCell};
use std::ops::Range;

use super::source::Sources;
use crate::severity::{MetricId, Records, Severities};

/// Call paths of a sheet at most, and call paths times locations of the report.
const PATHS: usize = 1 << 14;
const CELLS: usize = 1 << 20;

/// Call paths whose numbers are fetched together of metrics that most rows have: those of a column follow each other in
/// memory.
const FETCHED: usize = 64;

/// Numbers in a line of the cache.
const LINE: usize = 8;

/// A location has no row for a call path.
const NO_ROW: u32 = u32::MAX;

/// A range in chunks of a length, of which the last one may be shorter.
pub(super) fn chunks(range: Range<usize>, length: usize) -> impl Iterator<Item = Range<usize>> {
    range.clone().step_by(length).map(move |first| first..range.end.min(first + length))
}

/// How many call paths may be in a sheet of so many locations.
pub(super) fn height(locations: usize) -> usize {
    (CELLS / locations.max(1)).clamp(1, PATHS)
}

/// Some call paths at some locations.
#[derive(Debug)]
pub(super) struct Sheet<'s> {
    pub(super) all: &'s Sources<'s>,
    /// Call paths of the report.
    pub(super) paths: &'s [u32],
    /// The locations, by position in the list.
    pub(super) locations: Range<usize>,
    /// Neighbours among them whose rows are alike, with the rows of the call paths.
    rows: Vec<(Range<usize>, Vec<u32>)>,
    /// By metric that most rows have: the call paths that were fetched last.
    dense: Vec<RefCell<Fetched>>,
    /// What is in records by call path, once that was asked for: whole numbers, and shares of ticks.
    whole: OnceCell<Recorded<i64>>,
    shares: OnceCell<Recorded<i128>>,
}

/// Numbers of some call paths.
#[derive(Clone, Debug, Default)]
struct Fetched {
    at: Range<usize>,
    /// Call path after call path.
    numbers: Vec<i64>,
}

/// By call path: what is in records of locations.
type Recorded<T> = Vec<Vec<Entry<T>>>;

/// A number in a record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<T> {
    /// By position among those of the sheet.
    pub(super) location: u32,
    pub(super) metric: u32,
    pub(super) value: T,
}

impl<'s> Sheet<'s> {
    /// It is fast if neighbours in the list of call paths are neighbours at locations.
    pub(super) fn new(all: &'s Sources<'s>, paths: &'s [u32], locations: Range<usize>) -> Sheet<'s> {
        let mut rows: Vec<(Range<usize>, Vec<u32>)> = Vec::new();
        let mut next = locations.start;
        while next < locations.end {
            let run = all.alike.partition_point(|run| run.end <= next);
            let end = all.alike[run].end.min(locations.end);
            let (list, source) = (&all.rows[run], &all.list[next]);
            let row = |path: &u32| {
                let found = list.binary_search_by_key(path, |&row| source.path_of(row));
                found.map_or(NO_ROW, |at| list[at])
            };
            rows.push((next - locations.start..end - locations.start, paths.iter().map(row).collect()));
            next = end;
        }
        let dense = vec![RefCell::default(); all.metrics.list.len()];
        Sheet { all, paths, locations, rows, dense, whole: OnceCell::new(), shares: OnceCell::new() }
    }

    /// The numbers of a metric that most rows have at some of the call paths; nothing of any other.
    pub(super) fn dense(&self, metric: MetricId, at: &Range<usize>) -> Vec<i64> {
        let Some(columns) = self.all.dense[metric].get(self.locations.clone()) else { return Vec::new() };
        let fetched = &mut *self.dense[metric].borrow_mut();
        if at.start < fetched.at.start || fetched.at.end < at.end {
            fetched.at = at.start..at.end.max(at.start + FETCHED).min(self.paths.len());
            self.fetch(columns, fetched);
        }
        let rows = fetched.numbers.chunks_exact(self.stride());
        let mut numbers = Vec::with_capacity(at.len() * self.locations.len());
        for row in rows.skip(at.start - fetched.at.start).take(at.len()) {
            numbers.extend_from_slice(&row[..self.locations.len()]);
        }
        numbers
    }

    /// Whole numbers in records of a call path, one of the sheet's.
    pub(super) fn whole(&self, at: usize) -> &[Entry<i64>] {
        &self.whole.get_or_init(|| self.collect(|severities| severities.records().0))[at]
    }

    /// Shares of ticks in records of a call path, one of the sheet's.
    pub(super) fn shares(&self, at: usize) -> &[Entry<i128>] {
        &self.shares.get_or_init(|| self.collect(|severities| severities.records().1))[at]
    }

    /// The distance of call paths: an odd number of lines of the cache, so that they do not drive each other out of it.
    fn stride(&self) -> usize {
        LINE * (self.locations.len().div_ceil(LINE) | 1)
    }

    fn fetch(&self, columns: &[&[i64]], Fetched { at, numbers }: &mut Fetched) {
        let stride = self.stride();
        numbers.clear();
        numbers.resize(at.len() * stride, 0);
        for (alike, rows) in &self.rows {
            // Some locations at a time, whose numbers at a call path are in a line of the cache.
            for locations in chunks(alike.clone(), LINE) {
                // As many as there are always: the compiler makes the most of it.
                let mut some: [&[i64]; LINE] = [&[]; LINE];
                some[..locations.len()].copy_from_slice(&columns[locations.clone()]);
                for (numbers, &row) in numbers.chunks_exact_mut(stride).zip(&rows[at.clone()]) {
                    let number = |column: &[i64]| column.get(row as usize).copied().unwrap_or(0);
                    let line = some.map(number);
                    numbers[locations.clone()].copy_from_slice(&line[..locations.len()]);
                }
            }
        }
    }

    fn collect<'c, T: Copy + Default + PartialEq + 'c>(
        &'c self,
        of: impl Fn(&'c Severities) -> &'c Records<T>,
    ) -> Recorded<T> {
        let mut recorded = vec![Vec::new(); self.paths.len()];
        let sources = &self.all.list[self.locations.clone()];
        for (alike, rows) in &self.rows {
            let mut positions = Vec::new();
            for (at, &row) in (0..).zip(rows).filter(|(_, row)| **row != NO_ROW) {
                positions.resize(positions.len().max(row as usize + 1), NO_ROW);
                positions[row as usize] = at;
            }
            for location in alike.clone() {
                of(sources[location].severities).each(|row, metric, value| {
                    let at = positions.get(row as usize).copied().unwrap_or(NO_ROW);
                    if at != NO_ROW && value != T::default() {
                        let (location, metric) = (location as u32, metric as u32);
                        recorded[at as usize].push(Entry { location, metric, value });
                    }
                });
            }
        }
        recorded
    }
}
