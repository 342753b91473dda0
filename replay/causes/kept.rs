//! Sparse map index → value that recycles slots: few values are alive at a time, mostly.

use crate::int::to_u32;

/// Sparse map with recycled slots.
#[derive(Clone, Debug)]
pub(super) struct Kept<T> {
    /// Slot of each index plus 1; 0 without a value.
    places: Vec<u32>,
    values: Vec<T>,
    free: Vec<u32>,
}

impl<T: Copy> Kept<T> {
    /// An empty map for indices below `count`.
    pub(super) fn new(count: usize) -> Kept<T> {
        Kept { places: vec![0; count], values: Vec::new(), free: Vec::new() }
    }

    /// Inserts or replaces a value.
    pub(super) fn insert(&mut self, number: u32, value: T) {
        let place = &mut self.places[number as usize];
        if *place == 0 {
            *place = self.free.pop().unwrap_or_else(|| {
                self.values.push(value);
                to_u32(self.values.len())
            });
        }
        self.values[*place as usize - 1] = value;
    }

    /// The value at an index.
    pub(super) fn get(&self, number: u32) -> Option<&T> {
        let place = self.places[number as usize].checked_sub(1)?;
        Some(&self.values[place as usize])
    }

    /// Removes and returns the value at an index.
    pub(super) fn remove(&mut self, number: u32) -> Option<T> {
        let place = std::mem::take(&mut self.places[number as usize]);
        let value = *self.values.get(place.checked_sub(1)? as usize)?;
        self.free.push(place);
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_and_their_places_are_used_again() {
        let mut kept = Kept::new(9);
        kept.insert(7, 'a');
        kept.insert(2, 'b');
        kept.insert(7, 'c');
        assert_eq!((kept.get(7), kept.get(2), kept.get(0)), (Some(&'c'), Some(&'b'), None));
        assert_eq!((kept.remove(7), kept.remove(7)), (Some('c'), None));
        kept.insert(0, 'd');
        assert_eq!((kept.get(0), kept.get(2), kept.values.len()), (Some(&'d'), Some(&'b'), 2));
    }
}
