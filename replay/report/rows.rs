//! Which rows the report has. A row is a metric's severities at one call path; only those with a value exist.
//!
//! What is measured is looked at once. What follows from it mostly follows by sets: a sum has a row where one of its parts
//! has. Only where parts may cancel each other are values made to see.

use super::sheets::chunks;
use super::source::{Compared, Sources};
use crate::error::Error;
use crate::exchange::{Exchange, broadcast, reduce};
use crate::formulas::Formula;
use crate::imbalance::Part;
use crate::severity::MetricId;

/// Locations that are looked at to see whether any of them has a row.
const LOCATIONS_AT_A_TIME: usize = 64;

/// Which call paths have a row, by metric.
#[derive(Clone, Debug)]
pub(super) struct RowSets {
    /// A bit for each call path.
    bits: Vec<u64>,
    words: usize,
    /// By word, how many rows of the metric come before; known once those of all workers are together.
    before: Vec<u32>,
}

/// Where locations have something by themselves, and where less than nothing.
#[derive(Debug)]
pub(super) struct Signs {
    present: RowSets,
    negative: RowSets,
}

impl Signs {
    pub(super) fn new(metrics: usize, paths: usize) -> Signs {
        Signs { present: RowSets::empty(metrics, paths), negative: RowSets::empty(metrics, paths) }
    }

    /// Adds a value, or the bits of several.
    #[inline]
    pub(super) fn add(&mut self, metric: MetricId, path: u32, bits: i128) {
        if bits != 0 {
            self.present.insert(metric, path);
        }
        if bits < 0 {
            self.negative.insert(metric, path);
        }
    }
}

impl RowSets {
    fn empty(metrics: usize, paths: usize) -> RowSets {
        let words = paths.div_ceil(64);
        RowSets { bits: vec![0; metrics * words], words, before: Vec::new() }
    }

    /// The rows that the locations of a worker have, from what they have by themselves.
    pub(super) fn new(sources: &Sources<'_>, signs: Signs) -> RowSets {
        let metrics = sources.metrics.list.len();
        let Signs { present: mut sets, mut negative } = signs;
        for metric in 0..metrics {
            if let Formula::Selected(of, regions) = sources.formulas.of(metric) {
                for sets in [&mut sets, &mut negative] {
                    let mut rows = sets.rows(*of);
                    rows.retain(|&path| regions.holds(sources.paths.region(path)));
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

    /// A metric that follows from others by a sum or a rest.
    fn add_sum(&mut self, sources: &Sources<'_>, metric: MetricId, negative: &RowSets) {
        let parts = sources.formulas.parts(metric);
        if parts == [(metric, false)] {
            return;
        }
        let mut may_be_zero = RowSets::empty(1, sources.paths.len());
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
        let mut rows: Vec<u32> =
            sources.met().iter().copied().filter(|&path| may_be_zero.contains(0, path)).collect();
        // Mostly the first locations tell.
        for locations in chunks(0..sources.list.len(), LOCATIONS_AT_A_TIME) {
            sources.tiles(&rows, locations, |tile| {
                let cells = tile.cells(metric);
                for (at, &path) in tile.paths.iter().enumerate() {
                    let row = cells.row(at, tile.width(), false);
                    if row.is_some_and(|row| row.numbers().any(|number| number != 0)) {
                        self.insert(metric, path);
                    }
                }
            });
            rows.retain(|&path| !self.contains(metric, path));
        }
    }

    /// Where a location is not at the mean.
    fn add_deviations(&mut self, sources: &Sources<'_>) {
        let Some(compared) = &sources.compared else { return };
        let mut rows = Vec::new();
        for &path in sources.met() {
            let is_off = compared.is_off[path as usize];
            for (part, _) in Compared::PARTS.into_iter().zip(is_off).filter(|(_, is_off)| *is_off) {
                self.insert(sources.metrics.imbalance[part as usize], path);
            }
            // All others are about call paths where not all come.
            if is_off[0] && !compared.totals.is_visited_by_all(path, sources.is_parallel[path as usize]) {
                rows.push(path);
            }
        }
        sources.tiles(&rows, 0..sources.list.len(), |tile| {
            tile.compare(|_, totals, own| {
                for part in [Part::Single, Part::Bypass, Part::Singularity] {
                    if totals.difference(part, own) != 0 {
                        self.insert(sources.metrics.imbalance[part as usize], own.path);
                    }
                }
            });
        });
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
        all.count();
        Ok(all)
    }

    fn count(&mut self) {
        self.before = Vec::with_capacity(self.bits.len());
        for set in self.bits.chunks_exact(self.words.max(1)) {
            self.before.extend(set.iter().scan(0, |sum, word| {
                let before = *sum;
                *sum += word.count_ones();
                Some(before)
            }));
        }
    }

    /// Which row of a metric the one of a call path is.
    pub(super) fn number(&self, metric: MetricId, path: u32) -> u32 {
        let word = metric * self.words + path as usize / 64;
        let before = self.bits[word] & !(u64::MAX << (path % 64));
        self.before[word] + before.count_ones()
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

    /// The number of metrics.
    pub(super) fn metrics(&self) -> usize {
        self.bits.len().checked_div(self.words).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl RowSets {
        /// The rows of all workers, from metrics and call paths.
        pub(in super::super) fn with_rows(
            metrics: usize,
            paths: usize,
            rows: impl IntoIterator<Item = (MetricId, u32)>,
        ) -> RowSets {
            let mut sets = RowSets::empty(metrics, paths);
            rows.into_iter().for_each(|(metric, path)| sets.insert(metric, path));
            sets.count();
            sets
        }
    }

    #[test]
    fn rows_have_numbers_in_rising_order() {
        let sets = RowSets::with_rows(2, 130, [(1, 129), (1, 64), (1, 0), (1, 63), (0, 5)]);
        assert_eq!([0, 63, 64, 129].map(|path| sets.number(1, path)), [0, 1, 2, 3]);
        assert_eq!(sets.number(0, 5), 0);
    }

    #[test]
    fn rows_are_told_in_rising_order() {
        let mut sets = RowSets::empty(3, 130);
        [129, 64, 0, 63].into_iter().for_each(|path| sets.insert(1, path));
        assert_eq!(sets.rows(1), [0, 63, 64, 129]);
        assert!(sets.contains(1, 64) && !sets.contains(1, 65) && !sets.contains(2, 64));
        assert!(sets.rows(0).is_empty() && sets.rows(2).is_empty());
    }
}
