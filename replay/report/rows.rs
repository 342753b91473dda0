//! Which rows the report has. A row is a metric's severities at one call path; only those with a value exist.
//!
//! What is measured is looked at once. What follows from it mostly follows by sets: a sum has a row where one of its parts
//! has. Only where parts may cancel each other are values made to see.

use std::ops::{BitOrAssign, Range};

use super::source::Sources;
use crate::error::Error;
use crate::exchange::{Exchange, broadcast, reduce};
use crate::imbalance::Part;
use crate::severity::MetricId;

/// Values that worker 0 has at a time, about: 8 MiB of them, and as many again on their way.
const VALUES_AT_A_TIME: usize = 1 << 20;

/// Which call paths have a row, by metric.
#[derive(Clone, Debug)]
pub(super) struct RowSets {
    /// A bit for each call path.
    bits: Vec<u64>,
    words: usize,
}

impl RowSets {
    fn empty(metrics: usize, paths: usize) -> RowSets {
        let words = paths.div_ceil(64);
        RowSets { bits: vec![0; metrics * words], words }
    }

    /// The rows that the locations of a worker have.
    pub(super) fn new(sources: &Sources<'_>) -> RowSets {
        let (metrics, paths) = (sources.metrics.list.len(), sources.regions.len());
        let mut sets = RowSets::empty(metrics, paths);
        let mut negative = RowSets::empty(metrics, paths);
        sets.add_columns(sources, &mut negative);
        for metric in 0..metrics {
            if let Some(leaf) = sources.formulas.selection(metric) {
                for sets in [&mut sets, &mut negative] {
                    let mut rows = sets.rows(leaf.column);
                    rows.retain(|&path| leaf.holds(sources.regions[path as usize]));
                    sets.set_mut(metric).fill(0);
                    rows.into_iter().for_each(|path| sets.insert(metric, path));
                }
            }
        }
        (0..metrics).for_each(|metric| sets.add_sum(sources, metric, &negative));
        drop(negative);
        for metric in (0..metrics).filter(|&metric| sources.is_of_idle_threads(metric)) {
            for source in &sources.list {
                sources.idle_time(source, metric).for_each(|(path, _)| sets.insert(metric, path));
            }
        }
        sets.add_deviations(sources);
        sets
    }

    /// What locations have by themselves.
    fn add_columns(&mut self, sources: &Sources<'_>, negative: &mut RowSets) {
        let metrics = sources.metrics.list.len();
        // By metric and row: the bits of all values, which tell zero and the sign.
        let (mut all_whole, mut all_shares) = (vec![Vec::new(); metrics], vec![Vec::new(); metrics]);
        for run in &sources.alike {
            for source in &sources.list[run.clone()] {
                let (whole, shares) = source.severities.columns();
                whole.iter().for_each(|(metric, column)| add_bits(&mut all_whole[metric], column));
                shares.iter().for_each(|(metric, column)| add_bits(&mut all_shares[metric], column));
            }
            let first = &sources.list[run.start];
            for metric in 0..metrics {
                let whole = all_whole[metric].drain(..).map(i128::from);
                let shares = all_shares[metric].drain(..);
                let both = first.paths().zip(whole).chain(first.paths().zip(shares));
                for (path, bits) in both.filter(|&(_, bits)| bits != 0) {
                    self.insert(metric, path);
                    if bits < 0 {
                        negative.insert(metric, path);
                    }
                }
            }
        }
    }

    /// A metric that follows from others by a sum or a rest.
    fn add_sum(&mut self, sources: &Sources<'_>, metric: MetricId, negative: &RowSets) {
        let parts = sources.formulas.parts(metric);
        if parts == [(metric, false)] {
            return;
        }
        let mut may_be_zero = RowSets::empty(1, sources.regions.len());
        for word in 0..self.words {
            let (mut one, mut several, mut lessens) = (0, 0, 0);
            for &(part, is_without) in &parts {
                let rows = self.set(part)[word];
                several |= one & rows;
                one |= rows;
                lessens |= if is_without { rows } else { negative.set(part)[word] };
            }
            may_be_zero.bits[word] = several & lessens;
            self.set_mut(metric)[word] = one & !may_be_zero.bits[word];
        }
        let rows = may_be_zero.rows(0);
        sources.blocks(metric, &rows, 0..sources.list.len(), |block| {
            for (path, row) in block.cells(metric).rows(&block) {
                if row.numbers().any(|number| number != 0) {
                    self.insert(metric, path);
                }
            }
        });
    }

    /// Where a location is not at the mean.
    fn add_deviations(&mut self, sources: &Sources<'_>) {
        let Some(totals) = sources.computed else { return };
        let mut computes =
            RowSets { bits: self.set(sources.metrics.computation).to_vec(), words: self.words };
        let computing = (0..).zip(&totals.paths).filter(|(_, total)| total.computation() != 0);
        computing.for_each(|(path, _)| computes.insert(0, path));
        let mut rows = computes.rows(0);
        for (part, metric) in Part::ALL.into_iter().zip(sources.metrics.imbalance) {
            sources.blocks(metric, &rows, 0..sources.list.len(), |block| {
                for (&path, is_off) in block.paths.iter().zip(block.are_off(part)) {
                    if is_off {
                        self.insert(metric, path);
                    }
                }
            });
            // All others are parts of the first.
            if part == Part::All {
                rows = self.rows(metric);
            }
        }
    }

    /// The rows of all workers together, on every worker.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn of_all(self, exchange: &mut dyn Exchange) -> Result<RowSets, Error> {
        let mut all = reduce(
            exchange,
            self,
            |sets| sets.bits.clone(),
            |sets, words| {
                sets.bits.iter_mut().zip(words).for_each(|(mine, theirs)| *mine |= theirs);
            },
        )?;
        if exchange.workers() > 1 {
            all.bits = broadcast(exchange, all.bits)?;
        }
        Ok(all)
    }

    fn set(&self, metric: MetricId) -> &[u64] {
        &self.bits[metric * self.words..(metric + 1) * self.words]
    }

    fn set_mut(&mut self, metric: MetricId) -> &mut [u64] {
        &mut self.bits[metric * self.words..(metric + 1) * self.words]
    }

    fn insert(&mut self, metric: MetricId, path: u32) {
        self.bits[metric * self.words + path as usize / 64] |= 1 << (path % 64);
    }

    /// Whether a call path has a row.
    pub(super) fn contains(&self, metric: MetricId, path: u32) -> bool {
        self.set(metric)[path as usize / 64] >> (path % 64) & 1 == 1
    }

    /// The call paths that have a row, in rising order.
    pub(super) fn rows(&self, metric: MetricId) -> Vec<u32> {
        let mut rows = Vec::new();
        for (at, &word) in (0..).zip(self.set(metric)) {
            let mut rest: u64 = word;
            while rest != 0 {
                rows.push(64 * at + rest.trailing_zeros());
                rest &= rest - 1;
            }
        }
        rows
    }

    /// All rows in pieces, in the order of metrics, with so many values in a row. Pieces whose values come to worker 0
    /// together are one group.
    pub(super) fn groups(&self, values: usize) -> Vec<Vec<Piece>> {
        let most = (VALUES_AT_A_TIME / values).max(1);
        let mut groups: Vec<Vec<Piece>> = Vec::new();
        let mut room = 0;
        for metric in 0..self.bits.len().checked_div(self.words).unwrap_or(0) {
            let count = self.set(metric).iter().map(|word| word.count_ones() as usize).sum();
            for first in (0..count).step_by(most) {
                let piece = Piece { metric, rows: first..count.min(first + most) };
                let length = piece.rows.len();
                match groups.last_mut() {
                    Some(group) if length <= room => group.push(piece),
                    _ => {
                        groups.push(vec![piece]);
                        room = most;
                    }
                }
                room -= length;
            }
        }
        groups
    }
}

/// Adds the bits of a column to those of others.
fn add_bits<T: Copy + Default + BitOrAssign>(all: &mut Vec<T>, column: &[T]) {
    if all.len() < column.len() {
        all.resize(column.len(), T::default());
    }
    all.iter_mut().zip(column).for_each(|(all, &value)| *all |= value);
}

/// Some rows of a metric.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Piece {
    pub(super) metric: MetricId,
    /// Which ones of all that the metric has.
    pub(super) rows: Range<usize>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_told_in_rising_order() {
        let mut sets = RowSets::empty(3, 130);
        [129, 64, 0, 63].into_iter().for_each(|path| sets.insert(1, path));
        assert_eq!(sets.rows(1), [0, 63, 64, 129]);
        assert!(sets.contains(1, 64) && !sets.contains(1, 65) && !sets.contains(2, 64));
        assert!(sets.rows(0).is_empty() && sets.rows(2).is_empty());
    }

    #[test]
    fn metrics_come_together_until_there_are_too_many_values() {
        let mut sets = RowSets::empty(5, 10);
        for (metric, count) in [(0, 1), (2, 2), (3, 2), (4, 7)] {
            (0..count).for_each(|path| sets.insert(metric, path));
        }
        let piece = |metric, rows| Piece { metric, rows };
        // Room for three rows.
        let groups = sets.groups(VALUES_AT_A_TIME / 3);
        let expected = [
            vec![piece(0, 0..1), piece(2, 0..2)],
            vec![piece(3, 0..2)],
            vec![piece(4, 0..3)],
            vec![piece(4, 3..6)],
            vec![piece(4, 6..7)],
        ];
        assert_eq!(groups, expected);
        // However many values a row has, it is not cut.
        assert_eq!(sets.groups(2 * VALUES_AT_A_TIME).len(), 12);
    }
}
