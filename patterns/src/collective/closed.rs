//! Operations that need not synchronise, in which members spend time with their own data: who has left before the last one came
//! has not waited, all others have waited for it (rest of MPI 2.1).

use super::{Members, Synchronisation, Synchronisations};

/// Members synchronise only where somebody waits.
pub(super) fn synchronise(members: Members<'_>) -> Option<Synchronisations> {
    let last_begin = members.last_begin(|_| true)?;
    let first_end = members.first_end(|record| record.end >= last_begin)?;
    let is_in = |at: usize| (members.record)(at).end >= last_begin;
    let waits = |at: usize| is_in(at) && (members.record)(at).begin < last_begin;
    (0..members.count).any(waits).then(|| members.with(Synchronisation { last_begin, first_end }, is_in))
}

#[cfg(test)]
mod tests {
    use crate::collective::tests::synchronised;
    use crate::matched::CollectiveClass::FileTransfer;

    #[test]
    fn who_left_before_the_last_came_has_not_waited() {
        let records = [(0, 5, 0, 0), (1, 12, 0, 0), (7, 10, 0, 0)];
        assert_eq!(synchronised(FileTransfer, None, &records), [None, Some((7, 10)), Some((7, 10))]);
        assert_eq!(synchronised(FileTransfer, None, &[(0, 5, 0, 0), (6, 9, 0, 0)]), [None; 2]);
    }
}
