//! Members of many groups in one list, as most groups have few members.

use std::ops::Range;

use crate::int::to_u32;

/// Numbers of things, sorted by the group of each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Groups {
    /// The end of each group in the list.
    ends: Vec<u32>,
    numbers: Vec<u32>,
}

impl Groups {
    /// Sorts things into groups; `of` returns the group of each thing, in the order of things, or none.
    pub(crate) fn new(groups: usize, of: impl Iterator<Item = Option<usize>> + Clone) -> Groups {
        let mut ends = vec![0; groups];
        for group in of.clone().flatten() {
            ends[group] += 1;
        }
        // The beginning of each group, until all things are in their places.
        let mut begin = 0;
        for end in &mut ends {
            begin += std::mem::replace(end, begin);
        }
        let mut numbers = vec![0; begin as usize];
        for (number, group) in of.enumerate() {
            if let Some(group) = group {
                let next: &mut u32 = &mut ends[group];
                numbers[*next as usize] = to_u32(number);
                *next += 1;
            }
        }
        Groups { ends, numbers }
    }

    /// Returns the numbers of the members of a group, rising unless they were sorted in another way.
    pub(crate) fn of(&self, group: usize) -> &[u32] {
        &self.numbers[self.range(group)]
    }

    /// Sorts the members of each group by a key; equal ones by their numbers. The key of each is looked up only once, since
    /// that may be far away in memory. Keys that come in few rising runs are sorted fast.
    pub(crate) fn sort_by_key<K: Ord>(&mut self, key: impl Fn(u32) -> K) {
        let mut keys = Vec::new();
        for group in 0..self.ends.len() {
            let range = self.range(group);
            let numbers = &mut self.numbers[range];
            keys.clear();
            keys.extend(numbers.iter().map(|&number| (key(number), number)));
            keys.sort();
            numbers.iter_mut().zip(&keys).for_each(|(number, (_, sorted))| *number = *sorted);
        }
    }

    /// Returns all numbers, group by group.
    pub(crate) fn into_numbers(self) -> Vec<u32> {
        self.numbers
    }

    fn range(&self, group: usize) -> Range<usize> {
        let begin = group.checked_sub(1).map_or(0, |before| self.ends[before]);
        begin as usize..self.ends[group] as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_group_has_its_numbers_in_order() {
        let groups = Groups::new(4, [2, 0, 2, 3, 0].into_iter().map(Some));
        assert_eq!([0, 1, 2, 3].map(|group| groups.of(group)), [&[1, 4][..], &[], &[0, 2], &[3]]);
    }

    #[test]
    fn members_are_sorted_by_key_and_then_by_number() {
        let mut groups = Groups::new(2, [1, 0, 1, 1].into_iter().map(Some));
        groups.sort_by_key(|number| [5, 0, 3, 5][number as usize]);
        assert_eq!([0, 1].map(|group| groups.of(group)), [&[1][..], &[2, 0, 3]]);
    }
}
