//! Barriers, `MPI_Init`, `MPI_Finalize`: all members wait for the last one (specification 6.1, 6.2).

use super::{Members, Synchronisation, Synchronisations};

pub(super) fn synchronise(members: Members<'_>) -> Option<Synchronisations> {
    let (last_begin, first_end) = (members.last_begin(|_| true)?, members.first_end(|_| true)?);
    Some(members.with(Synchronisation { last_begin, first_end }, |_| true))
}

#[cfg(test)]
mod tests {
    use crate::collective::tests::synchronised;
    use crate::matched::CollectiveClass;

    #[test]
    fn all_wait_for_the_last_begin_whatever_they_move() {
        let waits = synchronised(CollectiveClass::Barrier, None, &[(1, 9, 0, 0), (5, 8, 0, 0)]);
        assert_eq!(waits, [Some((5, 8)); 2]);
    }
}
