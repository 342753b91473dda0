//! Sparse map from the trace's numbers to active operations.

use rustc_hash::FxHashMap;

/// Number of slots that are searched first: far more than most programs have active operations at a time.
const PLACES: usize = 256;

/// Values by number. Few are active at a time, and consecutive numbers have slots of their own, so that
/// hardly any needs a search.
#[derive(Debug)]
pub(super) struct Pending<T> {
    /// Slots by the hash of the number; empty before the first value.
    places: Vec<Option<(u64, T)>>,
    /// Values with a slot that another one has taken.
    others: FxHashMap<u64, T>,
}

impl<T> Default for Pending<T> {
    fn default() -> Pending<T> {
        Pending { places: Vec::new(), others: FxHashMap::default() }
    }
}

impl<T> Pending<T> {
    /// Adds a value; returns the previous one with this number.
    #[inline(always)]
    pub(super) fn insert(&mut self, number: u64, value: T) -> Option<T> {
        if self.places.is_empty() {
            self.places.resize_with(PLACES, || None);
        }
        let before = self.remove(number);
        let at = place(number);
        if self.places[at].is_some() {
            self.clear(at);
        }
        self.places[at] = Some((number, value));
        before
    }

    /// Moves a value out of a slot.
    #[cold]
    fn clear(&mut self, at: usize) {
        self.others.extend(self.places[at].take());
    }

    /// Returns a value.
    pub(super) fn get(&self, number: u64) -> Option<&T> {
        match self.places.get(place(number))? {
            Some((there, value)) if *there == number => Some(value),
            _ => self.others.get(&number),
        }
    }

    /// Removes a value, and returns it.
    #[inline(always)]
    pub(super) fn remove(&mut self, number: u64) -> Option<T> {
        let place = self.places.get_mut(place(number))?;
        match place.take_if(|(there, _)| *there == number) {
            Some((_, value)) => Some(value),
            None if self.others.is_empty() => None,
            None => self.others.remove(&number),
        }
    }

    /// Returns all numbers and values, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        let places = self.places.iter().flatten().map(|(number, value)| (*number, value));
        places.chain(self.others.iter().map(|(&number, value)| (number, value)))
    }
}

/// Fibonacci hashing (golden ratio): numbers at equal distances are spread evenly.
#[inline]
fn place(number: u64) -> usize {
    (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize % PLACES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_by_their_numbers_whoever_has_their_place() {
        let mut pending = Pending::default();
        assert_eq!(pending.remove(1), None);
        for number in (0..2000).map(|at| at * 64) {
            assert_eq!(pending.insert(number, number + 1), None);
        }
        assert_eq!(pending.iter().count(), 2000);
        for number in (0..2000).map(|at| at * 64) {
            assert!(pending.get(number).is_some() && pending.get(number + 1).is_none());
            assert_eq!(pending.insert(number, number + 2), Some(number + 1));
        }
        for number in (0..2000).rev().map(|at| at * 64) {
            assert_eq!(pending.remove(number), Some(number + 2));
            assert_eq!((pending.remove(number), pending.get(number)), (None, None));
        }
        assert_eq!(pending.iter().next(), None);
    }
}
