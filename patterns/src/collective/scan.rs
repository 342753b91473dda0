//! Prefix reductions: a member waits for the last start among lower ranks that send (specification 6.6).

use model::Ticks;

use super::{Members, Synchronisation, Synchronisations};

pub(super) fn synchronise(members: Members<'_>) -> Synchronisations {
    let mut waits = vec![None; members.count];
    let mut last_begin = Ticks::MIN;
    for at in (members.by_rank)() {
        let record = (members.record)(at);
        if record.sent > 0 {
            last_begin = last_begin.max(record.begin);
        }
        if (record.sent > 0 || record.received > 0) && record.begin < last_begin {
            waits[at] = Some(Synchronisation { last_begin, first_end: record.end });
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
        let records = [(5, 9, 8, 8), (1, 7, 8, 8), (9, 9, 0, 0), (2, 8, 0, 8)];
        assert_eq!(synchronised(Scan, None, &records), [None, Some((5, 7)), None, Some((5, 8))]);
    }
}
