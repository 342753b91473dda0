//! Prefix reductions: a member waits for the last begin among lower ranks that send (specification 6.6).

use model::Ticks;

use super::{Members, Synchronisation, Synchronisations};

pub(super) fn synchronise(members: Members<'_>) -> Synchronisations {
    let mut waits = vec![None; members.count];
    let mut last_begin = Ticks::MIN;
    for at in (members.by_rank)() {
        let part = (members.part)(at);
        if part.sent > 0 {
            last_begin = last_begin.max(part.begin);
        }
        if (part.sent > 0 || part.received > 0) && part.begin < last_begin {
            waits[at] = Some(Synchronisation { last_begin, first_end: part.end });
        }
    }
    waits
}

#[cfg(test)]
mod tests {
    use crate::collective::tests::synchronised;
    use crate::matched::CollectiveClass::Scan;

    #[test]
    fn lower_ranks_that_send_are_waited_for() {
        let parts = [(5, 9, 8, 8), (1, 7, 8, 8), (9, 9, 0, 0), (2, 8, 0, 8)];
        assert_eq!(synchronised(Scan, None, &parts), [None, Some((5, 7)), None, Some((5, 8))]);
    }
}
