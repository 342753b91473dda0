//! Map of a series: ticks of metrics by groups of neighbouring locations, and blocks of iterations.

use std::collections::BTreeMap;

use super::blocks::Blocks;
use crate::error::Error;
use crate::exchange::batch::BatchReader;
use crate::exchange::{Batch, Exchange, gather};
use crate::int::{to_u32, to_u64, to_usize};
use crate::severity::MetricId;
use crate::wire::Wire;

/// Locations of a group are this power of so many.
const SPAN: u32 = 16;

/// Groups, and cells of a metric, at most.
const GROUPS: u32 = 1 << 11;
const CELLS: u64 = 1 << 17;

/// The shape of a map.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MapShape {
    /// Locations of a group; the last one may have fewer.
    pub span: u32,
    /// Number of groups.
    pub groups: u32,
    /// How iterations share columns.
    pub blocks: Blocks,
    /// Number of columns.
    pub columns: u32,
}

impl MapShape {
    /// The shape for so many locations and iterations, of which rows of series have blocks.
    pub(super) fn new(locations: usize, iterations: u64, rows: Blocks) -> MapShape {
        let locations = to_u32(locations).max(1);
        let (mut span, mut groups) = (1, locations);
        while groups > GROUPS {
            span *= SPAN;
            groups = locations.div_ceil(span);
        }
        let mut blocks = rows;
        while u64::from(groups) * to_u64(blocks.row(iterations)) > CELLS {
            blocks = blocks.doubled();
        }
        MapShape { span, groups, blocks, columns: to_u32(blocks.row(iterations)) }
    }
}

/// The cells of a worker's locations, by metric: groups, and columns of each.
#[derive(Debug)]
pub(super) struct MapOfWorker {
    shape: MapShape,
    /// The first group with locations of the worker, and how many there are.
    first: u32,
    groups: usize,
    cells: BTreeMap<MetricId, Vec<i64>>,
}

impl MapOfWorker {
    /// An empty map of locations.
    pub(super) fn new(shape: MapShape, first: usize, locations: usize) -> MapOfWorker {
        let [first, last] = [first, (first + locations).saturating_sub(1)].map(|it| to_u32(it) / shape.span);
        let groups = if locations == 0 { 0 } else { (last - first) as usize + 1 };
        MapOfWorker { shape, first, groups, cells: BTreeMap::new() }
    }

    /// Adds ticks of a location in iterations.
    pub(super) fn add(&mut self, location: u32, metric: MetricId, values: impl Iterator<Item = (u64, i64)>) {
        let MapShape { span, blocks, columns, .. } = self.shape;
        let row = (location / span - self.first) as usize * columns as usize;
        let cells = self.cells.entry(metric).or_insert_with(|| vec![0; self.groups * columns as usize]);
        for (number, ticks) in values.filter(|&(number, ticks)| number > 0 && ticks != 0) {
            let cell = &mut cells[row + blocks.row(number) - 1];
            *cell = ticks.saturating_add(*cell);
        }
    }

    /// The map over all workers, on worker 0.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn of_all(self, exchange: &mut dyn Exchange) -> Result<SeriesMap, Error> {
        let mut batch = Batch::new();
        self.first.put(&mut batch);
        for (metric, cells) in self.cells {
            (metric, cells).put(&mut batch);
        }
        let columns = self.shape.columns as usize;
        let mut all: BTreeMap<MetricId, Vec<i64>> = BTreeMap::new();
        for batch in gather(exchange, batch)?.iter().filter(|batch| !batch.is_empty()) {
            let mut reader = BatchReader::new(batch);
            let first = to_usize(u64::from(u32::get(&mut reader))) * columns;
            while !reader.is_empty() {
                let (metric, cells) = <(MetricId, Vec<i64>)>::get(&mut reader);
                let sums = all.entry(metric).or_insert_with(|| vec![0; self.shape.groups as usize * columns]);
                // Two workers may have locations of one group.
                for (sum, ticks) in sums[first..].iter_mut().zip(cells) {
                    *sum = ticks.saturating_add(*sum);
                }
            }
        }
        Ok(SeriesMap { shape: self.shape, cells: all })
    }
}

/// The map over all locations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SeriesMap {
    /// Its shape.
    pub shape: MapShape,
    /// By metric: ticks, group by group.
    pub cells: BTreeMap<MetricId, Vec<i64>>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::Solo;

    #[test]
    fn shapes_are_as_fine_as_the_cells_allow() {
        let shape = |locations: usize, iterations: u64| {
            let MapShape { span, groups, columns, .. } =
                MapShape::new(locations, iterations, Blocks::new(iterations));
            (span, groups, columns)
        };
        assert_eq!(shape(4, 10_000), (1, 4, 10_000));
        assert_eq!(shape(1000, 10_000), (1, 1000, 79));
        assert_eq!(shape(65_536, 100_000), (256, 256, 391));
        assert_eq!(shape(1, 1_000_000), (1, 1, 125_000));
    }

    #[test]
    fn cells_hold_what_was_added_for_their_locations_and_iterations() {
        let shape = MapShape { span: 2, groups: 3, blocks: Blocks::new(5).doubled(), columns: 3 };
        let mut map = MapOfWorker::new(shape, 2, 3);
        map.add(3, 7, [(0, 9), (1, 4), (2, 5), (5, 6)].into_iter());
        map.add(2, 7, [(3, 1)].into_iter());
        map.add(4, 7, [(1, 2)].into_iter());
        let all = map.of_all(&mut Solo).unwrap();
        assert_eq!(all.cells[&7], [0, 0, 0, 9, 1, 6, 2, 0, 0]);
    }
}
