//! Looks at the transfers of a file, each once, in the order of time.

use std::collections::BTreeMap;

use crate::bytes::{Reading, Reads};
use crate::contention::Contention;
use crate::defects::{AtCall, Sums, add_reads, count};
use crate::in_time::in_time;
use crate::inefficiency::{RequestTotals, Totals};
use crate::order::Order;
use crate::outline::{Outline, Sizes};
use crate::transfer::Transfer;
use crate::transfers::Transfers;

/// What all transfers of a file tell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    /// What is the matter with requests.
    pub(crate) requests: RequestTotals,
    /// What was read; `None` if it is unknown where any of them lies, as that may be anywhere.
    pub(crate) reads: Option<Reads>,
}

/// Looks at all transfers of a file that is locked in blocks of `lock` bytes: a list of each rank, none with more than are kept. Adds what
/// is the matter with calls to `sums`; `each` is shown all of them.
pub(crate) fn look_at(
    lists: &[Transfers],
    (lock, sizes): (u64, Sizes),
    sums: &mut BTreeMap<AtCall, Sums>,
    mut each: impl FnMut(&Transfer),
) -> Seen {
    let is_known = !lists.iter().any(Transfers::is_unplaced);
    let mut reading = (is_known && lists.iter().any(Transfers::has_reads)).then(|| Reading::new(lists.len()));
    // Of one rank alone, or without a write, nothing is contended.
    let is_shared = lists.len() > 1 && lists.iter().any(Transfers::has_writes);
    let mut contention = is_shared.then(|| Contention::new(lock));
    let (mut order, mut totals) = (Order::new(lists.len()), Totals::new(lists.len(), sizes));
    let settle = |it: &Outline, sums: &mut BTreeMap<AtCall, Sums>, totals: &mut Totals| {
        count(it, sizes, sums);
        totals.add(it);
    };
    in_time(lists, |list, it| {
        each(it);
        if let Some(reading) = &mut reading {
            add_reads(it, &reading.see(list, it), sums);
        }
        let bounds = it.bounds();
        // What moves nothing is in no block.
        let moved = bounds.filter(|_| it.size > 0);
        let is_unordered = order.goes_back((list, it.opening), moved);
        let outline = Outline::new(it, list, bounds.map(|(first, _)| first), is_unordered);
        match &mut contention {
            Some(contention) => contention.push(outline, moved, |it| settle(it, sums, &mut totals)),
            None => settle(&outline, sums, &mut totals),
        }
    });
    if let Some(contention) = contention {
        contention.finish(|it| settle(it, sums, &mut totals));
    }
    let reads = is_known.then(|| reading.map(|it| it.all).unwrap_or_default());
    Seen { requests: totals.finish(), reads }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Kind;
    use crate::tests::{lists, transfer};

    /// What is read of a file with these transfers.
    fn reads(list: &[Transfer]) -> Option<Reads> {
        let sizes = Sizes { block: 4096, small: 1 << 20 };
        look_at(&lists(list), (4096, sizes), &mut BTreeMap::new(), |_| {}).reads
    }

    #[test]
    fn nothing_is_known_of_a_file_in_which_the_place_of_a_transfer_is_unknown() {
        let one = |kind, begin| transfer(0, kind, (begin, begin + 1), &[(0, 10)]);
        let mut list = [one(Kind::Write, 0), one(Kind::Read, 1)];
        list[0].pieces.clear();
        assert_eq!(reads(&list), None);
        list[0].size = 0;
        assert_eq!(reads(&list), Some(Reads { bytes: 10, distinct: 10, ..Reads::default() }));
        assert_eq!(reads(&list[..1]), Some(Reads::default()));
    }
}
