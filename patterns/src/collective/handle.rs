//! Creation and release of handles: each member waits for the last one that came before it left; others it has evidently not
//! awaited (rest of MPI 7.1).

use std::collections::BTreeSet;

use model::Ticks;

use super::{Members, Synchronisation, Synchronisations, soft};

/// Members synchronise only where somebody waits (rest of MPI 2.3).
pub(super) fn synchronise(members: Members<'_>) -> Option<Synchronisations> {
    let mut all = soft::synchronise(members, |_| true, |_, _| true);
    let begin = |at: usize| (members.record)(at).begin;
    let awaited: BTreeSet<Ticks> = (0..members.count)
        .filter_map(|at| all[at].map(|it| it.last_begin).filter(|&last_begin| begin(at) < last_begin))
        .collect();
    let is_awaited = |it: &Synchronisation| awaited.contains(&it.last_begin);
    all.iter_mut().for_each(|one| *one = one.filter(is_awaited));
    (!awaited.is_empty()).then_some(all)
}

#[cfg(test)]
mod tests {
    use crate::collective::tests::softly_synchronised;
    use crate::matched::CollectiveClass::Handle;

    #[test]
    fn members_wait_for_the_last_one_that_came_before_they_left_and_the_last_for_nobody() {
        let records = [(0, 3, 0, 0), (1, 9, 0, 0), (7, 12, 0, 0)];
        assert_eq!(softly_synchronised(Handle, &records), [Some((1, 3)), Some((7, 9)), Some((7, 9))]);
        assert_eq!(softly_synchronised(Handle, &[(0, 3, 0, 0), (4, 9, 0, 0)]), [None; 2]);
        assert_eq!(softly_synchronised(Handle, &[(4, 8, 0, 0), (4, 9, 0, 0)]), [None; 2]);
        let together = [(4, 8, 0, 0), (4, 9, 0, 0), (2, 7, 0, 0)];
        assert_eq!(softly_synchronised(Handle, &together), [Some((4, 7)); 3]);
    }
}
