//! Lines that are fitted to the times that transfers took (what-if 2.5).
//!
//! Quantiles are exact, whoever has the samples: they are found by halving the range of values, for all groups of samples at once.

use model::Ticks;
use rustc_hash::FxHashMap;

use crate::error::Error;
use crate::exchange::{Batch, Exchange, share};
use crate::wire::{self, Wire};

/// Factors and slopes are fixed-point numbers.
pub(super) const ONE: i64 = 1 << 20;

/// Ticks for a number of bytes: an intercept and a slope, in `1 / ONE` ticks a byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Line {
    /// Ticks for no bytes.
    pub intercept: Ticks,
    /// Ticks by byte, times [`ONE`].
    pub slope: i64,
}

impl Line {
    /// Ticks for so many bytes.
    pub(super) fn at(self, bytes: u64) -> Ticks {
        self.intercept.saturating_add(self.of_size(bytes))
    }

    /// Ticks for a byte.
    pub(super) fn ticks_by_byte(self) -> f64 {
        self.slope as f64 / ONE as f64
    }

    /// Ticks for so many bytes, without the intercept.
    pub(super) fn of_size(self, bytes: u64) -> Ticks {
        // Neither is negative, so that this is a division by `ONE`.
        let product = (i128::from(self.slope) * i128::from(bytes)) >> ONE.ilog2();
        Ticks::try_from(product).unwrap_or(Ticks::MAX)
    }
}

/// Octaves of sizes: bytes with as many bits.
const OCTAVES: usize = u64::BITS as usize + 1;

/// Samples of a worker, by octave: bytes and ticks.
#[derive(Clone, Debug)]
pub(super) struct Samples([(Vec<i64>, Vec<Ticks>); OCTAVES]);

impl Default for Samples {
    fn default() -> Samples {
        Samples(std::array::from_fn(|_| Default::default()))
    }
}

impl Samples {
    /// Adds one.
    pub(super) fn push(&mut self, (bytes, ticks): (u64, Ticks)) {
        let octave = &mut self.0[(u64::BITS - bytes.leading_zeros()) as usize];
        octave.0.push(bytes.cast_signed());
        octave.1.push(ticks);
    }
}

/// Octaves with fewer samples do not count if another one has as many.
const ENOUGH: u64 = 3;

/// Fits lines to the samples of all workers, one to each list; `part` says which quantile of the ticks counts, 2 for the lower
/// median. `None` without samples.
///
/// # Errors
/// If a worker failed.
pub(super) fn fit(
    lists: Vec<(Samples, u64)>,
    exchange: &mut dyn Exchange,
) -> Result<Vec<Option<Line>>, Error> {
    let all = lists.len();
    // Groups: list and octave.
    let groups = lists.into_iter().flat_map(|(samples, part)| samples.0.map(|octave| (octave, part)));
    let groups: Vec<_> = groups.collect();
    let counts = sums(groups.iter().map(|(octave, _)| octave.0.len() as u64).collect(), exchange)?;
    let mut wanted = Vec::new();
    for (((bytes, ticks), part), &count) in groups.into_iter().zip(&counts) {
        wanted.push((bytes, rank(count, 2)));
        wanted.push((ticks, rank(count, part)));
    }
    let quantiles = quantiles(wanted, exchange)?;
    let line = |list: usize| {
        let octaves = list * OCTAVES..(list + 1) * OCTAVES;
        let enough = octaves.clone().any(|group| counts[group] >= ENOUGH);
        let counts = |group: &usize| counts[*group] >= if enough { ENOUGH } else { 1 };
        let points = octaves.filter(counts).map(|group| (quantiles[2 * group], quantiles[2 * group + 1]));
        through(points.collect())
    };
    Ok((0..all).map(line).collect())
}

/// The line through points: the lower median of the slopes of all pairs, and that of the intercepts.
fn through(mut points: Vec<(i64, i64)>) -> Option<Line> {
    points.sort_unstable();
    let slope = |&(from, to): &((i64, i64), (i64, i64))| {
        i64::try_from((i128::from(to.1 - from.1) * i128::from(ONE)).div_euclid(i128::from(to.0 - from.0)))
            .unwrap_or(0)
    };
    let pairs =
        points.iter().enumerate().flat_map(|(at, &from)| points[at + 1..].iter().map(move |&to| (from, to)));
    let slopes: Vec<i64> = pairs.filter(|(from, to)| to.0 > from.0).map(|pair| slope(&pair)).collect();
    let slope = lower_median(slopes).unwrap_or(0).max(0);
    let rest =
        |&(bytes, ticks): &(i64, i64)| ticks - Line { intercept: 0, slope }.of_size(bytes.cast_unsigned());
    let intercept = lower_median(points.iter().map(rest).collect())?.max(0);
    Some(Line { intercept, slope })
}

/// The lower median of values.
pub(super) fn lower_median(mut values: Vec<i64>) -> Option<i64> {
    let middle = values.len().checked_sub(1)? / 2;
    Some(*values.select_nth_unstable(middle).1)
}

/// The number from 0 of a lower quantile among so many.
fn rank(count: u64, part: u64) -> u64 {
    count.saturating_sub(1) / part
}

/// The lower medians of values by key, of all workers.
///
/// # Errors
/// If a worker failed.
pub(super) fn medians(
    by_key: FxHashMap<u32, Vec<Ticks>>,
    exchange: &mut dyn Exchange,
) -> Result<FxHashMap<u32, Ticks>, Error> {
    let mut words = Batch::new();
    by_key.keys().for_each(|key| key.put(&mut words));
    let told = share(exchange, words)?;
    let mut keys: Vec<u32> = told.iter().flat_map(|batch| wire::all::<u32>(batch)).collect();
    keys.sort_unstable();
    keys.dedup();
    let mut by_key = by_key;
    let mut of_keys: Vec<Vec<Ticks>> =
        keys.iter().map(|key| by_key.remove(key).unwrap_or_default()).collect();
    let counts = sums(of_keys.iter().map(|values| values.len() as u64).collect(), exchange)?;
    let wanted = of_keys.drain(..).zip(&counts).map(|(values, &count)| (values, rank(count, 2))).collect();
    let found = quantiles(wanted, exchange)?;
    Ok(keys.into_iter().zip(found).collect())
}

/// Adds up numbers of all workers, place by place.
fn sums(words: Batch, exchange: &mut dyn Exchange) -> Result<Vec<u64>, Error> {
    let count = words.len();
    let told = share(exchange, words)?;
    Ok((0..count).map(|at| told.iter().map(|batch| batch[at]).sum()).collect())
}

/// For each group of values that are not negative, spread over all workers, the one with this number from 0 in their order; 0 of an
/// empty group.
fn quantiles(groups: Vec<(Vec<i64>, u64)>, exchange: &mut dyn Exchange) -> Result<Vec<i64>, Error> {
    let mut groups = groups;
    groups.iter_mut().for_each(|(values, _)| values.sort_unstable());
    let largest = |(values, _): &(Vec<i64>, u64)| values.last().copied().unwrap_or(0).max(0);
    let told = share(exchange, groups.iter().map(|group| largest(group).cast_unsigned()).collect())?;
    let mut least = vec![0_i64; groups.len()];
    let mut most: Vec<i64> = (0..groups.len())
        .map(|at| told.iter().map(|batch| batch[at].cast_signed()).max().unwrap_or(0))
        .collect();
    while least.iter().zip(&most).any(|(least, most)| least < most) {
        let middle = |at: usize| least[at] + (most[at] - least[at]) / 2;
        let up_to = |at: usize| groups[at].0.partition_point(|&value| value <= middle(at)) as u64;
        let counts = sums((0..groups.len()).map(up_to).collect(), exchange)?;
        for (at, count) in counts.into_iter().enumerate() {
            let middle = least[at] + (most[at] - least[at]) / 2;
            if least[at] < most[at] {
                if count > groups[at].1 { most[at] = middle } else { least[at] = middle + 1 }
            }
        }
    }
    Ok(least)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::Solo;

    fn fitted(samples: &[(u64, Ticks)], part: u64) -> Option<Line> {
        let mut list = Samples::default();
        samples.iter().for_each(|&sample| list.push(sample));
        fit(vec![(list, part)], &mut Solo).unwrap()[0]
    }

    #[test]
    fn line_goes_through_medians_of_octaves_with_enough_samples() {
        assert_eq!(fitted(&[], 2), None);
        assert_eq!(fitted(&[(8, 40)], 2), Some(Line { intercept: 40, slope: 0 }));
        let samples = [(8, 100), (8, 108), (8, 900), (1024, 1124), (1024, 1124), (1025, 5000), (1 << 20, 7)];
        // The lower median of 8 bytes is 108, of 1024 bytes 1124: one tick a byte; a single sample of 1 MiB does not count.
        assert_eq!(fitted(&samples, 2), Some(Line { intercept: 100, slope: ONE }));
    }

    #[test]
    fn quantiles_are_those_of_the_sorted_values() {
        let groups = vec![(vec![5, 1, 9], 1), (vec![7; 4], 0), (vec![], 0), (vec![0, 1 << 40], 1)];
        assert_eq!(quantiles(groups, &mut Solo).unwrap(), [5, 7, 0, 1 << 40]);
    }
}
