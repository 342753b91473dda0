//! N-to-1 operations: the root waits for the last member that sends (specification 6.4).

use super::{Members, Synchronisation, Synchronisations};

pub(super) fn synchronise(members: Members<'_>) -> Option<Synchronisations> {
    let record = members.record;
    let root = members.root.filter(|&root| record(root).received > 0)?;
    let last = members.last_sender().filter(|&last| record(root).begin < record(last).begin)?;
    let first_end = record(root).end.min(record(last).end);
    let synchronisation = Synchronisation { last_begin: record(last).begin, first_end };
    Some(members.with(synchronisation, |at| at == root || at == last))
}

#[cfg(test)]
mod tests {
    use crate::collective::tests::synchronised;
    use crate::matched::CollectiveClass::AllToOne;

    #[test]
    fn root_waits_for_the_last_sender_and_the_lowest_rank_of_equals_is_it() {
        let records = [(1, 20, 8, 8), (9, 15, 8, 0), (9, 12, 8, 0), (10, 11, 0, 0)];
        assert_eq!(synchronised(AllToOne, Some(0), &records), [Some((9, 15)), Some((9, 15)), None, None]);
    }

    #[test]
    fn late_root_waits_for_nobody() {
        assert_eq!(synchronised(AllToOne, Some(0), &[(10, 20, 8, 8), (9, 15, 8, 0)]), [None; 2]);
    }
}
