//! Calls on files that move no bytes.

use super::families::OfFamily;
use super::{Flaw, Inefficiency, share_of};
use crate::numbers::to_f64;
use crate::thresholds::Thresholds;

/// Whether files of a family are flushed too often: a flush that no more writes of the same opening follow is as it should be.
pub(crate) fn syncs(name: &str, of: &OfFamily, run: u64, limits: &Thresholds) -> Option<Inefficiency> {
    let (flushed, writes) = (of.all(|it| it.early_flushes), of.all(|it| it.writes));
    let cost = share_of(of.most(|it| it.early_flush_time), run);
    let is_often = to_f64(flushed) > limits.sync_share * to_f64(writes);
    let is_told = cost > 0.0 && cost >= limits.cost && (cost >= limits.sync_time || is_often);
    is_told.then(|| Inefficiency::new(Flaw::Syncs, name, (flushed, writes), cost))
}

/// Whether files of a family are opened, closed and handled otherwise too often. Their calls are told with transfers as the whole.
pub(crate) fn handling_storm(
    name: &str,
    of: &OfFamily,
    run: u64,
    limits: &Thresholds,
) -> Option<Inefficiency> {
    let (handling, transfers) = (of.all(|it| it.handling), of.all(|it| it.transfers));
    let cost = share_of(of.most(|it| it.handling_time), run);
    let is_often = of.most(|it| it.handling) > limits.handling_calls || handling > transfers;
    let is_told = is_often && cost > 0.0 && cost >= limits.cost && cost >= limits.handling_time;
    let all = handling.saturating_add(transfers);
    is_told.then(|| Inefficiency::new(Flaw::HandlingStorm, name, (handling, all), cost))
}

/// Whether most openings of files of a family are for nothing.
pub(crate) fn unused(name: &str, of: &OfFamily, run: u64, limits: &Thresholds) -> Option<Inefficiency> {
    let (unused, opens) = (of.all(|it| it.unused), of.facts.opens);
    let cost = share_of(of.most(|it| it.unused_time), run);
    let is_told = unused > limits.unused_openings
        && to_f64(unused) > limits.unused_share * to_f64(opens)
        && cost >= limits.cost;
    is_told.then(|| Inefficiency::new(Flaw::Unused, name, (unused, opens), cost))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::Calls;
    use crate::tests::numbers;

    fn family(ranks: &[Calls]) -> OfFamily {
        OfFamily { ranks: (0..).zip(ranks.iter().copied()).collect(), ..OfFamily::default() }
    }

    #[test]
    fn handling_is_told_if_there_is_more_than_of_transfers_or_much_at_a_rank() {
        let calls = |handling, handling_time, transfers| Calls {
            handling,
            handling_time,
            transfers,
            ..Calls::default()
        };
        let told =
            |ranks: &[Calls], limits: &Thresholds| numbers(handling_storm("f", &family(ranks), 1000, limits));
        let defaults = Thresholds::default();
        assert_eq!(told(&[calls(3, 10, 2)], &defaults), Some((3, 5)));
        assert_eq!(told(&[calls(2, 10, 2)], &defaults), None);
        assert_eq!(told(&[calls(3, 9, 2)], &defaults), None, "less than 1 % of the run");
        assert_eq!(told(&[calls(3, 10, 2)], &Thresholds { handling_time: 0.02, ..defaults.clone() }), None);
        assert_eq!(told(&[calls(1001, 10, 3000), calls(0, 0, 1)], &defaults), Some((1001, 4002)));
        assert_eq!(told(&[calls(1000, 10, 3000), calls(1000, 5, 3000)], &defaults), None);
        assert_eq!(told(&[calls(1, 0, 0)], &Thresholds { cost: 0.0, handling_time: 0.0, ..defaults }), None);
    }

    #[test]
    fn openings_are_told_of_which_most_have_no_transfer() {
        let told = |unused_openings, opens, unused_time| {
            let calls = Calls { unused: unused_openings, unused_time, ..Calls::default() };
            let mut family = family(&[calls]);
            family.facts.opens = opens;
            numbers(unused("f", &family, 1000, &Thresholds::default()))
        };
        assert_eq!(told(101, 201, 10), Some((101, 201)));
        assert_eq!(told(101, 202, 10), None, "not more than half");
        assert_eq!(told(100, 101, 10), None, "not more than 100");
        assert_eq!(told(101, 201, 9), None, "less than 1 % of the run");
    }

    #[test]
    fn flushes_before_more_writes_are_told_by_their_time_or_if_most_writes_have_one_behind() {
        let calls = |early_flushes, early_flush_time| Calls {
            // There is one behind the last write, too, which takes long.
            flushed: early_flushes + 1,
            flush_time: early_flush_time + 500,
            early_flushes,
            early_flush_time,
            writes: 10,
            ..Calls::default()
        };
        let told = |early, time, limits: &Thresholds| {
            let family = family(&[calls(early, time), calls(0, 0)]);
            numbers(syncs("f", &family, 1000, limits))
        };
        let defaults = Thresholds::default();
        assert_eq!(told(1, 10, &defaults), Some((1, 20)));
        assert_eq!(told(10, 9, &defaults), None);
        let seldom = Thresholds { sync_time: 0.5, ..defaults };
        assert_eq!(told(10, 10, &seldom), None);
        assert_eq!(told(11, 10, &seldom), Some((11, 20)));
        assert_eq!(told(11, 9, &seldom), None);
        assert_eq!(told(0, 0, &Thresholds { cost: 0.0, sync_time: 0.0, ..seldom }), None);
    }
}
