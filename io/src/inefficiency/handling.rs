//! Calls on files that move no bytes.

use super::families::OfFamily;
use super::{Flaw, Inefficiency, share_of};
use crate::numbers::to_f64;
use crate::thresholds::Thresholds;

/// Whether files of a family are flushed too often.
pub(crate) fn syncs(name: &str, of: &OfFamily, run: u64, limits: &Thresholds) -> Option<Inefficiency> {
    let (flushed, writes) = (of.all(|it| it.flushed), of.all(|it| it.writes));
    let cost = share_of(of.most(|it| it.flush_time), run);
    let is_often = to_f64(flushed) > limits.sync_share * to_f64(writes);
    let is_told = cost > 0.0 && cost >= limits.cost && (cost >= limits.sync_time || is_often);
    is_told.then(|| Inefficiency::new(Flaw::Syncs, name, (flushed, writes), cost))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::Calls;

    fn family(ranks: &[Calls]) -> OfFamily {
        OfFamily { ranks: (0..).zip(ranks.iter().copied()).collect(), ..OfFamily::default() }
    }

    /// What is concerned, and of how many.
    fn numbers(found: Option<Inefficiency>) -> Option<(u64, u64)> {
        found.map(|it| (it.concerned, it.of))
    }

    #[test]
    fn flushes_are_told_by_their_time_or_if_most_writes_have_one_behind() {
        let calls = |flushed, flush_time| Calls { flushed, flush_time, writes: 10, ..Calls::default() };
        let told = |flushed, time, limits: &Thresholds| {
            let family = family(&[calls(flushed, time), calls(0, 0)]);
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
