//! The transfers of all ranks on a file in the order of time.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use crate::transfer::Transfer;
use crate::transfers::Transfers;

/// Shows `each` all transfers of some lists, one of each rank, and which list each is of, in the order in which they begin; of those that
/// begin at one time the one that ends first comes first, then that of the first list. They are decoded one by one, each into the place of
/// the one before it of its list: there may be millions.
pub(crate) fn in_time(lists: &[Transfers], mut each: impl FnMut(usize, &Transfer)) {
    let lists: Vec<Cow<'_, Transfers>> = lists.iter().map(in_order).collect();
    let mut readers: Vec<_> = lists.iter().map(|list| list.read()).collect();
    let key = |it: &Transfer, list| Reverse((it.begin, it.end, list));
    let firsts = readers.iter_mut().enumerate();
    let firsts = firsts.filter_map(|(list, reader)| reader.go().then(|| key(&reader.transfer, list)));
    let mut next: BinaryHeap<_> = firsts.collect();
    while let Some(mut first) = next.peek_mut() {
        let Reverse((.., list)) = *first;
        let reader = &mut readers[list];
        each(list, &reader.transfer);
        if reader.go() {
            *first = key(&reader.transfer, list);
        } else {
            PeekMut::pop(first);
        }
    }
}

/// The transfers of a list in the order of time: most are, as it is that of records.
fn in_order(list: &Transfers) -> Cow<'_, Transfers> {
    if list.are_in_order() { Cow::Borrowed(list) } else { Cow::Owned(list.in_order()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Kind;
    use crate::tests::{lists, transfer};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_come_in_the_order_of_time(all in prop::collection::vec((0..4_u32, 0..9_u64, 0..3_u64, 0..100_u64), 0..40)) {
            let one = |(rank, begin, long, at)| transfer(rank, Kind::Write, (begin, begin + long), &[(at, 1)]);
            let mut all: Vec<Transfer> = all.into_iter().map(one).collect();
            let lists = lists(&all);
            all.sort_by_key(|it| (it.begin, it.end, it.rank));
            let mut found = Vec::new();
            in_time(&lists, |list, it| {
                assert_eq!(lists[list].iter().next().map(|first| first.rank), Some(it.rank));
                found.push(it.clone());
            });
            prop_assert_eq!(found, all);
        }
    }
}
