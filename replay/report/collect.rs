//! Brings rows to worker 0, in the order of metrics, a bounded amount at a time.
//!
//! Every worker makes the values of its locations as they will be in the file. The others send the rows in which they have
//! something; worker 0 makes its own while they are at the next ones.

use std::ops::Range;
use std::vec::IntoIter;

use cubex::{CnodeId, MetricId, Writer};
use model::ClockProperties;
use patterns::Unit;

use super::blocks::Row;
use super::remarks::Remarks;
use super::rows::{Piece, RowSets};
use super::source::Sources;
use crate::error::Error;
use crate::exchange::{Batch, Exchange, gather};
use crate::fraction;
use crate::tools::Tools;

/// A value as it is in the file: seconds, or a number of occurrences or bytes.
type Value = [u8; 8];

/// What a worker makes of its rows.
#[derive(Debug)]
pub(super) struct Collector<'c> {
    tools: &'c Tools<'c>,
    sources: &'c Sources<'c>,
    /// The rows of the worker itself, if it has to tell them.
    own: Option<RowSets>,
    /// The rows of all.
    all: RowSets,
    groups: Vec<Vec<Piece>>,
    pub(super) remarks: Remarks,
}

impl<'c> Collector<'c> {
    /// # Errors
    /// If a worker failed.
    pub(super) fn new(
        tools: &'c Tools<'c>,
        sources: &'c Sources<'c>,
        remarks: Remarks,
        exchange: &mut dyn Exchange,
    ) -> Result<Collector<'c>, Error> {
        let all = RowSets::new(sources);
        let own = (exchange.worker() > 0).then(|| all.clone());
        let all = all.of_all(exchange)?;
        let groups = all.groups(tools.trace.locations.len());
        Ok(Collector { tools, sources, own, all, groups, remarks })
    }

    /// Brings the rows of a worker to worker 0.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn send(&mut self, exchange: &mut dyn Exchange) -> Result<(), Error> {
        let width = self.sources.list.len();
        let mut values = Vec::new();
        for group in self.groups.clone() {
            let mut batch = vec![self.sources.first as u64, width as u64];
            for Piece { metric, rows } in group {
                let paths = &self.all.rows(metric)[rows];
                let is_own = |path| self.own.as_ref().is_some_and(|own| own.contains(metric, path));
                let (slots, own): (Vec<u64>, Vec<u32>) =
                    (0..).zip(paths).filter(|&(_, &path)| is_own(path)).unzip();
                values.resize(own.len() * width, Value::default());
                self.fill(metric, &own, width, 0, &mut values);
                batch.push(own.len() as u64);
                for (slot, row) in slots.into_iter().zip(values.chunks_exact(width.max(1))) {
                    batch.push(slot);
                    batch.extend(row.iter().map(|&value| u64::from_le_bytes(value)));
                }
            }
            gather(exchange, batch)?;
        }
        Ok(())
    }

    /// Writes the rows of all workers.
    ///
    /// # Errors
    /// If the file cannot be written, or a worker failed.
    pub(super) fn write(&mut self, writer: &mut Writer, exchange: &mut dyn Exchange) -> Result<(), Error> {
        let width = self.tools.trace.locations.len();
        let (mut told, mut values) = (Vec::new(), Vec::new());
        let groups = std::mem::take(&mut self.groups);
        let pieces = groups.iter().flat_map(|group| group.iter().zip(0..));
        let mut pieces = pieces.peekable();
        while let Some(&(&Piece { metric, .. }, _)) = pieces.peek() {
            let paths = self.all.rows(metric);
            let cnodes: Vec<CnodeId> = paths.iter().map(|&path| CnodeId(path as usize)).collect();
            let mut row_writer = writer.metric(MetricId(metric), &cnodes)?;
            while let Some((piece, at)) = pieces.next_if(|(piece, _)| piece.metric == metric) {
                if at == 0 {
                    told = gather(exchange, Batch::new())?.into_iter().filter_map(Told::new).collect();
                }
                let rows = piece.rows.clone();
                values.resize(values.len().max(rows.len() * width), Value::default());
                let values = &mut values[..rows.len() * width];
                if !told.is_empty() {
                    values.fill(Value::default());
                }
                self.fill(metric, &paths[rows.clone()], width, self.sources.first, values);
                told.iter_mut().for_each(|told: &mut Told| told.fill(width, values));
                row_writer.push_rows(&cnodes[rows], values)?;
            }
            row_writer.finish()?;
        }
        Ok(())
    }

    /// Makes rows of a worker: `width` values each, of which the locations have those from `first` on.
    fn fill(&mut self, metric: usize, paths: &[u32], width: usize, first: usize, values: &mut [Value]) {
        let Collector { tools, sources, remarks, .. } = self;
        let clock = &tools.trace.definitions.clock;
        let unit = tools.metrics.list[metric].unit;
        let has_fractions = tools.formulas.has_fractions(metric);
        let is_remarkable = remarks.are_about(metric);
        sources.blocks(metric, paths, 0..sources.list.len(), |block| {
            let cells = block.cells(metric);
            for (at, (path, row)) in block.at.clone().zip(cells.rows(&block)) {
                let start = at * width + first + block.locations.start;
                let values = &mut values[start..start + row.len()];
                match (row, unit) {
                    (Row::Whole(row), Unit::Seconds) => {
                        put(values, row, |ticks| clock.seconds(ticks.into()).to_le_bytes());
                    }
                    (Row::Wide(row), Unit::Seconds) if has_fractions => {
                        put(values, row, |shares| seconds(clock, shares).to_le_bytes());
                    }
                    (Row::Wide(row), Unit::Seconds) => {
                        put(values, row, |ticks| clock.seconds(ticks).to_le_bytes());
                    }
                    (Row::Whole(row), _) => put(values, row, |count| count.to_le_bytes()),
                    (Row::Wide(row), _) => put(values, row, |count| (count as u64).to_le_bytes()),
                }
                if is_remarkable {
                    remarks.add(metric, path, sources.first + block.locations.start, row);
                }
            }
        });
    }
}

/// A share of ticks in seconds. Most are whole ticks, which take no long division; the result is the same.
fn seconds(clock: &ClockProperties, shares: i128) -> f64 {
    match i64::try_from(shares >> fraction::FRACTION) {
        Ok(ticks) if fraction::whole(ticks) == shares => clock.seconds(ticks.into()),
        _ => clock.seconds(shares) / fraction::ONE,
    }
}

fn put<T: Copy>(values: &mut [Value], row: &[T], value: impl Fn(T) -> Value) {
    values.iter_mut().zip(row).for_each(|(to, &number)| *to = value(number));
}

/// Rows of another worker, which it has sent for a group.
#[derive(Debug)]
struct Told {
    locations: Range<usize>,
    words: IntoIter<u64>,
}

impl Told {
    /// `None` from a worker that has no locations, or from worker 0.
    fn new(batch: Batch) -> Option<Told> {
        let mut words = batch.into_iter();
        let (first, count) = (words.next()? as usize, words.next()? as usize);
        Some(Told { locations: first..first + count, words })
    }

    /// Puts the values of the next piece into rows of all locations.
    fn fill(&mut self, width: usize, values: &mut [Value]) {
        for _ in 0..self.words.next().unwrap_or(0) {
            let start = self.words.next().unwrap_or(0) as usize * width;
            let values = &mut values[start + self.locations.start..start + self.locations.end];
            values.iter_mut().zip(self.words.by_ref()).for_each(|(to, word)| *to = word.to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_the_same_seconds_whether_they_are_whole_ticks_or_not() {
        let clock = ClockProperties { resolution: 3, ..ClockProperties::default() };
        let one = fraction::whole(1);
        for shares in
            [0, one, -one, 7 * one, one / 3, -7 * one / 3, one << 62, one << 65, i128::MAX, i128::MIN]
        {
            assert_eq!(seconds(&clock, shares), shares as f64 / 3.0 / fraction::ONE);
        }
    }

    #[test]
    fn rows_of_another_worker_come_to_their_places() {
        assert!(Told::new(Batch::new()).is_none());
        // Two locations from the second one on; two rows of a piece, none of the next.
        let mut told = Told::new(vec![1, 2, 2, 0, 7, 8, 2, 9, 10, 0]).unwrap();
        let mut values = vec![Value::default(); 9];
        told.fill(3, &mut values);
        let numbers: Vec<u64> = values.iter().map(|&value| u64::from_le_bytes(value)).collect();
        assert_eq!(numbers, [0, 7, 8, 0, 0, 0, 0, 9, 10]);
        told.fill(3, &mut values);
        assert!(told.words.next().is_none());
    }
}
