//! Operations that go back in a file (io.md 5.2).

use crate::by_opening::ByOpening;

/// Where the last transfer of each rank and opening of a file has ended, of those that were shown in the order of time; by list.
#[derive(Clone, Debug)]
pub(crate) struct Order(Vec<ByOpening<Option<u64>>>);

impl Order {
    /// Nothing was shown yet of so many lists.
    pub(crate) fn new(lists: usize) -> Order {
        Order(vec![ByOpening::default(); lists])
    }

    /// Whether the next transfer, from its first byte to that behind the last one, begins before the end of the one before it of the same
    /// list and opening. Those that move nothing, or of which the place is unknown, have no bounds, and are as if they were not there.
    pub(crate) fn goes_back(&mut self, (list, opening): (usize, u64), bounds: Option<(u64, u64)>) -> bool {
        let Some((first, behind)) = bounds else { return false };
        let before = self.0[list].of(opening).replace(behind);
        before.is_some_and(|before| first < before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Kind;
    use crate::tests::transfer;
    use crate::transfer::Transfer;
    use proptest::prelude::*;

    fn back<const N: usize>(transfers: [Transfer; N]) -> [bool; N] {
        let mut order = Order::new(2);
        transfers
            .map(|it| order.goes_back((it.rank as usize, it.opening), it.bounds().filter(|_| it.size > 0)))
    }

    #[test]
    fn going_back_is_of_a_rank_and_an_opening() {
        let write = |rank, begin, at| transfer(rank, Kind::Write, (begin, begin + 1), &[(at, 10)]);
        let again = |begin, at| Transfer { opening: 2, ..write(0, begin, at) };
        // 0 to 10, 10 to 20, 19 to 29; another rank; and another opening.
        let list =
            [write(0, 0, 0), write(0, 1, 10), write(0, 2, 19), write(1, 3, 0), again(4, 0), again(5, 100)];
        assert_eq!(back(list), [false, false, true, false, false, false]);
    }

    #[test]
    fn what_moves_nothing_or_is_unknown_is_left_out() {
        let read = |begin, pieces: &[(u64, u64)]| transfer(0, Kind::Read, (begin, begin + 1), pieces);
        let unknown = Transfer { size: 9, ..read(1, &[]) };
        assert_eq!(
            back([read(0, &[(50, 10)]), unknown, read(2, &[]), read(3, &[(40, 5)])]),
            [false, false, false, true]
        );
    }

    proptest! {
        #[test]
        fn openings_may_take_turns(all in prop::collection::vec((0..2_usize, 0..3_u64, 0..9_u64), 0..40)) {
            let (mut order, mut behind) = (Order::new(2), std::collections::HashMap::new());
            for (list, opening, first) in all {
                let before = behind.insert((list, opening), first + 2);
                let goes_back = before.is_some_and(|before| first < before);
                prop_assert_eq!(order.goes_back((list, opening), Some((first, first + 2))), goes_back);
            }
        }
    }
}
