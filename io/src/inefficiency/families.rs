//! What ranks do to the files of a family, in sums.

use std::collections::BTreeMap;

use crate::calls::Calls;
use crate::facts::FileFacts;
use crate::json::FileEntry;
use crate::numbers::sum;
use crate::observed::Observed;
use crate::together::{Together, Waits, waits, waits_in};

/// What ranks do to the files of a family.
#[derive(Clone, Default, Debug)]
pub(crate) struct OfFamily {
    /// Sums by rank. Of handling and flushes they have no waiting for others.
    pub(crate) ranks: BTreeMap<u32, Calls>,
    /// What was done to all files.
    pub(crate) facts: FileFacts,
    /// Who waits for whom in collective transfers.
    pub(crate) waits: Waits,
}

impl OfFamily {
    /// A number of all ranks.
    pub(crate) fn all(&self, number: impl Fn(&Calls) -> u64) -> u64 {
        sum(self.ranks.values().map(number))
    }

    /// The largest number of a rank.
    pub(crate) fn most(&self, number: impl Fn(&Calls) -> u64) -> u64 {
        self.ranks.values().map(number).max().unwrap_or(0)
    }
}

/// What ranks do to each family of files.
pub(crate) fn of_families<'a>(
    observed: &Observed,
    files: &'a BTreeMap<u32, FileEntry>,
) -> BTreeMap<&'a str, OfFamily> {
    let family = |file: u32| files.get(&file).map_or("", |entry| &entry.family);
    let mut all: BTreeMap<&str, OfFamily> = BTreeMap::new();
    for entry in files.values() {
        all.entry(&entry.family).or_default().facts.merge(&entry.facts);
    }
    for (&(file, rank), calls) in &observed.calls {
        all.entry(family(file)).or_default().ranks.entry(rank).or_default().merge(calls);
    }
    for ranks in observed.together.values() {
        let Some(file) = ranks.values().next().map(|it| it.file) else { continue };
        let of = all.entry(family(file)).or_default();
        let mut leave_out = |found: Option<Waits>, time: fn(&mut Calls) -> &mut u64| {
            for (rank, waited) in found.into_iter().flat_map(|it| it.waiting) {
                if let Some(calls) = of.ranks.get_mut(&rank) {
                    let time = time(calls);
                    *time = time.saturating_sub(waited);
                }
            }
        };
        leave_out(waits(ranks, |it| &it.handling), |calls| &mut calls.handling_time);
        leave_out(waits(ranks, |it| &it.flushes), |calls| &mut calls.flush_time);
        let is_early = |it: &Together, at: u64| it.early_flushes.binary_search(&at).is_ok();
        leave_out(waits_in(ranks, |it| &it.flushes, is_early), |calls| &mut calls.early_flush_time);
        waits(ranks, |it| &it.transfers).iter().for_each(|found| of.waits.merge(found));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::together::Together;

    #[test]
    fn sums_of_a_family_have_no_waiting_for_others() {
        let calls = |flush_time| {
            // All but the last one of 9 ticks.
            let early_flush_time = u64::saturating_sub(flush_time, 9);
            Calls { flush_time, early_flush_time, handling: 1, handling_time: 5, ..Calls::default() }
        };
        let together = |flushes: [(u64, u64); 2]| Together {
            file: 7,
            members: 2,
            flushes: flushes.into(),
            early_flushes: vec![0],
            ..Together::default()
        };
        let observed = Observed {
            calls: BTreeMap::from([((7, 0), calls(19)), ((7, 1), calls(4)), ((8, 1), calls(1))]),
            together: BTreeMap::from([(
                3,
                BTreeMap::from([(0, together([(0, 10), (20, 29)])), (1, together([(8, 11), (25, 26)]))]),
            )]),
            ..Observed::default()
        };
        let file = |family: &str, opens| FileEntry {
            name: String::new(),
            family: family.to_owned(),
            facts: FileFacts { opens, ..FileFacts::default() },
            modes: BTreeMap::new(),
            reads: None,
            bottoms: Vec::new(),
        };
        let files = BTreeMap::from([(7, file("a", 3)), (8, file("b", 1)), (9, file("a", 4))]);
        let all = of_families(&observed, &files);
        assert_eq!(all["a"].facts.opens, 7);
        let flushes =
            |name| all[name].ranks.iter().map(|(rank, it)| (*rank, it.flush_time)).collect::<Vec<_>>();
        assert_eq!((flushes("a"), flushes("b")), (vec![(0, 6), (1, 4)], vec![(1, 1)]));
        // Waiting in the last one is none of the others'.
        assert_eq!(all["a"].all(|it| it.early_flush_time), 2);
        assert_eq!((all["a"].all(|it| it.handling), all["a"].most(|it| it.flush_time)), (2, 6));
    }
}
