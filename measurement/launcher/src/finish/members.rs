//! Groups of processes, each once.

use recording::journal;
use std::collections::HashMap;

/// The group of all locations (OTF2's `COMM_LOCATIONS`); its positions are ranks in the world.
pub(crate) const LOCATIONS: u32 = 0;
/// The group of a process by itself (OTF2's `COMM_SELF`).
pub(crate) const SELF: u32 = 1;
/// The first group that lists ranks.
const FIRST: u32 = 2;

/// Groups by their numbers in the archive. The first two are [`LOCATIONS`] and [`SELF`].
#[derive(Clone, Default, Debug)]
pub(crate) struct Groups {
    lists: Vec<Vec<u32>>,
    numbers: HashMap<Vec<u32>, u32>,
}

impl Groups {
    /// Returns the number of the group with these ranks in this order.
    pub(crate) fn number(&mut self, ranks: Vec<u32>) -> u32 {
        if let Some(&known) = self.numbers.get(&ranks) {
            return known;
        }
        let number = self.behind();
        self.lists.push(ranks.clone());
        self.numbers.insert(ranks, number);
        number
    }

    /// Returns the first number behind those of all groups.
    pub(crate) fn behind(&self) -> u32 {
        FIRST + self.lists.len() as u32
    }

    /// Returns the ranks of a group, none for the two that list none.
    pub(crate) fn ranks(&self, number: u32) -> &[u32] {
        number.checked_sub(FIRST).and_then(|at| self.lists.get(at as usize)).map_or(&[], |ranks| ranks)
    }

    /// Iterates over the groups that list ranks, with their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &[u32])> {
        (FIRST..).zip(self.lists.iter().map(Vec::as_slice))
    }
}

/// Parses the ranks in a journal; `None` unless they are different ranks of a world of this size.
pub(crate) fn parse(ranges: &str, size: u32) -> Option<Vec<u32>> {
    let ranks = journal::numbers(ranges, size as usize)?;
    let mut seen = vec![false; size as usize];
    let are_different = ranks
        .iter()
        .all(|&rank| seen.get_mut(rank as usize).is_some_and(|seen| !std::mem::replace(seen, true)));
    are_different.then_some(ranks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_ranks_are_one_group() {
        let mut groups = Groups::default();
        assert_eq!(groups.number(vec![0, 1]), 2);
        assert_eq!(groups.number(vec![1, 0]), 3);
        assert_eq!(groups.number(vec![0, 1]), 2);
        assert_eq!((groups.ranks(3), groups.ranks(SELF)), (&[1, 0][..], &[][..]));
    }

    #[test]
    fn only_different_ranks_of_the_world_are_members() {
        assert_eq!(parse("0-3", 4), Some(vec![0, 1, 2, 3]));
        assert_eq!(parse("3,1", 4), Some(vec![3, 1]));
        for bad in ["4", "0,0", "0-4", "x", "0-4000000000"] {
            assert_eq!(parse(bad, 4), None, "{bad}");
        }
    }
}
