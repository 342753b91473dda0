//! Non-blocking operations: whom each member needs, which of these started last, and which came back to MPI last (rest of MPI
//! 2.2, 4.3).

use std::cmp::Reverse;
use std::collections::BTreeSet;

use model::Ticks;

use super::timed::Timed;
use super::{MemberRecord, Members};
use crate::matched::CollectiveClass;

/// Whom a member waits for, as positions of members.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Awaited {
    /// Of those that it needs, with itself, the last one to start the operation; `None` if it needs nobody.
    pub last: Option<usize>,
    /// Of those that it needs, without itself, the last one to come back to MPI before this one's completing call was left.
    pub returned: Option<usize>,
}

/// Returns whom each member waits for, by position. `begin` and `end` of a member's record are the times of its request and
/// its completion; `returned` says when its process came back to MPI after the request, `left` when it left the completing
/// call. Among equals the lowest rank counts.
pub fn awaited_by_each(
    class: CollectiveClass,
    members: Members<'_>,
    returned: impl Fn(usize) -> Option<Ticks>,
    left: impl Fn(usize) -> Ticks,
) -> Vec<Awaited> {
    let root = members.root;
    let root_gives = root.is_some_and(|root| (members.record)(root).sent > 0);
    let takes = |at: usize| {
        let MemberRecord { sent, received, .. } = (members.record)(at);
        match class {
            CollectiveClass::AllToAll => received > 0,
            CollectiveClass::OneToAll => received > 0 && root_gives,
            CollectiveClass::AllToOne => received > 0 && root == Some(at),
            CollectiveClass::Scan => sent > 0 || received > 0,
            _ => true,
        }
    };
    let gives = |at: usize| match class {
        CollectiveClass::AllToAll | CollectiveClass::AllToOne | CollectiveClass::Scan => {
            (members.record)(at).sent > 0
        }
        CollectiveClass::OneToAll => root == Some(at),
        _ => true,
    };
    let mut all = vec![Awaited::default(); members.count];
    let by_rank = (members.by_rank)();
    if class == CollectiveClass::Scan {
        let (mut requests, mut returns) = (BTreeSet::new(), BTreeSet::new());
        for (rank, &at) in by_rank.iter().enumerate() {
            if gives(at) {
                requests.insert(((members.record)(at).begin, Reverse(rank)));
            }
            if takes(at) {
                let of_rank = |&(_, Reverse(rank)): &(Ticks, Reverse<usize>)| by_rank[rank];
                let until = returns.range(..=(left(at), Reverse(0)));
                all[at] = Awaited { last: requests.last().map(of_rank), returned: until.max().map(of_rank) };
            }
            if let Some(time) = returned(at).filter(|_| gives(at)) {
                returns.insert((time, Reverse(rank)));
            }
        }
        return all;
    }
    let giving = || by_rank.iter().copied().filter(|&at| gives(at));
    let requests = Timed::new(giving().map(|at| ((members.record)(at).begin, at)));
    let returns = Timed::new(giving().filter_map(|at| Some((returned(at)?, at))));
    for at in (0..members.count).filter(|&at| takes(at)) {
        let until = if members.is_soft { (members.record)(at).end } else { Ticks::MAX };
        all[at] = Awaited {
            last: requests.last_until(until, |_| true),
            returned: returns.last_until(left(at), |other| other != at && members.has_awaited(at, other)),
        };
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Members by rank: request, return, end of the completing call, bytes sent and received. Operations complete when that
    /// call ends.
    type Row = (Ticks, Option<Ticks>, Ticks, u64, u64);

    fn awaited(class: CollectiveClass, root: Option<usize>, is_soft: bool, rows: &[Row]) -> Vec<(i64, i64)> {
        let record = |at: usize| {
            let (begin, _, end, sent, received) = rows[at];
            MemberRecord { begin, end, sent, received }
        };
        let by_rank: &dyn Fn() -> Vec<usize> = &|| (0..rows.len()).collect();
        let members = Members { count: rows.len(), record: &record, root, by_rank, is_soft };
        let all = awaited_by_each(class, members, |at| rows[at].1, |at| rows[at].2);
        let place = |at: Option<usize>| at.map_or(-1, |at| at as i64);
        all.iter().map(|one| (place(one.last), place(one.returned))).collect()
    }

    #[test]
    fn all_wait_for_the_last_request_and_the_last_return_of_another_one() {
        let rows = [(1, Some(20), 30, 0, 0), (9, Some(25), 30, 0, 0), (9, None, 22, 0, 0)];
        assert_eq!(awaited(CollectiveClass::Barrier, None, false, &rows), [(1, 1), (1, 0), (1, 0)]);
    }

    #[test]
    fn only_those_with_data_are_needed_and_only_receivers_need_them() {
        let rows = [(1, Some(2), 30, 8, 8), (9, Some(12), 30, 0, 8), (5, Some(7), 30, 8, 0)];
        assert_eq!(awaited(CollectiveClass::AllToAll, None, false, &rows), [(2, 2), (2, 2), (-1, -1)]);
        assert_eq!(awaited(CollectiveClass::OneToAll, Some(2), false, &rows), [(2, 2), (2, 2), (-1, -1)]);
        assert_eq!(awaited(CollectiveClass::OneToAll, Some(1), false, &rows), [(-1, -1); 3]);
        assert_eq!(awaited(CollectiveClass::AllToOne, Some(0), false, &rows), [(2, 2), (-1, -1), (-1, -1)]);
    }

    #[test]
    fn lower_ranks_are_needed_in_a_scan() {
        let rows = [(5, Some(9), 30, 8, 8), (1, Some(40), 30, 8, 8), (2, None, 8, 8, 8), (7, None, 90, 8, 8)];
        assert_eq!(awaited(CollectiveClass::Scan, None, false, &rows), [(0, -1), (0, 0), (0, -1), (3, 1)]);
    }

    #[test]
    fn members_that_started_after_a_completion_were_not_awaited_where_amounts_vary() {
        let rows = [(1, None, 6, 8, 8), (4, None, 30, 8, 8), (15, None, 30, 8, 8)];
        assert_eq!(awaited(CollectiveClass::AllToAll, None, true, &rows), [(1, -1), (2, -1), (2, -1)]);
        assert_eq!(awaited(CollectiveClass::AllToAll, None, false, &rows), [(2, -1); 3]);
    }

    #[test]
    fn members_that_started_after_a_completion_have_not_held_it_up() {
        let rows = [(1, None, 6, 8, 8), (4, Some(5), 30, 8, 8), (15, Some(16), 30, 8, 8)];
        assert_eq!(awaited(CollectiveClass::AllToAll, None, true, &rows), [(1, 1), (2, 2), (2, 1)]);
        // It completes at 6, by a call that goes on until 20.
        let record = |at: usize| {
            let (begin, _, end, sent, received) = rows[at];
            MemberRecord { begin, end, sent, received }
        };
        let members =
            Members { count: 3, record: &record, root: None, by_rank: &|| vec![0, 1, 2], is_soft: true };
        let of_all = awaited_by_each(CollectiveClass::AllToAll, members, |at| rows[at].1, |_| 20);
        assert_eq!(of_all[0].returned, Some(1));
    }
}
