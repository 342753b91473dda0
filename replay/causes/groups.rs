//! What belongs to each location, in one list: there may be many locations with little each.

/// Numbers of things by the group that each belongs to.
#[derive(Clone, Debug, Default)]
pub(super) struct Groups {
    /// Where each group ends.
    ends: Vec<u32>,
    numbers: Vec<u32>,
}

impl Groups {
    /// Groups things by their groups, which are told in the order of the things.
    pub(super) fn new(groups: usize, of: impl Iterator<Item = usize> + Clone) -> Groups {
        let mut ends = vec![0; groups];
        let mut count = 0;
        for group in of.clone() {
            ends[group] += 1;
            count += 1;
        }
        // Where each begins, until all are in their places.
        let mut begin = 0;
        for end in &mut ends {
            begin += std::mem::replace(end, begin);
        }
        let mut numbers = vec![0; count];
        for (number, group) in of.enumerate() {
            let next = &mut ends[group];
            numbers[*next as usize] = number as u32;
            *next += 1;
        }
        Groups { ends, numbers }
    }

    /// The numbers of what belongs to a group, rising.
    pub(super) fn of(&self, group: usize) -> &[u32] {
        let begin = group.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.numbers[begin as usize..self.ends[group] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_group_has_its_numbers_in_order() {
        let groups = Groups::new(4, [2, 0, 2, 3, 0].into_iter());
        assert_eq!([0, 1, 2, 3].map(|group| groups.of(group)), [&[1, 4][..], &[], &[0, 2], &[3]]);
    }
}
