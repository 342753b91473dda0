//! Waiting for the last rank that comes to collective I/O (io.md 5.1).

use std::cmp::Reverse;

use super::families::OfFamily;
use super::{Flaw, Inefficiency, share_of};
use crate::thresholds::Thresholds;

/// Whether ranks wait for the last one in collective transfers of a family of files, of a run of so many ranks. Told is the rank for
/// which others wait longest, and how often it is the last one.
pub(crate) fn late(
    name: &str,
    of: &OfFamily,
    (run, ranks): (u64, u64),
    limits: &Thresholds,
) -> Option<Inefficiency> {
    let waits = &of.waits;
    let (rank, (times, _)) =
        waits.last.iter().max_by_key(|(rank, (_, waited))| (*waited, Reverse(**rank)))?;
    let cost = share_of(waits.all(), run.saturating_mul(ranks));
    let is_told = cost > 0.0 && cost >= limits.cost && cost >= limits.late_waiting;
    let found = || Inefficiency::new(Flaw::Late, name, (*times, waits.operations), cost);
    is_told.then(|| Inefficiency { rank: Some(*rank), ..found() })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::together::Waits;

    #[test]
    fn rank_for_which_others_wait_longest_is_told_with_how_often_it_is_the_last() {
        let waits = Waits {
            operations: 10,
            waiting: BTreeMap::from([(0, 30), (3, 10)]),
            last: BTreeMap::from([(1, (3, 20)), (2, (6, 20)), (0, (1, 0))]),
        };
        let family = OfFamily { waits, ..OfFamily::default() };
        let told = |run, limits: &Thresholds| {
            let found = late("f", &family, (run, 4), limits)?;
            Some((found.rank?, found.concerned, found.of))
        };
        let defaults = Thresholds::default();
        assert_eq!(told(1000, &defaults), Some((1, 3, 10)));
        assert_eq!(told(1001, &defaults), None, "less than 1 % of the time of all");
        assert_eq!(told(1000, &Thresholds { late_waiting: 0.011, ..defaults }), None);
        assert_eq!(
            late("f", &OfFamily::default(), (0, 4), &Thresholds { cost: 0.0, ..Thresholds::default() }),
            None
        );
    }
}
