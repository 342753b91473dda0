//! N-to-N operations: members that move data wait for the last of them (specification 6.5).

use super::{MemberRecord, Members, Synchronisation, Synchronisations, soft};

/// Whether a member moves data: others take no part (Q9).
fn moves(record: MemberRecord) -> bool {
    record.sent > 0 || record.received > 0
}

/// Start of the last member that moves data, and end of the first, if all of these are inside together.
pub(super) fn together(members: Members<'_>) -> Option<Synchronisation> {
    let (last_begin, first_end) = (members.last_begin(moves)?, members.first_end(moves)?);
    (first_end > last_begin).then_some(Synchronisation { last_begin, first_end })
}

/// If all overlap in time, all members that move data synchronise; otherwise receivers wait for the last
/// sender. In `Alltoallv` and `Alltoallw` that is the last that began before they ended: the trace does not say who
/// sends to whom, and a member may not have needed those that began later (rest of MPI 4.1).
pub(super) fn synchronise(members: Members<'_>) -> Option<Synchronisations> {
    if let Some(synchronisation) = together(members) {
        return Some(members.with(synchronisation, |at| moves((members.record)(at))));
    }
    if members.is_soft {
        let needs =
            |record: MemberRecord, last: MemberRecord| record.received > 0 && record.begin < last.begin;
        return Some(soft::synchronise(members, |record| record.sent > 0, needs));
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
    use crate::collective::tests::{softly_synchronised, synchronised};
    use crate::matched::CollectiveClass::AllToAll;

    #[test]
    fn receivers_of_variable_amounts_wait_for_the_last_sender_that_began_before_they_ended() {
        // Rank 0 has left when rank 2 begins, and needs rank 1 at most; rank 3 receives nothing.
        let records = [(0, 5, 8, 8), (4, 20, 8, 8), (15, 20, 8, 8), (1, 30, 8, 0)];
        let expected = [Some((4, 5)), Some((15, 20)), Some((15, 20)), None];
        assert_eq!(softly_synchronised(AllToAll, &records), expected);
        // Of those that begin at once the first rank is awaited, and waits for nobody.
        let records = [(0, 9, 0, 8), (4, 9, 8, 8), (4, 30, 8, 8), (12, 20, 0, 8)];
        assert_eq!(softly_synchronised(AllToAll, &records), [Some((4, 9)), Some((4, 9)), None, None]);
        // Rank 1 receives nothing, and so does not wait for rank 2; rank 0 has waited for it.
        let records = [(0, 5, 8, 8), (4, 20, 8, 0), (15, 20, 8, 8)];
        assert_eq!(softly_synchronised(AllToAll, &records), [Some((4, 5)), Some((4, 5)), Some((15, 20))]);
    }

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
