//! Index of the report's rows. A row is a metric's severities at one call path; only those with a value
//! exist.

use crate::error::Error;
use crate::exchange::{Exchange, broadcast, reduce};
use crate::ids::ReportPath;
use crate::severity::MetricId;

/// The call paths that have a row, by metric.
#[derive(Clone, Debug)]
pub(super) struct Index {
    /// A bit for each call path.
    bits: Vec<u64>,
    /// Words of a metric: at least one bit more than the number of call paths.
    words: usize,
    /// By word, the number of rows of the metric before it; known once the rows of all workers are merged.
    before: Vec<u32>,
}

impl Index {
    /// Returns an index without rows.
    pub(super) fn new(metrics: usize, paths: usize) -> Index {
        let words = paths / 64 + 1;
        Index { bits: vec![0; metrics * words], words, before: Vec::new() }
    }

    pub(super) fn insert(&mut self, metric: MetricId, path: ReportPath) {
        self.bits[metric * self.words + path.index() / 64] |= 1 << (path.index() % 64);
    }

    /// Merges the rows of all workers, on every worker.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn of_all(self, exchange: &mut dyn Exchange) -> Result<Index, Error> {
        let add = |index: &mut Index, words: &[u64]| {
            index.bits.iter_mut().zip(words).for_each(|(mine, theirs)| *mine |= theirs);
        };
        let mut all = reduce(exchange, self, |index| index.bits.clone(), add)?;
        if exchange.workers() > 1 {
            all.bits = broadcast(exchange, all.bits)?;
        }
        all.count();
        Ok(all)
    }

    fn count(&mut self) {
        self.before = Vec::with_capacity(self.bits.len());
        for bits in self.bits.chunks_exact(self.words) {
            self.before.extend(bits.iter().scan(0, |sum, word| {
                let before = *sum;
                *sum += word.count_ones();
                Some(before)
            }));
        }
    }

    /// Returns the number of metrics.
    pub(super) fn metrics(&self) -> usize {
        self.bits.len() / self.words
    }

    /// Returns the number of rows of a metric before that of a call path, which may be the end of all.
    pub(super) fn position(&self, metric: MetricId, path: ReportPath) -> u32 {
        let word = metric * self.words + path.index() / 64;
        let before = self.bits[word] & !(u64::MAX << (path.index() % 64));
        self.before[word] + before.count_ones()
    }

    /// Returns the call paths that have a row, in ascending order.
    pub(super) fn paths(&self, metric: MetricId) -> impl Iterator<Item = ReportPath> {
        let words = (0..).zip(&self.bits[metric * self.words..(metric + 1) * self.words]);
        words.flat_map(|(at, &word)| {
            let rest = |rest: &u64| Some(rest & (rest - 1)).filter(|&rest| rest != 0);
            let rests = std::iter::successors(Some(word).filter(|&word| word != 0), rest);
            rests.map(move |rest| ReportPath::new(64 * at + rest.trailing_zeros() as usize))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Index {
        /// Returns the rows of all workers.
        pub(in super::super) fn with_rows(
            metrics: usize,
            paths: usize,
            rows: impl IntoIterator<Item = (MetricId, usize)>,
        ) -> Index {
            let mut index = Index::new(metrics, paths);
            rows.into_iter().for_each(|(metric, path)| index.insert(metric, ReportPath::new(path)));
            index.count();
            index
        }
    }

    #[test]
    fn rows_of_a_metric_are_in_rising_order_of_call_paths() {
        let index = Index::with_rows(3, 128, [(1, 127), (1, 64), (1, 0), (1, 63), (0, 5)]);
        assert_eq!(index.paths(1).collect::<Vec<_>>(), [0, 63, 64, 127].map(ReportPath::new));
        let position = |metric, path| index.position(metric, ReportPath::new(path));
        assert_eq!([0, 63, 64, 127, 128].map(|path| position(1, path)), [0, 1, 2, 3, 4]);
        assert_eq!([0, 5, 6].map(|path| position(0, path)), [0, 0, 1]);
        assert_eq!(index.paths(2).count(), 0);
    }
}
