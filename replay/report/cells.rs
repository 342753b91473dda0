//! The severities of a metric at some call paths and locations. Mostly they are whole numbers, and often there are none:
//! neither takes the room and the time that shares of ticks do.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::rc::Rc;

use crate::fraction::whole;

/// A value as it is in the file: seconds, or a number of occurrences or bytes.
pub(super) type Value = [u8; 8];

/// Severities of a metric, call path after call path, of each those of some neighbours. They do not change any more: other
/// metrics that have the same share them.
#[derive(Debug, Default)]
pub(super) struct Cells {
    pub(super) numbers: Numbers,
    /// What they are in the file, once that was asked for.
    values: OnceCell<Vec<Value>>,
}

/// The numbers that severities are.
#[derive(Debug, Default)]
pub(super) enum Numbers {
    /// All are zero.
    #[default]
    Zero,
    /// Whole numbers; where the metric is made of shares of ticks, whole ticks.
    Whole(Vec<i64>),
    /// Shares of ticks, or whole numbers that may be longer than a word.
    Wide(Vec<i128>),
}

/// The numbers of neighbours at one call path.
#[derive(Clone, Copy, Debug)]
pub(super) enum Row<'c> {
    /// Whole numbers.
    Whole(&'c [i64]),
    /// Shares of ticks, which are whole ticks here.
    Ticks(&'c [i64]),
    /// Shares of ticks, or longer ones.
    Wide(&'c [i128]),
}

impl Cells {
    pub(super) fn new(numbers: Numbers) -> Rc<Cells> {
        Rc::new(Cells { numbers, values: OnceCell::new() })
    }

    /// The numbers of the call path at a position, of so many neighbours; `None` if they are zero.
    pub(super) fn row(&self, at: usize, width: usize, are_shares: bool) -> Option<Row<'_>> {
        let row = at * width..(at + 1) * width;
        match &self.numbers {
            Numbers::Zero => None,
            Numbers::Whole(numbers) if are_shares => Some(Row::Ticks(&numbers[row])),
            Numbers::Whole(numbers) => Some(Row::Whole(&numbers[row])),
            Numbers::Wide(numbers) => Some(Row::Wide(&numbers[row])),
        }
    }

    /// The numbers of one word of the call path at a position; `None` if they are zero, or longer.
    pub(super) fn words(&self, at: usize, width: usize) -> Option<&[i64]> {
        match &self.numbers {
            Numbers::Whole(numbers) => Some(&numbers[at * width..(at + 1) * width]),
            Numbers::Zero | Numbers::Wide(_) => None,
        }
    }

    /// What the numbers are in the file; `None` if they are zero. They are converted once, so always in the same way.
    pub(super) fn values(&self, convert: impl FnOnce(&Numbers) -> Vec<Value>) -> Option<&[Value]> {
        match self.numbers {
            Numbers::Zero => None,
            _ => Some(self.values.get_or_init(|| convert(&self.numbers))),
        }
    }
}

/// The sum of both, or the difference. Neither has longer numbers than the other, unless they are zero.
pub(super) fn combine(one: Rc<Cells>, other: &Rc<Cells>, is_without: bool, are_shares: bool) -> Rc<Cells> {
    match (&one.numbers, &other.numbers) {
        (_, Numbers::Zero) => return one,
        (Numbers::Zero, _) if !is_without => return other.clone(),
        _ => {}
    }
    let (one, other) = (&one.numbers, &other.numbers);
    Cells::new(match (one.whole(), other.whole()) {
        // What is stored as whole ticks has to be what shares of ticks would be.
        (Some(one), Some(other)) if !are_shares || is_exact(one, other, is_without) => {
            Numbers::Whole(zip(one, other, is_without))
        }
        _ => Numbers::Wide(zip(&one.wide(are_shares), &other.wide(are_shares), is_without)),
    })
}

impl Numbers {
    /// Numbers of one word, none if they are zero.
    fn whole(&self) -> Option<&[i64]> {
        match self {
            Numbers::Zero => Some(&[]),
            Numbers::Whole(numbers) => Some(numbers),
            Numbers::Wide(_) => None,
        }
    }

    fn wide(&self, are_shares: bool) -> Cow<'_, [i128]> {
        match self {
            Numbers::Zero => Cow::default(),
            Numbers::Whole(ticks) if are_shares => ticks.iter().map(|&ticks| whole(ticks)).collect(),
            Numbers::Whole(numbers) => numbers.iter().map(|&number| number.into()).collect(),
            Numbers::Wide(numbers) => numbers.into(),
        }
    }
}

/// A number that severities are. What exceeds the largest one becomes that.
trait Number: Copy + Default {
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
}

impl Number for i64 {
    fn plus(self, other: i64) -> i64 {
        self.saturating_add(other)
    }

    fn minus(self, other: i64) -> i64 {
        self.saturating_sub(other)
    }
}

impl Number for i128 {
    fn plus(self, other: i128) -> i128 {
        self.saturating_add(other)
    }

    fn minus(self, other: i128) -> i128 {
        self.saturating_sub(other)
    }
}

fn zip<T: Number>(one: &[T], other: &[T], is_without: bool) -> Vec<T> {
    let pairs = |step: fn(T, T) -> T| match one.is_empty() {
        true => other.iter().map(|&other| step(T::default(), other)).collect(),
        false => one.iter().zip(other).map(|(&one, &other)| step(one, other)).collect(),
    };
    pairs(if is_without { T::minus } else { T::plus })
}

/// Whether nothing exceeds the largest number of one word.
fn is_exact(one: &[i64], other: &[i64], is_without: bool) -> bool {
    let exceeds = if is_without { i64::overflowing_sub } else { i64::overflowing_add };
    match one.is_empty() {
        true => other.iter().all(|&other| !exceeds(0, other).1),
        false => one.iter().zip(other).all(|(&one, &other)| !exceeds(one, other).1),
    }
}

impl Row<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Row::Whole(numbers) | Row::Ticks(numbers) => numbers.len(),
            Row::Wide(numbers) => numbers.len(),
        }
    }

    pub(super) fn number(&self, at: usize) -> i128 {
        match self {
            Row::Whole(numbers) => numbers[at].into(),
            Row::Ticks(ticks) => whole(ticks[at]),
            Row::Wide(numbers) => numbers[at],
        }
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = i128> {
        (0..self.len()).map(|at| self.number(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(one: Numbers, other: Numbers, is_without: bool, are_shares: bool) -> Vec<i128> {
        let sum = combine(Cells::new(one), &Cells::new(other), is_without, are_shares);
        sum.row(0, 2, are_shares).map_or(vec![], |row| row.numbers().collect())
    }

    #[test]
    fn zero_changes_nothing_and_costs_nothing() {
        let (zero, some) = (Cells::new(Numbers::Zero), Cells::new(Numbers::Whole(vec![1, -2])));
        for is_without in [false, true] {
            assert!(Rc::ptr_eq(&combine(some.clone(), &zero, is_without, false), &some));
        }
        assert!(Rc::ptr_eq(&combine(zero.clone(), &some, false, false), &some));
        assert_eq!(sum(Numbers::Zero, Numbers::Whole(vec![1, -2]), true, false), [-1, 2]);
        assert!(sum(Numbers::Zero, Numbers::Zero, true, true).is_empty());
    }

    #[test]
    fn whole_ticks_are_shares_where_they_meet_them() {
        let half = whole(1) / 2;
        let ticks = || Numbers::Whole(vec![3, 0]);
        assert_eq!(sum(ticks(), ticks(), false, true), [whole(6), 0]);
        assert_eq!(sum(ticks(), Numbers::Wide(vec![half, half]), false, true), [whole(3) + half, half]);
        assert_eq!(sum(Numbers::Wide(vec![half, half]), ticks(), true, true), [half - whole(3), half]);
        assert_eq!(sum(Numbers::Zero, Numbers::Wide(vec![half, 0]), true, true), [-half, 0]);
    }

    #[test]
    fn whole_ticks_that_exceed_a_word_become_shares_and_counts_end_there() {
        let most = || Numbers::Whole(vec![i64::MAX, 1]);
        assert_eq!(sum(most(), most(), false, true), [2 * whole(i64::MAX), whole(2)]);
        assert_eq!(sum(most(), most(), false, false), [i64::MAX.into(), 2]);
        let least = Numbers::Whole(vec![i64::MIN, 0]);
        assert_eq!(sum(Numbers::Zero, least, true, true), [-whole(i64::MIN), 0]);
    }
}
