//! N-to-N operations: members that move data wait for the last of them (specification 6.5).

use super::{MemberRecord, Members, Synchronisation, Synchronisations};

/// If all overlap in time, all members that move data synchronise; otherwise receivers wait for the last
/// sender.
pub(super) fn synchronise(members: Members<'_>) -> Option<Synchronisations> {
    let moves = |record: MemberRecord| record.sent > 0 || record.received > 0;
    let (last_begin, first_end) = (members.last_begin(moves)?, members.first_end(moves)?);
    if first_end > last_begin {
        return Some(
            members.with(Synchronisation { last_begin, first_end }, |at| moves((members.record)(at))),
        );
    }
    let last = members.last_sender()?;
    let last_begin = (members.record)(last).begin;
    let is_in = |at: usize| {
        let record = (members.record)(at);
        (record.received > 0 && record.begin < last_begin) || at == last
    };
    let first_end = (0..members.count).filter(|&at| is_in(at)).map(|at| (members.record)(at).end).min()?;
    Some(members.with(Synchronisation { last_begin, first_end }, is_in))
}

#[cfg(test)]
mod tests {
    use crate::collective::tests::synchronised;
    use crate::matched::CollectiveClass::AllToAll;

    #[test]
    fn all_that_move_data_wait_where_all_are_inside_together() {
        let records = [(1, 9, 8, 8), (5, 8, 8, 8), (7, 8, 0, 0)];
        assert_eq!(synchronised(AllToAll, None, &records), [Some((5, 8)), Some((5, 8)), None]);
    }

    #[test]
    fn receivers_wait_for_the_last_sender_where_some_have_left_before() {
        let records = [(1, 3, 8, 8), (2, 9, 8, 8), (5, 8, 8, 8), (6, 9, 0, 8)];
        assert_eq!(synchronised(AllToAll, None, &records), [Some((5, 3)), Some((5, 3)), Some((5, 3)), None]);
    }
}
