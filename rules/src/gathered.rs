//! What is gathered from the rows of a group: integers, so that no order of rows or workers changes anything (advice 5.3).

use std::collections::{BTreeMap, BTreeSet};

use crate::Type;
use crate::code::Gather;
use crate::words::Reader;

/// Parts of 1 in sums of numbers and rates: 2^40.
const FRACTION: f64 = 1_099_511_627_776.0;

/// Sums of numbers take each as at most so many parts, so that 2^32 of them have room.
const LARGEST: f64 = 39_614_081_257_132_168_796_771_975_168.0;

/// Something gathered.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Gathered {
    /// The sum in ticks, bytes or things, or in parts of 1, and of how many rows.
    Sum { sum: i128, count: u64 },
    /// The least and the greatest value.
    Extremes(Option<(f64, f64)>),
    /// How many rows fulfil it, of how many.
    Share { yes: u64, count: u64 },
    /// The values.
    Distinct(BTreeSet<i64>),
    /// Weight by value, with the same units as sums.
    Most(BTreeMap<i64, i128>),
    /// Rows by class of their value: 8 classes an octave.
    Histogram(BTreeMap<i16, u64>),
    /// Rows that fulfil it, and runs of such rows of one rank.
    Series { yes: u64, runs: u64 },
}

impl Gathered {
    /// Nothing yet.
    pub(crate) fn new(gather: Gather) -> Gathered {
        match gather {
            Gather::Sum => Gathered::Sum { sum: 0, count: 0 },
            Gather::Extremes => Gathered::Extremes(None),
            Gather::Share => Gathered::Share { yes: 0, count: 0 },
            Gather::Distinct => Gathered::Distinct(BTreeSet::new()),
            Gather::Most => Gathered::Most(BTreeMap::new()),
            Gather::Histogram => Gathered::Histogram(BTreeMap::new()),
            Gather::Series => Gathered::Series { yes: 0, runs: 0 },
        }
    }

    /// How many values it lists, of those that may be many.
    pub(crate) fn listed(&self) -> usize {
        match self {
            Gathered::Distinct(values) => values.len(),
            Gathered::Most(weights) => weights.len(),
            _ => 0,
        }
    }

    /// Adds what another worker has gathered of the same.
    pub(crate) fn merge(&mut self, other: Gathered) {
        match (self, other) {
            (Gathered::Sum { sum, count }, Gathered::Sum { sum: more, count: others }) => {
                *sum = sum.wrapping_add(more);
                *count += others;
            }
            (Gathered::Extremes(known), Gathered::Extremes(more)) => {
                if let Some((least, greatest)) = more {
                    widen(known, least);
                    widen(known, greatest);
                }
            }
            (Gathered::Share { yes, count }, Gathered::Share { yes: more, count: others }) => {
                *yes += more;
                *count += others;
            }
            (Gathered::Distinct(values), Gathered::Distinct(more)) => values.extend(more),
            (Gathered::Most(weights), Gathered::Most(more)) => {
                for (value, weight) in more {
                    let sum = weights.entry(value).or_default();
                    *sum = sum.wrapping_add(weight);
                }
            }
            (Gathered::Histogram(classes), Gathered::Histogram(more)) => {
                for (class, count) in more {
                    *classes.entry(class).or_default() += count;
                }
            }
            (Gathered::Series { yes, runs }, Gathered::Series { yes: more, runs: others }) => {
                *yes += more;
                *runs += others;
            }
            _ => unreachable!("both are of the same aggregate"),
        }
    }

    /// Appends it as words.
    pub(crate) fn write(&self, words: &mut Vec<u64>) {
        let length = |length: usize| u64::try_from(length).expect("a length has 64 bits");
        match self {
            Gathered::Sum { sum, count } => {
                words.extend(halves(*sum));
                words.push(*count);
            }
            Gathered::Extremes(extremes) => {
                let (least, greatest) = extremes.unwrap_or((f64::NAN, f64::NAN));
                words.extend([least.to_bits(), greatest.to_bits()]);
            }
            Gathered::Share { yes, count } => words.extend([yes, count]),
            Gathered::Distinct(values) => {
                words.push(length(values.len()));
                words.extend(values.iter().map(|value| value.cast_unsigned()));
            }
            Gathered::Most(weights) => {
                words.push(length(weights.len()));
                for (value, weight) in weights {
                    words.push(value.cast_unsigned());
                    words.extend(halves(*weight));
                }
            }
            Gathered::Histogram(classes) => {
                words.push(length(classes.len()));
                for (class, count) in classes {
                    words.extend([i64::from(*class).cast_unsigned(), *count]);
                }
            }
            Gathered::Series { yes, runs } => words.extend([yes, runs]),
        }
    }

    /// Reads what [`Gathered::write`] has written; `None` if it is anything else.
    pub(crate) fn read(gather: Gather, words: &mut Reader<'_>) -> Option<Gathered> {
        Some(match gather {
            Gather::Sum => Gathered::Sum { sum: words.wide()?, count: words.word()? },
            Gather::Extremes => {
                let (least, greatest) = (f64::from_bits(words.word()?), f64::from_bits(words.word()?));
                Gathered::Extremes((least <= greatest).then_some((least, greatest)))
            }
            Gather::Share => Gathered::Share { yes: words.word()?, count: words.word()? },
            Gather::Distinct => {
                let count = words.word()?;
                Gathered::Distinct((0..count).map(|_| words.number()).collect::<Option<_>>()?)
            }
            Gather::Most => {
                let count = words.word()?;
                let weights = (0..count).map(|_| Some((words.number()?, words.wide()?)));
                Gathered::Most(weights.collect::<Option<_>>()?)
            }
            Gather::Histogram => {
                let count = words.word()?;
                let classes = (0..count).map(|_| Some((i16::try_from(words.number()?).ok()?, words.word()?)));
                Gathered::Histogram(classes.collect::<Option<_>>()?)
            }
            Gather::Series => Gathered::Series { yes: words.word()?, runs: words.word()? },
        })
    }
}

/// Takes a value into account.
pub(crate) fn widen(extremes: &mut Option<(f64, f64)>, value: f64) {
    // There is one zero only, so that no order decides about its sign.
    let value = value + 0.0;
    let (least, greatest) = extremes.unwrap_or((value, value));
    *extremes = Some((least.min(value), greatest.max(value)));
}

/// The low and the high half of a number.
// Halves are cut on purpose.
#[allow(clippy::cast_possible_truncation)]
fn halves(number: i128) -> [u64; 2] {
    let bits = number.cast_unsigned();
    [bits as u64, (bits >> 64) as u64]
}

/// A number as the integer that sums are of: to the nearest one for whole types, else in parts of 1.
// Values that are too large become the largest ones; nothing is not a number here.
#[allow(clippy::cast_possible_truncation)]
pub(crate) fn fixed(value: f64, kind: Type) -> i128 {
    match kind.is_whole() {
        true => i128::from((value + 0.5f64.copysign(value)) as i64),
        false => (value * FRACTION).clamp(-LARGEST, LARGEST) as i128,
    }
}

/// The number that a sum stands for.
// Beyond 2^53 the nearest number will do.
#[allow(clippy::cast_precision_loss)]
pub(crate) fn loose(sum: i128, kind: Type) -> f64 {
    match kind.is_whole() {
        true => sum as f64,
        false => sum as f64 / FRACTION,
    }
}

/// The class of a value: its sign, its octave, and its eighth of that. Classes have the order of values.
#[allow(clippy::cast_possible_truncation)]
pub(crate) fn class(value: f64) -> i16 {
    if value == 0.0 {
        return 0;
    }
    // Exponent and three digits: 14 bits at most, and 1 for smallest ones.
    let class = 1 + (value.abs().to_bits() >> 49) as i16;
    if value < 0.0 { -class } else { class }
}

/// The middle of a class; of whole numbers a whole one.
pub(crate) fn middle(class: i16, kind: Type) -> f64 {
    if class == 0 {
        return 0.0;
    }
    let number = u64::from(class.unsigned_abs()) - 1;
    let (low, high) = (f64::from_bits(number << 49), f64::from_bits((number + 1) << 49));
    let middle = low / 2.0 + high / 2.0;
    let middle = if kind.is_whole() { middle.floor().max(low.ceil()) } else { middle };
    if class < 0 { -middle } else { middle }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn whole_values_go_to_the_nearest_integer_and_others_to_parts() {
        assert_eq!(fixed(2.5, Type::Time), 3);
        assert_eq!(fixed(-2.5, Type::Time), -3);
        assert_eq!(fixed(0.5, Type::Number), 1 << 39);
        assert_eq!(fixed(1e300, Type::Time), i128::from(i64::MAX));
        assert!((loose(fixed(0.1, Type::Number), Type::Number) - 0.1).abs() < 1e-12);
    }

    #[test]
    fn small_whole_numbers_are_their_own_class() {
        for value in [0.0, 1.0, 2.0, 3.0, 7.0, 8.0, 15.0] {
            assert_eq!(middle(class(value), Type::Bytes), value);
        }
    }

    proptest! {
        #[test]
        fn the_middle_of_a_class_is_within_an_eighth_of_an_octave(value in 1e-9f64..1e18) {
            let error = middle(class(value), Type::Number) / value - 1.0;
            prop_assert!(error.abs() < 0.0626, "{}", error);
            prop_assert_eq!(middle(class(-value), Type::Number), -middle(class(value), Type::Number));
        }

        #[test]
        fn classes_have_the_order_of_values(a in -1e12f64..1e12, b in -1e12f64..1e12) {
            prop_assert_eq!(a <= b, class(a) <= class(b) && (class(a) < class(b) || a <= b));
        }
    }
}
