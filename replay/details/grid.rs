//! The table `grid`: the ticks of each class, by location and time (`docs/details.md`).
//!
//! Level 0 has a row for each location; 16 neighbours of a level are a group of the next one, with more bins. A location is
//! added to all levels at once when its waits are known. What it has at level 0 is stored as the bytes of the table, the sums
//! of groups as numbers.

use std::collections::BTreeMap;
use std::ops::Range;

use details::manifest::{Class, Level};
use details::{Column, Table, Unit, Values};

use super::Scheme;
use super::classes::{ClassId, MOST_CLASSES};
use super::idle::idle_runs;
use super::rows::{Rows, encode, put_zeros};
use super::timeline::{FINE_BINS, Run};
use crate::error::Error;
use crate::exchange::batch::{BatchReader, halves, put_bytes};
use crate::exchange::{Batch, Exchange, gather};
use crate::int::{to_u32, to_u64, to_usize};
use crate::metrics::Metrics;
use crate::results::Results;
use crate::trace::Trace;
use crate::walk::WalkedProcess;

/// Locations or groups of a level that make a group of the next one.
const SPAN: u32 = 16;

/// Cells of level 0, and of a level above, that bins are chosen for.
const CELLS: [u64; 2] = [1 << 19, 1 << 18];

/// The smallest number of bins.
const LEAST_BINS: u16 = 64;

/// Cells of a row of the table, at most.
const CELLS_OF_ROW: u32 = 1 << 16;

/// The shape of a level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Shape {
    /// Locations of a group.
    span: u32,
    /// Number of groups.
    groups: u32,
    /// Number of bins.
    bins: u16,
}

/// Returns the levels for a number of locations: up to the first one with all fine bins.
fn shapes(locations: u32) -> Vec<Shape> {
    let mut shapes = Vec::new();
    let (mut span, mut groups) = (1, locations.max(1));
    loop {
        let cells = CELLS[usize::from(!shapes.is_empty())];
        let mut bins = FINE_BINS;
        while bins > LEAST_BINS && u64::from(groups) * u64::from(bins) > cells {
            bins /= 2;
        }
        shapes.push(Shape { span, groups, bins });
        if bins == FINE_BINS {
            return shapes;
        }
        (span, groups) = (span.saturating_mul(SPAN), groups.div_ceil(SPAN));
    }
}

/// Rows by class; most classes have none.
type RowsByClass = [Option<Rows>; MOST_CLASSES];

/// Sums of the groups of a level.
#[derive(Debug)]
struct Sums {
    shape: Shape,
    /// The groups that have locations of this worker.
    groups: Range<u32>,
    rows: RowsByClass,
}

/// The place of a row of ticks: level, class, group.
type Place = (u8, ClassId, u32);

/// What a worker adds to the table.
#[derive(Debug)]
pub(super) struct Grid<'s> {
    scheme: &'s Scheme,
    shapes: Vec<Shape>,
    /// The first location. The rows of level 0 of it and of those behind it, as they are after the walk, and with waits.
    first: u32,
    walked: LocationRows,
    locations: LocationRows,
    /// The levels above: as sums, until all locations are added, then encoded, with the place and the length of each row.
    sums: Vec<Sums>,
    encoded: Vec<u8>,
    places: Vec<(Place, usize)>,
    /// Rows of the location that is added.
    rows: RowsByClass,
}

/// Encoded rows of one location after the other. They are in one piece of memory, as the sums are.
#[derive(Debug, Default)]
struct LocationRows {
    bytes: Vec<u8>,
    /// Where those of each location end.
    ends: Vec<usize>,
}

impl Grid<'_> {
    /// Makes an empty grid for processes of a worker.
    pub(super) fn new<'s>(trace: &Trace, scheme: &'s Scheme, processes: &Range<usize>) -> Grid<'s> {
        let shapes = shapes(to_u32(trace.locations.len()));
        let processes = &trace.processes[processes.clone()];
        let first = processes.first().map_or(0, |process| to_u32(process.locations.start));
        let end = processes.last().map_or(first, |process| to_u32(process.locations.end));
        let sums = shapes[1..].iter().map(|&shape| Sums::new(shape, first..end)).collect();
        let (walked, locations, encoded, places, rows) = Default::default();
        Grid { scheme, shapes, first, walked, locations, sums, encoded, places, rows }
    }

    /// Takes the time of a process that was walked; processes come in their order. Waits are added to it later, when
    /// timelines of other processes have been made; so what remains of a timeline until then is small.
    pub(super) fn take_walked(&mut self, process: &WalkedProcess, results: &mut Results) {
        for (location, timeline) in process.locations.iter().zip(&mut results.timelines) {
            let mut walked = timeline.take();
            let runs = &[walked.as_mut().map_or(&[][..], |walked| walked.runs()), &[]];
            add_runs(&mut self.rows, 1, 0, self.shapes[0].bins, runs);
            for sums in &mut self.sums {
                sums.add(to_u32(location.location), runs);
            }
            self.walked.put(&mut self.rows);
        }
    }

    /// Adds the locations of a process, which follow those that were added before, once their waits are in the timelines; and
    /// takes these.
    pub(super) fn add(
        &mut self,
        trace: &Trace,
        metrics: &Metrics,
        process: &WalkedProcess,
        results: &mut Results,
    ) {
        let mut timelines = std::mem::take(&mut results.timelines);
        let idle = idle_runs(trace, metrics, process, &results.severities, &mut timelines);
        for ((location, mut timeline), idle) in process.locations.iter().zip(timelines).zip(&idle) {
            let mut waits = timeline.take();
            let runs = [waits.as_mut().map_or(&[][..], |waits| waits.runs()), idle];
            self.add_location(to_u32(location.location), &runs);
        }
    }

    /// Adds the next location: its rows of the walk, and further runs.
    fn add_location(&mut self, location: u32, runs: &[&[Run]; 2]) {
        let has_runs = classes_of(runs);
        if has_runs != 0 {
            self.sums.iter_mut().for_each(|sums| sums.add(location, runs));
            add_runs(&mut self.rows, 1, 0, self.shapes[0].bins, runs);
        }
        each_row(self.walked.get(to_usize((location - self.first).into())), |class, encoded| {
            if has_runs & 1 << class == 0 {
                // Most classes have no waits.
                put_encoded(class, encoded, &mut self.locations.bytes);
            } else if let Some(row) = &mut self.rows[usize::from(class)] {
                row.add_encoded(0, encoded);
            }
        });
        self.locations.put(&mut self.rows);
    }

    /// Brings together what all workers have added; the table is at worker 0. Returns it with the classes and the levels.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn of_all(
        mut self,
        exchange: &mut dyn Exchange,
    ) -> Result<(Table, Vec<Class>, Vec<Level>), Error> {
        let mut all = TableRows::default();
        for batch in gather(exchange, self.take_batch())? {
            all.take(&batch, &self.shapes);
        }
        let table = all.table(&self.shapes);
        let level = |shape: &Shape| Level {
            span: shape.span.into(),
            groups: shape.groups.into(),
            bins: shape.bins.into(),
            bin_ticks: (self.scheme.bins.width().saturating_mul((FINE_BINS / shape.bins).into()))
                .cast_unsigned(),
        };
        Ok((table, self.scheme.classes.list().to_vec(), self.shapes.iter().map(level).collect()))
    }

    /// Encodes the sums, once all locations are added: numbers take several times as much memory.
    pub(super) fn finish(&mut self) {
        self.walked = LocationRows::default();
        for (level, sums) in (1..).zip(std::mem::take(&mut self.sums)) {
            for (class, mut rows) in (0..).zip(sums.rows) {
                for (group, row) in sums.groups.clone().zip(rows.iter_mut().flat_map(Rows::groups)) {
                    let start = self.encoded.len();
                    encode(row, &mut self.encoded);
                    if self.encoded.len() > start {
                        self.places.push(((level, class, group), self.encoded.len() - start));
                    }
                }
            }
        }
    }

    /// Puts the rows of locations into a batch, and behind them those of groups. Nothing is left.
    fn take_batch(&mut self) -> Batch {
        let mut encoded = Vec::new();
        // The number of rows, then their places and lengths.
        let mut batch = vec![0];
        let mut put = |(level, class, group): Place, length: usize| {
            batch.push(u64::from(level) << 48 | u64::from(class) << 32 | u64::from(group));
            batch.push(to_u64(length));
            batch[0] += 1;
        };
        for (location, at) in (self.first..).zip(0..self.locations.ends.len()) {
            each_row(self.locations.get(at), |class, row| {
                encoded.extend_from_slice(row);
                put((0, class, location), row.len());
            });
        }
        self.locations = LocationRows::default();
        self.places.iter().for_each(|&(place, length)| put(place, length));
        encoded.append(&mut self.encoded);
        put_bytes(&mut batch, &encoded);
        batch
    }
}

impl LocationRows {
    /// Ends the next location with rows, which have no ticks afterwards.
    fn put(&mut self, rows: &mut RowsByClass) {
        for (class, rows) in (0..).zip(rows) {
            put_row(class, rows, &mut self.bytes);
        }
        self.ends.push(self.bytes.len());
    }

    /// Returns the rows of a location.
    fn get(&self, at: usize) -> &[u8] {
        let begin = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[begin..self.ends[at]]
    }
}

/// Appends a row, if it has ticks, which it has no more afterwards: its class, the number of its bytes, and the bytes.
fn put_row(class: ClassId, rows: &mut Option<Rows>, bytes: &mut Vec<u8>) {
    let Some(rows) = rows else { return };
    let start = bytes.len();
    put_encoded(class, &[], bytes);
    let behind = bytes.len();
    rows.groups().for_each(|row| encode(row, bytes));
    rows.clear();
    match to_u32(bytes.len() - behind) {
        0 => bytes.truncate(start),
        length => bytes[start + 1..behind].copy_from_slice(&length.to_le_bytes()),
    }
}

/// Appends an encoded row.
fn put_encoded(class: ClassId, row: &[u8], bytes: &mut Vec<u8>) {
    bytes.push(class);
    bytes.extend(to_u32(row.len()).to_le_bytes());
    bytes.extend_from_slice(row);
}

/// Reads the rows that were appended by [`put_row`] and [`put_encoded`].
fn each_row(mut bytes: &[u8], mut read: impl FnMut(ClassId, &[u8])) {
    while let Some((&[class, a, b, c, d], rest)) = bytes.split_first_chunk() {
        let (row, others) = rest.split_at(to_usize(u32::from_le_bytes([a, b, c, d]).into()));
        read(class, row);
        bytes = others;
    }
}

impl Sums {
    /// Without ticks, for locations of a worker.
    fn new(shape: Shape, locations: Range<u32>) -> Sums {
        let groups = locations.start / shape.span..locations.end.div_ceil(shape.span);
        Sums { shape, groups, rows: RowsByClass::default() }
    }

    /// Adds runs of a location.
    fn add(&mut self, location: u32, runs: &[&[Run]; 2]) {
        let group = location / self.shape.span - self.groups.start;
        add_runs(&mut self.rows, self.groups.len(), to_usize(group.into()), self.shape.bins, runs);
    }
}

/// The classes of runs: a bit for each.
fn classes_of(runs: &[&[Run]; 2]) -> u32 {
    const { assert!(MOST_CLASSES <= 32) };
    runs.iter().copied().flatten().fold(0, |classes, run| classes | 1 << run.class)
}

/// Adds runs to the row of a group, one of so many, of each class.
fn add_runs(rows: &mut RowsByClass, groups: usize, group: usize, bins: u16, runs: &[&[Run]; 2]) {
    for run in runs.iter().copied().flatten() {
        let rows = rows[usize::from(run.class)].get_or_insert_with(|| Rows::new(groups, bins));
        rows.add(group, run);
    }
}

/// The rows of all workers, which come in the order of locations.
#[derive(Debug, Default)]
struct TableRows {
    /// By level and class.
    rows: BTreeMap<(u8, ClassId), RowsOfClass>,
}

/// The rows of the table of a level and class.
#[derive(Debug, Default)]
struct RowsOfClass {
    /// The first group of each, and its bytes; none without ticks.
    rows: Vec<(u32, Vec<u8>)>,
    /// The next group of the last row.
    next: u32,
    /// The last group, to which the next worker may have to add, and its bytes.
    last: Option<u32>,
    bytes: Vec<u8>,
}

impl TableRows {
    /// Takes the rows of a worker.
    fn take(&mut self, batch: &[u64], shapes: &[Shape]) {
        let mut reader = BatchReader::new(batch);
        if reader.is_empty() {
            return;
        }
        let places = to_usize(reader.word());
        let places = reader.words(2 * places);
        let bytes = reader.bytes();
        let mut rest = &bytes[..];
        for place in places.chunks_exact(2) {
            let (row, others) = rest.split_at(to_usize(place[1]));
            rest = others;
            let (kind, group) = halves(place[0]);
            let [class, _, level, _] = kind.to_le_bytes();
            self.rows.entry((level, class)).or_default().take(group, row, shapes[usize::from(level)]);
        }
    }

    /// Returns the table.
    fn table(self, shapes: &[Shape]) -> Table {
        let (mut levels, mut classes, mut firsts) = (Vec::new(), Vec::new(), Vec::new());
        let (mut groups, mut values) = (Vec::new(), Vec::new());
        for ((level, class), mut of_class) in self.rows {
            let shape = shapes[usize::from(level)];
            of_class.finish(shape);
            for (first, bytes) in of_class.rows {
                levels.push(level);
                classes.push(class);
                firsts.push(first);
                groups.push(shape.groups_from(first));
                values.push(bytes);
            }
        }
        Table {
            name: "grid".into(),
            columns: vec![
                Column::new("level", None, Values::U8(levels)),
                Column::new("class", None, Values::U8(classes)),
                Column::new("group", None, Values::U32(firsts)),
                Column::new("groups", Some(Unit::Count), Values::U32(groups)),
                // Real times are noise: compressed, they would be a third smaller, and take as long as all else.
                Column::new("values", Some(Unit::Tick), Values::Bytes(values)).raw(),
            ],
        }
    }
}

impl RowsOfClass {
    /// Takes the bytes of a group. Several workers may have locations of one group.
    fn take(&mut self, group: u32, bytes: &[u8], shape: Shape) {
        if self.last == Some(group) {
            let mut sum = Rows::new(1, shape.bins);
            sum.add_encoded(0, &self.bytes);
            sum.add_encoded(0, bytes);
            self.bytes.clear();
            sum.groups().for_each(|row| encode(row, &mut self.bytes));
        } else {
            self.put_last(shape);
            self.last = Some(group);
            self.bytes.clear();
            self.bytes.extend_from_slice(bytes);
        }
    }

    /// Appends the last group to its row. Groups without ticks between others are zeros.
    fn put_last(&mut self, shape: Shape) {
        let Some(group) = self.last.take().filter(|_| !self.bytes.is_empty()) else { return };
        let first = group - group % shape.groups_of_row();
        if self.rows.last().is_none_or(|(last, _)| *last != first) {
            self.end_row(shape);
            self.rows.push((first, Vec::new()));
            self.next = first;
        }
        if let Some((_, values)) = self.rows.last_mut() {
            put_zeros(u64::from(group - self.next) * u64::from(shape.bins), values);
            values.extend_from_slice(&self.bytes);
        }
        self.next = group + 1;
    }

    fn end_row(&mut self, shape: Shape) {
        if let Some((first, values)) = self.rows.last_mut() {
            let missing = *first + shape.groups_from(*first) - self.next;
            put_zeros(u64::from(missing) * u64::from(shape.bins), values);
        }
    }

    fn finish(&mut self, shape: Shape) {
        self.put_last(shape);
        self.end_row(shape);
    }
}

impl Shape {
    /// Returns the groups of a row of the table.
    fn groups_of_row(self) -> u32 {
        (CELLS_OF_ROW / u32::from(self.bins)).max(1)
    }

    /// Returns the groups of the row that begins with a group.
    fn groups_from(self, first: u32) -> u32 {
        self.groups_of_row().min(self.groups - first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(span: u32, groups: u32, bins: u16) -> Shape {
        Shape { span, groups, bins }
    }

    #[test]
    fn levels_follow_from_the_number_of_locations() {
        assert_eq!(shapes(1), [shape(1, 1, 4096)]);
        assert_eq!(shapes(128), [shape(1, 128, 4096)]);
        assert_eq!(shapes(1000), [shape(1, 1000, 512), shape(16, 63, 4096)]);
        let large = [shape(1, 65_536, 64), shape(16, 4096, 64), shape(256, 256, 1024), shape(4096, 16, 4096)];
        assert_eq!(shapes(65_536), large);
        assert_eq!(shapes(0), [shape(1, 1, 4096)]);
    }

    #[test]
    fn rows_of_the_table_have_zeros_for_groups_without_ticks() {
        let mut rows = RowsOfClass::default();
        let shape = shape(1, 6, 64);
        rows.take(2, &[2, 0, 62], shape);
        rows.take(4, &[2, 0, 62], shape);
        rows.take(4, &[2, 0, 62], shape);
        let table = TableRows { rows: [((0, 3), rows)].into() }.table(&[shape]);
        let values = table.column("values").map(|column| column.values.clone());
        assert_eq!(values, Some(Values::Bytes(vec![vec![0, 0x7f, 2, 0, 62, 0, 63, 4, 0, 62, 0, 63]])));
        assert_eq!(table.column("groups").map(|column| column.values.clone()), Some(Values::U32(vec![6])));
    }
}
