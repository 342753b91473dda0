//! The table `grid`: the ticks of each class, by location and time (`docs/details.md`).
//!
//! Level 0 has a row for each location; 16 neighbours of a level are a group of the next one, with more bins. A location is
//! added to all levels at once when its waits are known. What it has at level 0 is stored as the bytes of the table, the sums
//! of groups as numbers.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use details::manifest::{Class, Level};
use details::{Column, Table, Unit, Values};

use super::Scheme;
use super::classes::{ClassId, MOST_CLASSES};
use super::idle::idle_runs;
use super::rows::{Row, add_encoded, encode, put_zeros};
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
    /// Rows of the location that is added.
    rows: RowsByClass,
}

impl Grid<'_> {
    /// Makes an empty grid.
    pub(super) fn new<'s>(trace: &Trace, scheme: &'s Scheme) -> Grid<'s> {
        let shapes = shapes(to_u32(trace.locations.len()));
        let sums =
            shapes[1..].iter().map(|&shape| Sums { shape, first: u32::MAX, groups: Vec::new() }).collect();
        let rows = RowsByClass::default();
        Grid { scheme, shapes, encoded: Vec::new(), places: Vec::new(), sums, rows }
    }

    /// Adds the locations of a process, which follow those that were added before, and takes their timelines.
    pub(super) fn add(
        &mut self,
        trace: &Trace,
        metrics: &Metrics,
        process: &WalkedProcess,
        results: &mut Results,
    ) {
        let mut timelines = std::mem::take(&mut results.timelines);
        let idle = idle_runs(trace, metrics, process, &results.severities, &mut timelines);
        for ((location, timeline), idle) in process.locations.iter().zip(&mut timelines).zip(&idle) {
            self.add_location(to_u32(location.location), &[timeline.of_classes.runs(), idle]);
        }
    }

    fn add_location(&mut self, location: u32, runs: &[&[Run]; 2]) {
        add_runs(&mut self.rows, self.shapes[0].bins, runs);
        for (class, row) in (0..).zip(&mut self.rows) {
            let Some(row) = row else { continue };
            let start = self.encoded.len();
            encode(row.ticks(), &mut self.encoded);
            row.clear();
            if self.encoded.len() > start {
                self.places.push(((0, class, location), to_u32(self.encoded.len() - start)));
            }
        }
        for sums in &mut self.sums {
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
            for (group, rows) in (sums.first..).zip(&sums.groups) {
                for (class, row) in (0..).zip(rows) {
                    let start = self.encoded.len();
                    row.iter().for_each(|row| encode(row.ticks(), &mut self.encoded));
                    if self.encoded.len() > start {
                        self.places.push(((level, class, group), to_u32(self.encoded.len() - start)));
                    }
                }
            }
        }
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

fn add_runs(rows: &mut RowsByClass, bins: u16, runs: &[&[Run]; 2]) {
    for run in runs.iter().copied().flatten() {
        rows[usize::from(run.class)].get_or_insert_with(|| Row::new(bins)).add(run);
    }
}

/// The encoded rows of all workers, by place.
#[derive(Debug, Default)]
struct Rows {
    by_place: BTreeMap<Place, Vec<u8>>,
}

impl Rows {
    /// Takes the rows of a worker. Several workers may have locations of one group.
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
            match self.by_place.entry((level, class, group)) {
                Entry::Vacant(entry) => drop(entry.insert(row.to_vec())),
                Entry::Occupied(mut entry) => {
                    let mut ticks = vec![0; usize::from(shapes[usize::from(level)].bins)];
                    add_encoded(entry.get(), &mut ticks);
                    add_encoded(row, &mut ticks);
                    entry.get_mut().clear();
                    encode(ticks.into_iter(), entry.get_mut());
                }
            }
        }
    }

    /// Returns the table. Groups without ticks between others of a row are zeros; rows without any are left out.
    fn table(&self, shapes: &[Shape]) -> Table {
        let mut columns = GridColumns::default();
        let mut last = None;
        for (&(level, class, group), bytes) in self.by_place.iter().filter(|(_, bytes)| !bytes.is_empty()) {
            let shape = shapes[usize::from(level)];
            let most = (CELLS_OF_ROW / u32::from(shape.bins)).max(1);
            let first = group / most * most;
            if last != Some((level, class, first)) {
                columns.end_row(shapes);
                last = Some((level, class, first));
                columns.begin_row(level, class, first, most.min(shape.groups - first));
            }
            columns.put(group, bytes, shape.bins);
        }
        columns.end_row(shapes);
        columns.table()
    }
}

/// The columns of the table.
#[derive(Debug, Default)]
struct GridColumns {
    levels: Vec<u8>,
    classes: Vec<u8>,
    firsts: Vec<u32>,
    groups: Vec<u32>,
    values: Vec<Vec<u8>>,
    /// The next group of the last row.
    next: u32,
}

impl GridColumns {
    fn begin_row(&mut self, level: u8, class: ClassId, first: u32, groups: u32) {
        self.levels.push(level);
        self.classes.push(class);
        self.firsts.push(first);
        self.groups.push(groups);
        self.values.push(Vec::new());
        self.next = first;
    }

    /// Appends a group to the last row.
    fn put(&mut self, group: u32, bytes: &[u8], bins: u16) {
        if let Some(values) = self.values.last_mut() {
            put_zeros(u64::from(group - self.next) * u64::from(bins), values);
            values.extend(bytes);
        }
        self.next = group + 1;
    }

    fn end_row(&mut self, shapes: &[Shape]) {
        if let (Some(level), Some(first), Some(groups)) =
            (self.levels.last(), self.firsts.last(), self.groups.last())
        {
            let bins = shapes[usize::from(*level)].bins;
            if let Some(values) = self.values.last_mut() {
                put_zeros(u64::from(first + groups - self.next) * u64::from(bins), values);
            }
        }
    }

    fn table(self) -> Table {
        Table {
            name: "grid".into(),
            columns: vec![
                Column::new("level", None, Values::U8(self.levels)),
                Column::new("class", None, Values::U8(self.classes)),
                Column::new("group", None, Values::U32(self.firsts)),
                Column::new("groups", Some(Unit::Count), Values::U32(self.groups)),
                Column::new("values", Some(Unit::Tick), Values::Bytes(self.values)),
            ],
        }
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
        let mut rows = Rows::default();
        rows.by_place.insert((0, 3, 2), vec![2, 0, 62]);
        rows.by_place.insert((0, 3, 4), vec![4, 0, 62]);
        let table = rows.table(&[shape(1, 6, 64)]);
        let values = table.column("values").map(|column| column.values.clone());
        assert_eq!(values, Some(Values::Bytes(vec![vec![0, 0x7f, 2, 0, 62, 0, 63, 4, 0, 62, 0, 63]])));
        assert_eq!(table.column("groups").map(|column| column.values.clone()), Some(Values::U32(vec![6])));
    }
}
