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
    let gives = |at: usize| match class {
        CollectiveClass::OneToAll => root == Some(at),
        CollectiveClass::AllToOne => sends(at) && is_opposite(at),
        CollectiveClass::AllToAll => sends(at),
        CollectiveClass::Scan => false,
        _ => true,
    };
    let takes = |at: usize| match class {
        CollectiveClass::OneToAll => is_opposite(at),
        CollectiveClass::AllToOne => root == Some(at),
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
    // Who needs whom is not known where all need all.
    let is_soft = members.is_soft || class == CollectiveClass::AllToAll;
    let awaited = |at: usize| {
        let MemberRecord { end, .. } = (members.record)(at);
        let other = usize::from(!side(at));
        let until = if is_soft { end } else { Ticks::MAX };
        takes(at)
            .then(|| Awaited {
                last: requests[other].last_until(until, None),
                returned: returns[other].last_until(left(at), None),
            })
            .unwrap_or_default()
    };
    (0..members.count).map(awaited).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whom the members 0 and 1 of one group and 2 and 3 of the other wait for: begin, end, bytes sent.
    fn last(
        class: CollectiveClass,
        root: Option<usize>,
        rows: [(Ticks, Ticks, u64); 4],
    ) -> [Option<usize>; 4] {
        let record = |at: usize| {
            let (begin, end, sent) = rows[at];
            MemberRecord { begin, end, sent, received: 1 }
        };
        let members =
            Members { count: 4, record: &record, root, by_rank: &|| vec![0, 1, 2, 3], is_soft: false };
        let all = awaited_between(class, members, |at| at > 1, |_| None, |_| Ticks::MAX);
        [0, 1, 2, 3].map(|at| all[at].last)
    }

    #[test]
    fn members_wait_for_the_last_one_of_the_other_group() {
        let rows = [(1, 20, 8), (9, 20, 8), (5, 20, 8), (5, 20, 0)];
        assert_eq!(last(CollectiveClass::Barrier, None, rows), [Some(2), Some(2), Some(1), Some(1)]);
        assert_eq!(last(CollectiveClass::AllToAll, None, rows), [Some(2), Some(2), Some(1), Some(1)]);
        assert_eq!(last(CollectiveClass::OneToAll, Some(1), rows), [None, None, Some(1), Some(1)]);
        assert_eq!(last(CollectiveClass::AllToOne, Some(0), rows), [Some(2), None, None, None]);
    }

    #[test]
    fn member_that_began_after_the_end_is_awaited_in_barriers_only() {
        let rows = [(1, 4, 8), (9, 20, 8), (5, 20, 8), (3, 20, 8)];
        assert_eq!(last(CollectiveClass::AllToAll, None, rows)[0], Some(3));
        assert_eq!(last(CollectiveClass::Barrier, None, rows)[0], Some(2));
    }
}
