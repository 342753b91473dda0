//! Operations that go back in a file (io.md 5.2).

use crate::bytes::Transfer;

/// Whether each transfer of a file begins before the end of the one before it of the same rank and opening, in their order. Those that
/// move nothing, or of which the place is unknown, are as if they were not there.
pub(crate) fn out_of_order(transfers: &[Transfer]) -> Vec<bool> {
    let is_placed = |at: &usize| transfers[*at].size > 0 && !transfers[*at].pieces.is_empty();
    let mut order: Vec<usize> = (0..transfers.len()).filter(is_placed).collect();
    order.sort_by_key(|&at| {
        let Transfer { rank, opening, begin, end, .. } = transfers[at];
        (rank, opening, begin, end)
    });
    let mut found = vec![false; transfers.len()];
    for pair in order.windows(2) {
        let [before, own] = [&transfers[pair[0]], &transfers[pair[1]]];
        let is_same = (before.rank, before.opening) == (own.rank, own.opening);
        found[pair[1]] = is_same && own.first() < before.behind();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Kind;
    use crate::tests::transfer;

    #[test]
    fn going_back_is_of_a_rank_and_an_opening() {
        let write = |rank, begin, at| transfer(rank, Kind::Write, (begin, begin + 1), &[(at, 10)]);
        let again = |begin, at| Transfer { opening: 2, ..write(0, begin, at) };
        // In the order of time: 0 to 10, 10 to 20, 19 to 29; another rank; and another opening.
        let list =
            [write(0, 2, 19), write(0, 0, 0), write(0, 1, 10), write(1, 3, 0), again(4, 0), again(5, 100)];
        assert_eq!(out_of_order(&list), [true, false, false, false, false, false]);
    }

    #[test]
    fn what_moves_nothing_or_is_unknown_is_left_out() {
        let read = |begin, pieces: &[(u64, u64)]| transfer(0, Kind::Read, (begin, begin + 1), pieces);
        let unknown = Transfer { size: 9, ..read(1, &[]) };
        assert_eq!(
            out_of_order(&[read(0, &[(50, 10)]), unknown, read(2, &[]), read(3, &[(40, 5)])]),
            [false, false, false, true]
        );
    }
}
