//! The transfers of all ranks on a file in the order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use crate::transfer::Transfer;
use crate::transfers::Transfers;

/// All transfers of some lists, one of each rank, in the order in which they begin; of those that begin at one time the one that ends
/// first comes first, then that of the first list. They are decoded one by one: there may be millions.
pub(crate) fn in_time(lists: &[Transfers]) -> impl Iterator<Item = Transfer> {
    let mut sources: Vec<_> = lists.iter().map(source).collect();
    let mut heads: Vec<Option<Transfer>> = sources.iter_mut().map(Iterator::next).collect();
    let key = |head: &Transfer, list| Reverse((head.begin, head.end, list));
    let next = heads.iter().enumerate().filter_map(|(list, head)| Some(key(head.as_ref()?, list)));
    let mut next: BinaryHeap<_> = next.collect();
    std::iter::from_fn(move || {
        let mut first = next.peek_mut()?;
        let Reverse((.., list)) = *first;
        let after = sources[list].next();
        match &after {
            Some(after) => *first = key(after, list),
            None => _ = PeekMut::pop(first),
        }
        std::mem::replace(&mut heads[list], after)
    })
}

/// The transfers of a list in the order of time: most are, as it is that of records.
fn source(list: &Transfers) -> Box<dyn Iterator<Item = Transfer> + '_> {
    if list.are_in_order() {
        return Box::new(list.iter());
    }
    let mut all: Vec<Transfer> = list.iter().collect();
    all.sort_by_key(|it| (it.begin, it.end));
    Box::new(all.into_iter())
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
            prop_assert_eq!(in_time(&lists).collect::<Vec<_>>(), all);
        }
    }
}
