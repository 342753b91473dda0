//! What is inefficient in the requests that the MPI library makes within operations (io.md 5.3).

use super::{Flaw, Inefficiency, share_of};
use crate::beneath::Bottom;
use crate::numbers::{sum, to_f64};
use crate::thresholds::Thresholds;

/// What is inefficient on a file of this name, in the order of [`Flaw`]; `nodes` are those of the run, `run` is its length in ticks.
pub(crate) fn of_bottoms(
    name: &str,
    bottoms: &[Bottom],
    (nodes, run): (u64, u64),
    limits: &Thresholds,
) -> Vec<Inefficiency> {
    let found = |flaw, concerned: u64, of: u64, ticks: u64| {
        Inefficiency::new(flaw, name, (concerned, of), share_of(ticks, run))
    };
    let mut all = Vec::new();
    let small = sum(bottoms.iter().map(|it| it.requests.small));
    let requests = sum(bottoms.iter().map(|it| it.requests.count));
    if to_f64(small) > limits.small_share * to_f64(requests) && small > limits.small_requests {
        let ticks = sum(bottoms.iter().map(|it| it.small_time));
        all.push(found(Flaw::SmallRequests, small, requests, ticks));
    }
    for it in bottoms {
        let is_amplified = to_f64(it.requests.bytes) > limits.amplified * to_f64(it.asked);
        if it.asked > 0 && is_amplified {
            all.push(found(Flaw::Amplified, it.requests.bytes, it.asked, it.time));
        }
        if it.collective && is_unbuffered(it, limits) {
            all.push(found(Flaw::NotBuffered, it.reaching, it.np, it.time));
        }
        if it.collective && it.reaching < nodes && it.reaching < it.np {
            all.push(found(Flaw::FewAggregators, it.reaching, it.np, it.time));
        }
    }
    all.retain(|it| it.cost >= limits.cost);
    all
}

/// Whether each rank moves the pieces of its view itself, about one at a time, although it calls together with others.
fn is_unbuffered(it: &Bottom, limits: &Thresholds) -> bool {
    let Some(pieces) = it.pieces.filter(|pieces| *pieces > it.moving) else { return false };
    let mean = to_f64(it.requests.bytes) / to_f64(it.requests.count.max(1));
    let piece = to_f64(it.asked) / to_f64(pieces);
    it.np > 1 && it.reaching >= it.np && mean < limits.buffered_pieces * piece
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Kind;
    use crate::beneath::Requests;

    /// Four ranks write 8 MB together in 800 pieces, which take a hundredth of a run of 10,000 ticks.
    fn bottom(reaching: u64, count: u64, bytes: u64) -> Bottom {
        Bottom {
            kind: Kind::Write,
            collective: true,
            np: 4,
            reaching,
            asked: 8_000_000,
            moving: 4,
            pieces: Some(800),
            requests: Requests { count, bytes, small: 0, small_time: 0 },
            time: 100,
            small_time: 0,
        }
    }

    fn flaws(bottom: Bottom, nodes: u64) -> Vec<(Flaw, u64, u64)> {
        let found = of_bottoms("f", &[bottom], (nodes, 10_000), &Thresholds::default());
        found.into_iter().map(|it| (it.flaw, it.concerned, it.of)).collect()
    }

    #[test]
    fn collected_data_are_nothing_to_tell() {
        assert_eq!(flaws(bottom(1, 4, 8_000_000), 1), []);
        assert_eq!(flaws(bottom(2, 4, 8_000_000), 2), []);
    }

    #[test]
    fn fewer_ranks_than_nodes_that_reach_a_file_are_told() {
        assert_eq!(flaws(bottom(1, 4, 8_000_000), 2), [(Flaw::FewAggregators, 1, 4)]);
        // As many as call are all that there can be.
        assert_eq!(flaws(bottom(4, 4, 8_000_000), 8), []);
    }

    #[test]
    fn pieces_that_ranks_move_themselves_are_told() {
        assert_eq!(flaws(bottom(4, 800, 8_000_000), 1), [(Flaw::NotBuffered, 4, 4)]);
        assert_eq!(flaws(bottom(4, 400, 8_000_000), 1), []);
        assert_eq!(flaws(bottom(3, 800, 8_000_000), 1), []);
        assert_eq!(flaws(Bottom { pieces: None, ..bottom(4, 800, 8_000_000) }, 1), []);
        assert_eq!(flaws(Bottom { pieces: Some(4), ..bottom(4, 4, 8_000_000) }, 1), []);
        assert_eq!(flaws(Bottom { collective: false, ..bottom(4, 800, 8_000_000) }, 1), []);
    }

    #[test]
    fn more_bytes_than_asked_for_are_told_from_half_as_many_more_on() {
        assert_eq!(flaws(bottom(1, 4, 12_000_001), 1), [(Flaw::Amplified, 12_000_001, 8_000_000)]);
        assert_eq!(flaws(bottom(1, 4, 12_000_000), 1), []);
        assert_eq!(flaws(Bottom { time: 99, ..bottom(1, 4, 12_000_001) }, 1), []);
        assert_eq!(flaws(Bottom { asked: 0, ..bottom(1, 4, 12_000_001) }, 1), []);
    }

    #[test]
    fn small_requests_are_told_by_their_own_time() {
        let small = |small, small_time| {
            let requests = Requests { count: 2000, bytes: 8_000_000, small, small_time: 400 };
            flaws(Bottom { requests, small_time, ..bottom(1, 0, 0) }, 1)
        };
        assert_eq!(small(1001, 100), [(Flaw::SmallRequests, 1001, 2000)]);
        assert_eq!(small(1000, 100), []);
        assert_eq!(small(1001, 99), []);
    }
}
