//! 1-to-N operations: receivers that started before the root wait for it (specification 6.3).

use super::{MemberRecord, Members, Synchronisation, Synchronisations};

/// The root synchronises if any receiver waits.
pub(super) fn synchronise(members: Members<'_>) -> Option<Synchronisations> {
    let at = members.root?;
    let root = Some((members.record)(at)).filter(|root| root.sent > 0)?;
    let waits = |record: MemberRecord| record.received > 0 && record.begin < root.begin;
    let first_end = members.first_end(waits)?;
    let synchronisation = Synchronisation { last_begin: root.begin, first_end };
    Some(members.with(synchronisation, |position| position == at || waits((members.record)(position))))
}

#[cfg(test)]
mod tests {
    use crate::collective::tests::synchronised;
    use crate::matched::CollectiveClass::OneToAll;

    #[test]
    fn early_receivers_wait_for_the_root_and_late_ones_do_not() {
        let records = [(5, 9, 8, 0), (1, 7, 0, 8), (6, 8, 0, 8)];
        assert_eq!(synchronised(OneToAll, Some(0), &records), [Some((5, 7)), Some((5, 7)), None]);
    }

    #[test]
    fn nobody_waits_for_a_root_that_gives_nothing_or_is_not_known() {
        assert_eq!(synchronised(OneToAll, Some(0), &[(5, 9, 0, 0), (1, 7, 0, 8)]), [None; 2]);
        assert_eq!(synchronised(OneToAll, None, &[(5, 9, 8, 0), (1, 7, 0, 8)]), [None; 2]);
    }
}
