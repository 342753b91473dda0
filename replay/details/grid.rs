//! The table `grid`: the ticks of each class, by location and time (`docs/details.md`).
//!
//! Level 0 has a row for each location; 16 neighbours of a level are a group of the next one, with more bins. A location is
//! added to all levels at once when its waits are known. What it has at level 0 is stored as the bytes of the table, the sums
//! of groups as numbers.

use std::collections::BTreeMap;

use details::manifest::{Class, Level};
use details::{Column, Table, Unit, Values};

use super::Scheme;
use super::classes::{ClassId, MOST_CLASSES};
use super::idle::idle_runs;
use super::rows::{Row, encode, put_zeros};
use super::timeline::{FINE_BINS, Run, Timeline};
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
type RowsByClass = [Option<Row>; MOST_CLASSES];

/// Sums of the groups of a level.
#[derive(Debug)]
struct Sums {
    shape: Shape,
    /// The number of the first group.
    first: u32,
    groups: Vec<RowsByClass>,
}

/// The place of a row of ticks: level, class, group.
type Place = (u8, ClassId, u32);

/// What a worker adds to the table.
#[derive(Debug)]
pub(super) struct Grid<'s> {
    scheme: &'s Scheme,
    shapes: Vec<Shape>,
    /// The rows of level 0, encoded, one after the other, with the length of each.
    encoded: Vec<u8>,
    places: Vec<(Place, u32)>,
    /// The levels above.
    sums: Vec<Sums>,
    /// Rows of the location that is added, and their bytes.
    rows: RowsByClass,
    bytes: Vec<u8>,
}

impl Grid<'_> {
    /// Makes an empty grid.
    pub(super) fn new<'s>(trace: &Trace, scheme: &'s Scheme) -> Grid<'s> {
        let shapes = shapes(to_u32(trace.locations.len()));
        let sums =
            shapes[1..].iter().map(|&shape| Sums { shape, first: u32::MAX, groups: Vec::new() }).collect();
        let rows = RowsByClass::default();
        Grid { scheme, shapes, encoded: Vec::new(), places: Vec::new(), sums, rows, bytes: Vec::new() }
    }

    /// Takes the time of a process that was walked. Waits are added to it later, when timelines of other processes have been
    /// made; so what remains of a timeline until then is small.
    pub(super) fn take_walked(&mut self, process: &WalkedProcess, results: &mut Results) {
        for (location, timeline) in process.locations.iter().zip(&mut results.timelines) {
            let runs = &[timeline.of_classes.runs(), &[]];
            add_runs(&mut self.rows, self.shapes[0].bins, runs);
            for sums in &mut self.sums {
                let bins = sums.shape.bins;
                add_runs(sums.rows_of(to_u32(location.location)), bins, runs);
            }
            self.bytes.clear();
            for (class, row) in (0..).zip(&mut self.rows) {
                put_record(class, row, &mut self.bytes);
            }
            timeline.rows = self.bytes.as_slice().into();
            timeline.of_classes = Timeline::new(self.scheme.bins);
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
            let location = to_u32(location.location);
            self.add_location(location, &timeline.rows, &[timeline.of_classes.runs(), idle]);
        }
    }

    /// Adds a location: the encoded rows of the walk, and further runs.
    fn add_location(&mut self, location: u32, walked: &[u8], runs: &[&[Run]; 2]) {
        let bins = self.shapes[0].bins;
        add_runs(&mut self.rows, bins, runs);
        let has_runs = classes_of(runs);
        each_record(walked, |class, bytes| {
            if has_runs & 1 << class == 0 {
                // Most classes have no waits.
                self.encoded.extend_from_slice(bytes);
                self.places.push(((0, class, location), to_u32(bytes.len())));
            } else if let Some(row) = &mut self.rows[usize::from(class)] {
                row.add_encoded(bytes);
            }
        });
        for (class, row) in (0..).zip(&mut self.rows) {
            let length = encode_and_clear(row, &mut self.encoded);
            if length > 0 {
                self.places.push(((0, class, location), length));
            }
        }
        for sums in self.sums.iter_mut().filter(|_| runs.iter().any(|runs| !runs.is_empty())) {
            let bins = sums.shape.bins;
            add_runs(sums.rows_of(location), bins, runs);
        }
    }

    /// Brings together what all workers have added; the table is at worker 0. Returns it with the classes and the levels.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn of_all(
        mut self,
        exchange: &mut dyn Exchange,
    ) -> Result<(Table, Vec<Class>, Vec<Level>), Error> {
        self.encode_sums();
        let mut batch = Batch::new();
        for &((level, class, group), length) in &self.places {
            batch.push(u64::from(level) << 48 | u64::from(class) << 32 | u64::from(group));
            batch.push(length.into());
        }
        batch.insert(0, to_u64(self.places.len()));
        put_bytes(&mut batch, &self.encoded);
        (self.places, self.encoded) = Default::default();
        let mut all = Rows::default();
        for batch in gather(exchange, batch)? {
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

    /// Encodes the sums of groups behind the rows of locations.
    fn encode_sums(&mut self) {
        for (level, sums) in (1..).zip(std::mem::take(&mut self.sums)) {
            for (group, rows) in (sums.first..).zip(sums.groups) {
                for (class, row) in (0..).zip(rows) {
                    let Some(mut row) = row else { continue };
                    let start = self.encoded.len();
                    encode(row.ticks(), &mut self.encoded);
                    let length = to_u32(self.encoded.len() - start);
                    if length > 0 {
                        self.places.push(((level, class, group), length));
                    }
                }
            }
        }
    }
}

/// Appends the bytes of a row, which has no ticks afterwards; returns their number.
fn encode_and_clear(row: &mut Option<Row>, bytes: &mut Vec<u8>) -> u32 {
    let start = bytes.len();
    if let Some(row) = row {
        encode(row.ticks(), bytes);
        row.clear();
    }
    to_u32(bytes.len() - start)
}

/// Appends a record of a row that has ticks: its class, the number of its bytes, and the bytes.
fn put_record(class: ClassId, row: &mut Option<Row>, bytes: &mut Vec<u8>) {
    let start = bytes.len();
    bytes.extend([class, 0, 0, 0, 0]);
    match encode_and_clear(row, bytes) {
        0 => bytes.truncate(start),
        length => bytes[start + 1..start + 5].copy_from_slice(&length.to_le_bytes()),
    }
}

/// Reads the records that [`put_record`] has written.
fn each_record(mut bytes: &[u8], mut read: impl FnMut(ClassId, &[u8])) {
    while let Some((&[class, a, b, c, d], rest)) = bytes.split_first_chunk() {
        let (row, others) = rest.split_at(to_usize(u32::from_le_bytes([a, b, c, d]).into()));
        read(class, row);
        bytes = others;
    }
}

impl Sums {
    /// Returns the rows of the group of a location; locations come in rising order.
    fn rows_of(&mut self, location: u32) -> &mut RowsByClass {
        let group = location / self.shape.span;
        self.first = self.first.min(group);
        let at = to_usize((group - self.first).into());
        if at >= self.groups.len() {
            self.groups.resize_with(at + 1, RowsByClass::default);
        }
        &mut self.groups[at]
    }
}

/// The classes of runs: a bit for each.
fn classes_of(runs: &[&[Run]; 2]) -> u32 {
    const { assert!(MOST_CLASSES <= 32) };
    runs.iter().copied().flatten().fold(0, |classes, run| classes | 1 << run.class)
}

fn add_runs(rows: &mut RowsByClass, bins: u16, runs: &[&[Run]; 2]) {
    for run in runs.iter().copied().flatten() {
        rows[usize::from(run.class)].get_or_insert_with(|| Row::new(bins)).add(run);
    }
}

/// The rows of all workers, which come in the order of locations.
#[derive(Debug, Default)]
struct Rows {
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

impl Rows {
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
            let mut row = Row::new(shape.bins);
            row.add_encoded(&self.bytes);
            row.add_encoded(bytes);
            self.bytes.clear();
            encode(row.ticks(), &mut self.bytes);
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
        let table = Rows { rows: [((0, 3), rows)].into() }.table(&[shape]);
        let values = table.column("values").map(|column| column.values.clone());
        assert_eq!(values, Some(Values::Bytes(vec![vec![0, 0x7f, 2, 0, 62, 0, 63, 4, 0, 62, 0, 63]])));
        assert_eq!(table.column("groups").map(|column| column.values.clone()), Some(Values::U32(vec![6])));
    }
}
