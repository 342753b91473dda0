//! Brings severities to worker 0, in the order of metrics, a bounded amount at a time.
//!
//! A row is a metric's severities at one call path. Workers tell first which rows they have something for; then rows
//! come in rising order, and only values that are not zero travel.

use super::source::Source;
use crate::error::Error;
use crate::exchange::batch::{BatchReader, halves, pair};
use crate::exchange::{Batch, Exchange, broadcast, gather, reduce};
use crate::formulas::Formulas;
use crate::severity::MetricId;

/// Values that worker 0 gets at a time, about: 12 MiB of them. Few short files may have a value for each location and call path.
const VALUES_AT_A_TIME: u64 = 1 << 19;

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
        if exchange.workers() == 1 {
            return Ok(all);
        }
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
    pub(super) fn pieces(&self, metric: MetricId) -> Vec<Piece> {
        let rows = self.rows(metric);
        let pieces = self.counts[metric].div_ceil(VALUES_AT_A_TIME).max(1);
        let values = self.counts[metric].div_ceil(pieces) as usize;
        let piece = |rows: &[u32]| Piece { metric, first: rows[0], last: rows[rows.len() - 1], values };
        rows.chunks(rows.len().div_ceil(pieces as usize).max(1)).map(piece).collect()
    }
}

/// Rows of a metric.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Piece {
    pub(super) metric: MetricId,
    /// The first call path and the last one.
    first: u32,
    last: u32,
    /// About so many values are in the rows.
    values: usize,
}

/// A value on worker 0, as small as it can be. It is a whole number, or for some metrics a fixed-point number (see
/// [`Formulas::has_fractions`]).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Value {
    /// Call path of the report.
    pub(super) path: u32,
    pub(super) location: u32,
    high: i64,
    low: u64,
}

impl Value {
    pub(super) fn new(path: u32, location: u32, number: i128) -> Value {
        Value { path, location, high: (number >> 64) as i64, low: number as u64 }
    }

    /// The number.
    pub(super) fn number(&self) -> i128 {
        i128::from(self.high) << 64 | i128::from(self.low)
    }

    /// Whole numbers are never larger than a word; others need two.
    fn encode(&self, has_fractions: bool, batch: &mut Batch) {
        batch.extend([pair(self.path, self.location), self.low]);
        batch.extend(has_fractions.then_some(self.high.cast_unsigned()));
    }

    fn decode(words: &[u64]) -> Value {
        let low = words[1];
        let high = words.get(2).map_or(low.cast_signed() >> 63, |high| high.cast_signed());
        let (path, location) = halves(words[0]);
        Value { path, location, high, low }
    }
}

/// Brings the values of some rows to worker 0: there, for each piece, the values sorted by call path and location; empty
/// lists elsewhere.
///
/// # Errors
/// If a worker failed.
pub(super) fn collect(
    sources: &[Source<'_>],
    formulas: &Formulas,
    pieces: &[Piece],
    exchange: &mut dyn Exchange,
) -> Result<Vec<Vec<Value>>, Error> {
    // What is on worker 0 stays there.
    let is_here = exchange.worker() == 0;
    let expected = |piece: &Piece| if is_here { piece.values } else { 0 };
    let mut values: Vec<_> = pieces.iter().map(|piece| Vec::with_capacity(expected(piece))).collect();
    let mut batch = Batch::new();
    for (piece, values) in pieces.iter().zip(&mut values) {
        let has_fractions = formulas.has_fractions(piece.metric);
        let head = batch.len();
        batch.extend((!is_here).then_some(0));
        for source in sources {
            source.values(piece.metric, |path, number| {
                if (piece.first..=piece.last).contains(&path) {
                    let value = Value::new(path, source.location as u32, number);
                    match is_here {
                        true => values.push(value),
                        false => value.encode(has_fractions, &mut batch),
                    }
                }
            });
        }
        if !is_here {
            batch[head] = (batch.len() - head - 1) as u64;
        }
    }
    for batch in gather(exchange, batch)?.iter().filter(|batch| !batch.is_empty()) {
        let mut reader = BatchReader::new(batch);
        for (piece, values) in pieces.iter().zip(&mut values) {
            let length = if formulas.has_fractions(piece.metric) { 3 } else { 2 };
            let count = reader.word() as usize;
            values.extend(reader.words(count).chunks_exact(length).map(Value::decode));
        }
    }
    Ok(pieces.iter().zip(values).map(|(piece, values)| by_path(piece, values)).collect())
}

/// Sorts values by call path. They are there by rising location, and stay so within a call path.
fn by_path(piece: &Piece, values: Vec<Value>) -> Vec<Value> {
    let paths = (piece.last - piece.first) as usize + 1;
    // Of a few locations a second list is not worth its memory.
    if values.len() < 8 * paths {
        let mut values = values;
        values.sort_unstable();
        return values;
    }
    // Where the values of each call path go: behind those of the ones before it.
    let mut next = vec![0; paths + 1];
    for value in &values {
        next[(value.path - piece.first) as usize + 1] += 1;
    }
    for path in 1..paths {
        next[path] += next[path - 1];
    }
    let mut sorted = vec![Value::new(0, 0, 0); values.len()];
    for value in values {
        let place: &mut usize = &mut next[(value.path - piece.first) as usize];
        sorted[*place] = value;
        *place += 1;
    }
    debug_assert!(sorted.is_sorted());
    sorted
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

    #[test]
    fn values_by_location_are_sorted_by_call_path() {
        let values = [(7, 0), (5, 0), (5, 1), (7, 1), (6, 2), (7, 2)];
        let values: Vec<_> = values.map(|(path, location)| Value::new(path, location, -1)).into();
        let piece = Piece { metric: 0, first: 5, last: 7, values: 6 };
        let sorted = by_path(&piece, values);
        let places: Vec<_> = sorted.iter().map(|value| (value.path, value.location)).collect();
        assert_eq!(places, [(5, 0), (5, 1), (6, 2), (7, 0), (7, 1), (7, 2)]);
        let values: Vec<_> = (0..90).map(|at| Value::new(5 + at % 3, at / 3, 1)).collect();
        let sorted = by_path(&piece, values);
        assert!(sorted.is_sorted() && sorted.len() == 90);
    }

    #[test]
    fn values_survive_the_way_to_worker_0() {
        for number in [0, 1, -1, i128::from(i64::MIN), i128::from(i64::MAX), 5 << 70, -7 << 60] {
            let value = Value::new(3, 4, number);
            let is_whole = i64::try_from(number).is_ok();
            for has_fractions in [true, !is_whole] {
                let mut batch = Batch::new();
                value.encode(has_fractions, &mut batch);
                assert_eq!((batch.len(), Value::decode(&batch)), (2 + usize::from(has_fractions), value));
            }
        }
        assert_eq!(Value::new(3, 4, -7 << 60).number(), -7 << 60);
    }
}
