//! Collective calls on files: who waits for whom (io.md 5.1).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::numbers::{count, sum};

/// The collective calls of a rank by a handle that several have opened together, in their order: when each began and ended, in ticks
/// of the clock.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Together {
    /// Number of the file.
    pub file: u32,
    /// Members of the communicator.
    pub members: u64,
    /// Those that move bytes and block.
    pub transfers: Vec<(u64, u64)>,
    /// Those that flush.
    pub flushes: Vec<(u64, u64)>,
    /// Which of these the rank has written more of the same opening behind, by position.
    pub early_flushes: Vec<u64>,
    /// Those that open, close or otherwise handle the file.
    pub handling: Vec<(u64, u64)>,
}

/// Who waits for whom in the collective calls of one kind by one handle.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Waits {
    /// How many operations there are.
    pub(crate) operations: u64,
    /// How long ranks wait for the last one, in ticks.
    pub(crate) waiting: BTreeMap<u32, u64>,
    /// By rank that is the last one: how often, and how long all others wait for it, in ticks.
    pub(crate) last: BTreeMap<u32, (u64, u64)>,
}

impl Waits {
    /// Adds those of other calls.
    pub(crate) fn merge(&mut self, other: &Waits) {
        self.operations = self.operations.saturating_add(other.operations);
        for (rank, ticks) in &other.waiting {
            add(self.waiting.entry(*rank).or_default(), *ticks);
        }
        for (rank, (times, ticks)) in &other.last {
            let own = self.last.entry(*rank).or_default();
            add(&mut own.0, *times);
            add(&mut own.1, *ticks);
        }
    }

    /// Ticks that all wait.
    pub(crate) fn all(&self) -> u64 {
        sum(self.waiting.values().copied())
    }
}

fn add(to: &mut u64, ticks: u64) {
    *to = to.saturating_add(ticks);
}

/// Who waits for whom: the k-th call of each member is one operation. Where members are missing nothing is known.
pub(crate) fn waits(
    ranks: &BTreeMap<u32, Together>,
    which: impl Fn(&Together) -> &[(u64, u64)],
) -> Option<Waits> {
    waits_in(ranks, which, |_, _| true)
}

/// The same of those calls of a rank of which it holds, by position.
pub(crate) fn waits_in(
    ranks: &BTreeMap<u32, Together>,
    which: impl Fn(&Together) -> &[(u64, u64)],
    is_counted: impl Fn(&Together, u64) -> bool,
) -> Option<Waits> {
    let members = ranks.values().map(|it| it.members).max()?;
    if members < 2 || count(ranks.len()) != members {
        return None;
    }
    let mut all = Waits::default();
    let operations = ranks.values().map(|it| which(it).len()).min()?;
    for at in 0..operations {
        let is_counted = |rank: &u32| is_counted(&ranks[rank], count(at));
        let calls = || ranks.iter().map(|(rank, it)| (*rank, which(it)[at]));
        // The lowest rank of those that come last.
        let (last, (latest, _)) = calls().rev().max_by_key(|(_, (begin, _))| *begin)?;
        let mut waited = 0;
        for (rank, (begin, end)) in calls() {
            // Who has left before the last one came has not waited for it.
            if begin < latest && end >= latest && is_counted(&rank) {
                add(all.waiting.entry(rank).or_default(), latest - begin);
                add(&mut waited, latest - begin);
            }
        }
        let culprit = all.last.entry(last).or_default();
        add(&mut culprit.0, 1);
        add(&mut culprit.1, waited);
    }
    all.operations = count(operations);
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranks(calls: &[&[(u64, u64)]]) -> BTreeMap<u32, Together> {
        let of =
            |list: &&[(u64, u64)]| Together { members: 3, transfers: list.to_vec(), ..Together::default() };
        (0..).zip(calls.iter().map(of)).collect()
    }

    #[test]
    fn members_wait_for_the_last_one_unless_they_have_left_before_it_came() {
        let calls = ranks(&[&[(0, 12), (20, 22)], &[(4, 12), (25, 31)], &[(10, 12), (30, 31)]]);
        let waits = waits(&calls, |it| &it.transfers).unwrap();
        assert_eq!(waits.operations, 2);
        assert_eq!(waits.waiting, BTreeMap::from([(0, 10), (1, 6 + 5)]));
        assert_eq!(waits.last, BTreeMap::from([(2, (2, 21))]));
        assert_eq!(waits.all(), 21);
    }

    #[test]
    fn lowest_of_ranks_that_come_last_together_is_the_last_one() {
        let calls = ranks(&[&[(0, 9)], &[(5, 9)], &[(5, 9)]]);
        assert_eq!(waits(&calls, |it| &it.transfers).unwrap().last, BTreeMap::from([(1, (1, 5))]));
    }

    #[test]
    fn nothing_is_known_where_members_are_missing() {
        let mut calls = ranks(&[&[(0, 9)], &[(5, 9), (10, 11)], &[(5, 9)]]);
        assert_eq!(waits(&calls, |it| &it.transfers).unwrap().operations, 1);
        calls.remove(&2);
        assert_eq!(waits(&calls, |it| &it.transfers), None);
        assert_eq!(waits(&BTreeMap::new(), |it| &it.transfers), None);
    }

    #[test]
    fn waiting_adds_up_in_any_order() {
        let [one, other] = [&[(0, 9)][..], &[(2, 8)][..]]
            .map(|first| waits(&ranks(&[first, &[(5, 9)], &[(7, 9)]]), |it| &it.transfers).unwrap());
        let sum = |first: &Waits, second: &Waits| {
            let mut sum = first.clone();
            sum.merge(second);
            sum
        };
        assert_eq!(sum(&one, &other), sum(&other, &one));
        assert_eq!(sum(&one, &other).all(), 7 + 2 + 5 + 2);
    }
}
