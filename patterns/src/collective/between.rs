//! Operations on inter-communicators: members need members of the other group (rest of MPI 2.2, 7.2).

use model::Ticks;

use super::timed::Timed;
use super::{Awaited, MemberRecord, Members};
use crate::matched::CollectiveClass;

/// Returns whom each member waits for, by position. `side` tells the group of a member, `members.root` is the one root of the
/// operation; `returned` and `left` are as in [`awaited_by_each`](super::awaited_by_each).
pub fn awaited_between(
    class: CollectiveClass,
    members: Members<'_>,
    side: impl Fn(usize) -> bool,
    returned: impl Fn(usize) -> Option<Ticks>,
    left: impl Fn(usize) -> Ticks,
) -> Vec<Awaited> {
    let root = members.root;
    let is_opposite = |at: usize| root.is_some_and(|root| side(root) != side(at));
    let sends = |at: usize| (members.record)(at).sent > 0;
    let receives = |at: usize| (members.record)(at).received > 0;
    let gives = |at: usize| match class {
        CollectiveClass::OneToAll => root == Some(at) && sends(at),
        CollectiveClass::AllToOne => sends(at) && is_opposite(at),
        CollectiveClass::AllToAll => sends(at),
        CollectiveClass::Scan => false,
        _ => true,
    };
    let takes = |at: usize| match class {
        CollectiveClass::OneToAll => is_opposite(at) && receives(at),
        CollectiveClass::AllToOne => root == Some(at) && receives(at),
        CollectiveClass::AllToAll => receives(at),
        _ => true,
    };
    let by_rank = (members.by_rank)();
    let of_side = |which: bool| -> Vec<usize> {
        by_rank.iter().copied().filter(|&at| side(at) == which && gives(at)).collect()
    };
    let givers = [false, true].map(of_side);
    let request = |&at: &usize| ((members.record)(at).begin, at);
    let requests = givers.each_ref().map(|of_side| Timed::new(of_side.iter().map(request)));
    let back = |&at: &usize| Some((returned(at)?, at));
    let returns = givers.each_ref().map(|of_side| Timed::new(of_side.iter().filter_map(back)));
    let awaited = |at: usize| {
        let MemberRecord { end, .. } = (members.record)(at);
        let other = usize::from(!side(at));
        let until = if members.is_soft { end } else { Ticks::MAX };
        if !takes(at) {
            return Awaited::default();
        }
        Awaited {
            last: requests[other].last_until(until, |_| true),
            returned: returns[other].last_until(left(at), |other| members.has_awaited(at, other)),
        }
    };
    (0..members.count).map(awaited).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whom the members 0 and 1 of one group and 2 and 3 of the other wait for: begin, end, bytes sent and received.
    fn last(
        class: CollectiveClass,
        root: Option<usize>,
        is_soft: bool,
        rows: [(Ticks, Ticks, u64, u64); 4],
    ) -> [Option<usize>; 4] {
        let record = |at: usize| {
            let (begin, end, sent, received) = rows[at];
            MemberRecord { begin, end, sent, received }
        };
        let members = Members { count: 4, record: &record, root, by_rank: &|| vec![0, 1, 2, 3], is_soft };
        let all = awaited_between(class, members, |at| at > 1, |_| None, |_| Ticks::MAX);
        [0, 1, 2, 3].map(|at| all[at].last)
    }

    #[test]
    fn members_wait_for_the_last_one_of_the_other_group() {
        let rows = [(1, 20, 8, 8), (9, 20, 8, 8), (5, 20, 8, 8), (5, 20, 0, 8)];
        assert_eq!(last(CollectiveClass::Barrier, None, false, rows), [Some(2), Some(2), Some(1), Some(1)]);
        assert_eq!(last(CollectiveClass::AllToAll, None, false, rows), [Some(2), Some(2), Some(1), Some(1)]);
        assert_eq!(last(CollectiveClass::OneToAll, Some(1), false, rows), [None, None, Some(1), Some(1)]);
        assert_eq!(last(CollectiveClass::AllToOne, Some(0), false, rows), [Some(2), None, None, None]);
    }

    #[test]
    fn members_that_receive_nothing_wait_in_barriers_only() {
        let rows = [(1, 20, 0, 0), (9, 20, 8, 8), (5, 20, 8, 0), (5, 20, 8, 8)];
        assert_eq!(last(CollectiveClass::Barrier, None, false, rows), [Some(2), Some(2), Some(1), Some(1)]);
        assert_eq!(last(CollectiveClass::AllToAll, None, false, rows), [None, Some(2), None, Some(1)]);
        assert_eq!(last(CollectiveClass::OneToAll, Some(1), false, rows), [None, None, None, Some(1)]);
        assert_eq!(last(CollectiveClass::OneToAll, Some(0), false, rows), [None; 4]);
        assert_eq!(last(CollectiveClass::AllToOne, Some(0), false, rows), [None; 4]);
    }

    #[test]
    fn member_that_began_after_the_end_is_not_awaited_where_amounts_vary() {
        let rows = [(1, 4, 8, 8), (9, 20, 8, 8), (5, 20, 8, 8), (3, 20, 8, 8)];
        assert_eq!(last(CollectiveClass::AllToAll, None, true, rows)[0], Some(3));
        assert_eq!(last(CollectiveClass::AllToAll, None, false, rows)[0], Some(2));
    }
}
