//! Severities of one metric at one call path. Most are whole numbers, and often all are zero: neither takes
//! the memory and the time of shares of ticks.

use std::borrow::Cow;

use model::ClockProperties;
use patterns::Unit;

use super::rows::WIDTH;
use crate::exchange::Batch;
use crate::fraction::{self, whole};

/// Severities of a metric at a call path, by location.
#[derive(Clone, Debug, Default)]
pub(super) enum Numbers {
    /// All are zero.
    #[default]
    Zero,
    /// Whole numbers; if the metric is made of shares of ticks, whole ticks.
    Whole(Vec<i64>),
    /// Shares of ticks.
    Shares(Vec<i128>),
}

impl Numbers {
    /// Whether all numbers are zero.
    pub(super) fn are_zero(&self) -> bool {
        match self {
            Numbers::Zero => true,
            Numbers::Whole(numbers) => numbers.iter().fold(0, |bits, number| bits | number) == 0,
            Numbers::Shares(shares) => shares.iter().fold(0, |bits, share| bits | share) == 0,
        }
    }

    /// Returns all numbers, if they are whole; if they are zero, the maximum number of zeros.
    pub(super) fn whole(&self) -> &[i64] {
        match self {
            Numbers::Whole(numbers) => numbers,
            Numbers::Zero | Numbers::Shares(_) => &[0; WIDTH],
        }
    }

    /// Sets a whole number at a place; `width` is the number of places.
    #[inline]
    pub(super) fn put(&mut self, at: usize, width: usize, number: i64) {
        match self {
            _ if number == 0 => {}
            Numbers::Whole(numbers) => numbers[at] = number,
            Numbers::Shares(_) => self.put_share(at, width, whole(number)),
            Numbers::Zero => {
                let mut numbers = vec![0; width];
                numbers[at] = number;
                *self = Numbers::Whole(numbers);
            }
        }
    }

    /// Sets whole numbers from a first place on; `width` is the number of places.
    pub(super) fn put_all(&mut self, first: usize, width: usize, numbers: impl Iterator<Item = i64>) {
        if let Numbers::Zero = self {
            *self = Numbers::Whole(vec![0; width]);
        }
        if let Numbers::Whole(all) = self {
            all[first..].iter_mut().zip(numbers).for_each(|(to, number)| *to = number);
        }
    }

    /// Adds a share of ticks at a place, on top of whole ticks there; `width` is the number of places.
    pub(super) fn put_share(&mut self, at: usize, width: usize, share: i128) {
        match self {
            _ if share == 0 => {}
            Numbers::Shares(shares) => shares[at] = shares[at].saturating_add(share),
            Numbers::Zero | Numbers::Whole(_) => {
                let mut shares = self.long(true).into_owned();
                shares.resize(width, 0);
                shares[at] = shares[at].saturating_add(share);
                *self = Numbers::Shares(shares);
            }
        }
    }

    /// Returns all numbers in the longest form: shares of ticks if the metric is made of these. Empty if they
    /// are zero.
    pub(super) fn long(&self, are_shares: bool) -> Cow<'_, [i128]> {
        match self {
            Numbers::Zero => Cow::default(),
            Numbers::Whole(ticks) if are_shares => ticks.iter().map(|&ticks| whole(ticks)).collect(),
            Numbers::Whole(numbers) => numbers.iter().map(|&number| number.into()).collect(),
            Numbers::Shares(shares) => shares.into(),
        }
    }

    /// Adds or subtracts other numbers. Whole numbers saturate, except if the metric is made of shares: the
    /// result for whole ticks must be the same as for shares.
    pub(super) fn add(&mut self, others: &Numbers, is_without: bool, are_shares: bool) {
        let length = match others {
            Numbers::Zero => return,
            Numbers::Whole(numbers) => numbers.len(),
            Numbers::Shares(shares) => shares.len(),
        };
        if matches!(self, Numbers::Zero) {
            if !is_without {
                *self = others.clone();
                return;
            }
            *self = Numbers::Whole(vec![0; length]);
        }
        match (&mut *self, others) {
            (Numbers::Whole(sums), Numbers::Whole(others))
                if !are_shares || is_exact(sums, others, is_without) =>
            {
                let step = if is_without { i64::saturating_sub } else { i64::saturating_add };
                sums.iter_mut().zip(others).for_each(|(sum, &other)| *sum = step(*sum, other));
            }
            _ => {
                let step = if is_without { i128::saturating_sub } else { i128::saturating_add };
                let mut sums = self.long(are_shares).into_owned();
                let others = others.long(are_shares);
                sums.iter_mut().zip(&*others).for_each(|(sum, &other)| *sum = step(*sum, other));
                *self = Numbers::Shares(sums);
            }
        }
    }

    /// Adds the values for the file to a batch: seconds, or numbers of occurrences or bytes. Nothing if they
    /// are zero.
    pub(super) fn encode(&self, clock: &ClockProperties, unit: Unit, batch: &mut Batch) {
        match self {
            Numbers::Zero => {}
            Numbers::Whole(ticks) if unit == Unit::Seconds => {
                batch.extend(ticks.iter().map(|&ticks| clock.word(ticks).to_bits()));
            }
            Numbers::Whole(counts) if let Unit::Scaled { exponent, .. } = unit => {
                batch.extend(counts.iter().map(|&count| scaled(count, exponent).to_bits()));
            }
            Numbers::Whole(counts) => batch.extend(counts.iter().map(|count| count.cast_unsigned())),
            Numbers::Shares(shares) => {
                batch.extend(shares.iter().map(|&share| seconds(clock, share).to_bits()));
            }
        }
    }
}

/// Whether no result exceeds the largest number of one word.
fn is_exact(sums: &[i64], others: &[i64], is_without: bool) -> bool {
    let step = if is_without { i64::checked_sub } else { i64::checked_add };
    sums.iter().zip(others).all(|(&sum, &other)| step(sum, other).is_some())
}

/// Returns a number by a power of ten.
fn scaled(number: i64, exponent: i8) -> f64 {
    let power = 10_f64.powi(i32::from(exponent.unsigned_abs()));
    if exponent < 0 { number as f64 / power } else { number as f64 * power }
}

/// Returns a share of ticks in seconds. Most are whole ticks, which need no long division; the result is the
/// same.
fn seconds(clock: &ClockProperties, share: i128) -> f64 {
    match i64::try_from(share >> fraction::FRACTION) {
        Ok(ticks) if whole(ticks) == share => clock.word(ticks),
        _ => clock.seconds(share) / fraction::ONE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(one: &Numbers, other: &Numbers, is_without: bool, are_shares: bool) -> Vec<i128> {
        let mut sum = one.clone();
        sum.add(other, is_without, are_shares);
        sum.long(are_shares).into_owned()
    }

    #[test]
    fn zero_changes_nothing_and_takes_no_room() {
        let some = Numbers::Whole(vec![1, -2]);
        assert_eq!(sum(&some, &Numbers::Zero, true, false), [1, -2]);
        assert_eq!(sum(&Numbers::Zero, &some, false, false), [1, -2]);
        assert_eq!(sum(&Numbers::Zero, &some, true, false), [-1, 2]);
        assert!(sum(&Numbers::Zero, &Numbers::Zero, true, true).is_empty());
    }

    #[test]
    fn whole_ticks_are_shares_where_they_meet_them() {
        let half = whole(1) / 2;
        let (ticks, halves) = (Numbers::Whole(vec![3, 0]), Numbers::Shares(vec![half, half]));
        assert_eq!(sum(&ticks, &ticks, false, true), [whole(6), 0]);
        assert_eq!(sum(&ticks, &halves, false, true), [whole(3) + half, half]);
        assert_eq!(sum(&halves, &ticks, true, true), [half - whole(3), half]);
        assert_eq!(sum(&Numbers::Zero, &halves, true, true), [-half, -half]);
    }

    #[test]
    fn whole_ticks_that_exceed_a_word_become_shares_and_counts_end_there() {
        let most = Numbers::Whole(vec![i64::MAX, 1]);
        assert_eq!(sum(&most, &most, false, true), [2 * whole(i64::MAX), whole(2)]);
        assert_eq!(sum(&most, &most, false, false), [i64::MAX.into(), 2]);
        let least = Numbers::Whole(vec![i64::MIN, 0]);
        assert_eq!(sum(&Numbers::Zero, &least, true, true), [-whole(i64::MIN), 0]);
    }

    #[test]
    fn numbers_come_to_their_places() {
        let mut numbers = Numbers::Zero;
        numbers.put(1, 2, 0);
        assert!(numbers.are_zero() && numbers.long(false).is_empty());
        numbers.put(1, 2, 5);
        assert_eq!(
            (&*numbers.long(false), numbers.whole(), numbers.are_zero()),
            (&[0, 5][..], &[0, 5][..], false)
        );
        numbers.put_share(0, 2, 3);
        numbers.put(0, 2, 1);
        assert_eq!(*numbers.long(true), [whole(1) + 3, whole(5)]);
    }

    #[test]
    fn shares_are_the_same_seconds_whether_they_are_whole_ticks_or_not() {
        let clock = ClockProperties { resolution: 3, ..ClockProperties::default() };
        let one = whole(1);
        for share in
            [0, one, -one, 7 * one, one / 3, -7 * one / 3, one << 62, one << 65, i128::MAX, i128::MIN]
        {
            assert_eq!(seconds(&clock, share), share as f64 / 3.0 / fraction::ONE);
        }
    }
}
