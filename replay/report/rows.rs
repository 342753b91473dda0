//! Brings severities to worker 0, in the order of metrics, a bounded amount at a time.
//!
//! A row is a metric's severities at one call path. Workers tell first which rows they have something for; then rows
//! come in rising order, and only values that are not zero travel.

use crate::call_tree::CallPath;
use crate::error::Error;
use crate::exchange::batch::BatchReader;
use crate::exchange::{Batch, Exchange, broadcast, gather, reduce};
use crate::formulas::Formulas;
use crate::severity::{MetricId, Severities};

/// Values that worker 0 gets at a time, about.
const VALUES_AT_A_TIME: u64 = 1 << 22;

/// A location's severities with the way from its call paths to the report's.
#[derive(Debug)]
pub(super) struct Source<'a> {
    /// Position of the location in the report.
    pub(super) location: usize,
    pub(super) severities: &'a Severities,
    /// The call paths of its process.
    pub(super) paths: &'a [CallPath],
    /// The report's call path, by the process's.
    pub(super) numbers: &'a [u32],
    pub(super) formulas: &'a Formulas,
}

impl Source<'_> {
    /// Calls `with` with each call path of the report that has a value, and the value.
    fn values(&self, metric: MetricId, mut with: impl FnMut(u32, i64)) {
        let column = self.formulas.column(metric, self.severities, self.paths);
        for (&value, &path) in column.iter().zip(self.severities.paths()).filter(|(value, _)| **value != 0) {
            with(self.numbers[path as usize], value);
        }
    }
}

/// Which call paths have a row, by metric.
#[derive(Clone, Debug)]
pub(super) struct RowSets {
    /// A bit for each call path.
    bits: Vec<u64>,
    words: usize,
    /// Values that are not zero, by metric.
    counts: Vec<u64>,
}

impl RowSets {
    fn new(sources: &[Source<'_>], metrics: usize, paths: usize) -> RowSets {
        let words = paths.div_ceil(64);
        let mut sets = RowSets { bits: vec![0; metrics * words], words, counts: vec![0; metrics] };
        for source in sources {
            for metric in 0..metrics {
                source.values(metric, |path, _| {
                    sets.bits[metric * words + path as usize / 64] |= 1 << (path % 64);
                    sets.counts[metric] += 1;
                });
            }
        }
        sets
    }

    /// The row sets of all workers together, on every worker.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn of_all(
        sources: &[Source<'_>],
        metrics: usize,
        paths: usize,
        exchange: &mut dyn Exchange,
    ) -> Result<RowSets, Error> {
        let own = RowSets::new(sources, metrics, paths);
        let encode = |sets: &RowSets| sets.bits.iter().chain(&sets.counts).copied().collect();
        let all = reduce(exchange, own, encode, |sets, words| {
            let (bits, counts) = words.split_at(sets.bits.len());
            sets.bits.iter_mut().zip(bits).for_each(|(mine, theirs)| *mine |= theirs);
            sets.counts.iter_mut().zip(counts).for_each(|(mine, theirs)| *mine += theirs);
        })?;
        let words = broadcast(exchange, encode(&all))?;
        let (bits, counts) = words.split_at(all.bits.len());
        Ok(RowSets { bits: bits.to_vec(), counts: counts.to_vec(), ..all })
    }

    /// The call paths that have a row, in rising order.
    pub(super) fn rows(&self, metric: MetricId) -> Vec<u32> {
        let bits = &self.bits[metric * self.words..(metric + 1) * self.words];
        (0..64 * self.words as u32).filter(|path| bits[*path as usize / 64] >> (path % 64) & 1 == 1).collect()
    }

    /// The metrics that have rows, in groups whose values come to worker 0 together, about as many as it can hold. A
    /// metric that is alone may have more.
    pub(super) fn groups(&self) -> Vec<Vec<MetricId>> {
        let mut groups: Vec<Vec<MetricId>> = Vec::new();
        let mut values = 0;
        for (metric, &count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            values += count;
            match groups.last_mut() {
                Some(group) if values <= VALUES_AT_A_TIME => group.push(metric),
                _ => {
                    groups.push(vec![metric]);
                    values = count;
                }
            }
        }
        groups
    }

    /// The rows of a metric in pieces that worker 0 can hold.
    pub(super) fn pieces(&self, metric: MetricId) -> Vec<Vec<u32>> {
        let rows = self.rows(metric);
        let pieces = self.counts[metric].div_ceil(VALUES_AT_A_TIME).max(1) as usize;
        rows.chunks(rows.len().div_ceil(pieces).max(1)).map(<[u32]>::to_vec).collect()
    }
}

/// A value on its way: call path, location, value.
pub(super) type Value = (u32, u32, i64);

/// Brings the values of some rows of a metric to worker 0: there, sorted by call path and location; nothing elsewhere.
///
/// # Errors
/// If a worker failed.
pub(super) fn collect(
    sources: &[Source<'_>],
    metric: MetricId,
    rows: &[u32],
    exchange: &mut dyn Exchange,
) -> Result<Vec<Value>, Error> {
    let (Some(&first), Some(&last)) = (rows.first(), rows.last()) else { return Ok(Vec::new()) };
    let mut batch = Batch::new();
    for source in sources {
        source.values(metric, |path, value| {
            if (first..=last).contains(&path) {
                batch.extend([u64::from(path) << 32 | source.location as u64, value as u64]);
            }
        });
    }
    let mut values: Vec<Value> = gather(exchange, batch)?.iter().flat_map(|batch| decode(batch)).collect();
    values.sort_unstable();
    Ok(values)
}

/// The same for all rows of several metrics at once: there, the values of each metric; empty lists elsewhere.
///
/// # Errors
/// If a worker failed.
pub(super) fn collect_all(
    sources: &[Source<'_>],
    metrics: &[MetricId],
    exchange: &mut dyn Exchange,
) -> Result<Vec<Vec<Value>>, Error> {
    let mut batch = Batch::new();
    for &metric in metrics {
        let head = batch.len();
        batch.push(0);
        for source in sources {
            source.values(metric, |path, value| {
                batch.extend([u64::from(path) << 32 | source.location as u64, value as u64]);
            });
        }
        batch[head] = (batch.len() - head - 1) as u64;
    }
    let mut values = vec![Vec::new(); metrics.len()];
    for batch in gather(exchange, batch)?.iter().filter(|batch| !batch.is_empty()) {
        let mut reader = BatchReader::new(batch);
        for values in &mut values {
            let count = reader.word() as usize;
            values.extend(decode(reader.words(count)));
        }
    }
    values.iter_mut().for_each(|values| values.sort_unstable());
    Ok(values)
}

fn decode(words: &[u64]) -> impl Iterator<Item = Value> + '_ {
    words.chunks_exact(2).map(|words| ((words[0] >> 32) as u32, words[0] as u32, words[1] as i64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_come_together_until_there_are_too_many_values() {
        let counts = vec![5, 0, VALUES_AT_A_TIME - 5, 1, 3 * VALUES_AT_A_TIME, 2, 2];
        let sets = RowSets { bits: Vec::new(), words: 0, counts };
        assert_eq!(sets.groups(), [vec![0, 2], vec![3], vec![4], vec![5, 6]]);
    }
}
