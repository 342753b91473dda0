//! Operations among neighbours: a member needs those that it receives from (rest of MPI 5.2).

use std::cmp::Reverse;

use model::Ticks;

use super::{Awaited, Members};

/// Returns whom the member at `at` waits for among its `neighbors`, positions with their ranks: the last one that began before
/// its own end, and the last one that came back to MPI before it left its completing call; the lowest rank among equals. Itself
/// as neighbour has no effect.
pub fn awaited_among(
    members: Members<'_>,
    at: usize,
    neighbors: &[(usize, usize)],
    returned: impl Fn(usize) -> Option<Ticks>,
    left: Ticks,
) -> Awaited {
    let own = (members.record)(at);
    if own.received == 0 {
        return Awaited::default();
    }
    let others =
        || neighbors.iter().filter(|&&(neighbor, _)| neighbor != at && members.has_awaited(at, neighbor));
    let last_of = |time: &dyn Fn(usize) -> Option<Ticks>, until: Ticks| {
        let timed = others().filter_map(|&(neighbor, rank)| Some((time(neighbor)?, Reverse(rank), neighbor)));
        timed.filter(|&(time, ..)| time <= until).max().map(|(.., neighbor)| neighbor)
    };
    Awaited {
        last: last_of(&|neighbor| Some((members.record)(neighbor).begin), own.end),
        returned: last_of(&returned, left),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::MemberRecord;

    #[test]
    fn last_neighbour_that_began_before_the_end_is_awaited_and_never_oneself() {
        let begins = [2, 9, 9, 30];
        let record = |at: usize| MemberRecord { begin: begins[at], end: 20, sent: 8, received: 8 };
        let members =
            Members { count: 4, record: &record, root: None, by_rank: &|| vec![0, 1, 2, 3], is_soft: true };
        let awaited = |neighbors: &[(usize, usize)]| {
            let of = awaited_among(members, 0, neighbors, |at| Some(begins[at] + 3), 20);
            (of.last, of.returned)
        };
        assert_eq!(awaited(&[(0, 0), (1, 1), (2, 2), (3, 3)]), (Some(1), Some(1)));
        assert_eq!(awaited(&[(0, 0)]), (None, None));
        assert_eq!(awaited(&[(3, 3)]), (None, None));
    }
}
