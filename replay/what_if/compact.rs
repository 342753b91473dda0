//! Lists of facts with durations and sizes that mostly fit into half a word, as pieces of a journal do; the few longer ones are elsewhere.

use model::Ticks;

use crate::int::to_u32;

/// A number that is short, or where it is among the [longer](Longer) ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Short(u32);

/// Numbers that do not fit.
#[derive(Clone, Debug, Default)]
pub(super) struct Longer(Vec<i64>);

/// Flag of a number that is elsewhere.
const ELSEWHERE: u32 = 1 << 31;

/// The least number that is short: where clocks are wrong, durations may be negative.
const LEAST: i64 = -(1 << 20);

impl Default for Short {
    fn default() -> Short {
        Short::of(0).unwrap_or(Short(0))
    }
}

impl Short {
    fn of(number: i64) -> Option<Short> {
        let above = u32::try_from(number.checked_sub(LEAST)?).ok()?;
        (above < ELSEWHERE).then_some(Short(above))
    }
}

impl Longer {
    /// Changes a number.
    ///
    /// # Panics
    /// If there are 2^31 longer ones.
    pub(super) fn set(&mut self, short: &mut Short, number: i64) {
        match Short::of(number) {
            Some(fits) => *short = fits,
            None if short.0 & ELSEWHERE != 0 => self.0[(short.0 & !ELSEWHERE) as usize] = number,
            None => {
                let at = to_u32(self.0.len());
                assert!(at < ELSEWHERE, "a location has too many long durations");
                self.0.push(number);
                *short = Short(ELSEWHERE | at);
            }
        }
    }

    /// The number.
    #[inline]
    pub(super) fn get(&self, short: Short) -> i64 {
        match short.0 & ELSEWHERE {
            0 => i64::from(short.0) + LEAST,
            _ => self.0[(short.0 & !ELSEWHERE) as usize],
        }
    }
}

/// Facts that a [list](Compacted) has in a smaller form.
pub(super) trait Compact: Copy {
    /// That form.
    type Small: Copy + Default + std::fmt::Debug;

    /// Puts them into it.
    fn shrink(self, small: &mut Self::Small, longer: &mut Longer);

    /// Takes them out of it.
    fn expand(small: Self::Small, longer: &Longer) -> Self;
}

/// A list of such facts.
#[derive(Clone, Debug)]
pub(super) struct Compacted<T: Compact> {
    list: Vec<T::Small>,
    longer: Longer,
}

impl<T: Compact> Default for Compacted<T> {
    fn default() -> Compacted<T> {
        Compacted { list: Vec::new(), longer: Longer::default() }
    }
}

impl<T: Compact> Compacted<T> {
    /// How many there are.
    pub(super) fn len(&self) -> u32 {
        to_u32(self.list.len())
    }

    /// Adds one; returns its number.
    pub(super) fn push(&mut self, facts: T) -> u32 {
        let number = self.len();
        self.list.push(T::Small::default());
        self.set(number, facts);
        number
    }

    /// Those with a number.
    ///
    /// # Panics
    /// If there are none.
    #[inline]
    pub(super) fn get(&self, number: u32) -> T {
        T::expand(self.list[number as usize], &self.longer)
    }

    /// Replaces those with a number.
    ///
    /// # Panics
    /// If there are none.
    pub(super) fn set(&mut self, number: u32, facts: T) {
        facts.shrink(&mut self.list[number as usize], &mut self.longer);
    }

    /// Changes those with a number.
    ///
    /// # Panics
    /// If there are none.
    pub(super) fn change(&mut self, number: u32, change: impl FnOnce(&mut T)) {
        let mut facts = self.get(number);
        change(&mut facts);
        self.set(number, facts);
    }

    /// All of them, in their order.
    pub(super) fn iter(&self) -> impl Iterator<Item = T> {
        self.list.iter().map(|&small| T::expand(small, &self.longer))
    }

    /// Forgets all from a number on.
    pub(super) fn truncate(&mut self, number: usize) {
        self.list.truncate(number);
    }

    /// Frees the room that was reserved for growing.
    pub(super) fn shrink_to_fit(&mut self) {
        self.list.shrink_to_fit();
        self.longer.0.shrink_to_fit();
    }
}

/// A list of ticks.
impl Compact for Ticks {
    type Small = Short;

    fn shrink(self, small: &mut Short, longer: &mut Longer) {
        longer.set(small, self);
    }

    fn expand(small: Short, longer: &Longer) -> Ticks {
        longer.get(small)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_what_they_were_set_to_whether_they_fit_or_not() {
        let most = i64::from(ELSEWHERE) - 1 + LEAST;
        let all = [0, -1, 7, LEAST, LEAST - 1, most, most + 1, i64::MIN, i64::MAX];
        let mut list = Compacted::<Ticks>::default();
        for number in all {
            list.push(number);
        }
        assert_eq!(list.iter().collect::<Vec<_>>(), all);
        assert_eq!(list.longer.0.len(), 4);
        // Each of them after each.
        for first in all {
            for second in all {
                list.set(0, first);
                list.change(0, |number| *number = second);
                assert_eq!(list.get(0), second);
            }
        }
        assert_eq!(list.iter().skip(1).collect::<Vec<_>>(), all[1..]);
    }

    #[test]
    fn longer_number_takes_the_place_of_another_one() {
        let mut list = Compacted::<Ticks>::default();
        list.push(i64::MAX);
        (0..10).for_each(|less| list.set(0, i64::MAX - less));
        assert_eq!(list.longer.0, [i64::MAX - 9]);
    }
}
