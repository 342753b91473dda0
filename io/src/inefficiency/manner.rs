//! Transfers in a manner that gains nothing: through small buffers, and non-blocking ones that nothing overlaps.

use super::families::OfFamily;
use super::{Flaw, Inefficiency, share_of};
use crate::access::Layer;
use crate::numbers::{sum, to_f64};
use crate::thresholds::Thresholds;

/// Whether much of a family of files goes through small buffers of streams of ISO C. Of streams, operations are what reaches the
/// system.
pub(crate) fn buffered(name: &str, of: &OfFamily, run: u64, limits: &Thresholds) -> Option<Inefficiency> {
    let accesses = || of.facts.accesses.iter();
    let streams = || accesses().filter(|it| it.access.layer == Layer::Isoc);
    let (bytes, all) = (sum(streams().map(|it| it.bytes)), sum(accesses().map(|it| it.bytes)));
    let operations = sum(streams().map(|it| it.operations));
    let cost = share_of(of.most(|it| it.stream_time), run);
    let is_told = to_f64(bytes) > limits.buffered_share * to_f64(all)
        && bytes < limits.small_bytes.saturating_mul(operations)
        && cost >= limits.cost;
    is_told.then(|| Inefficiency::new(Flaw::Buffered, name, (bytes, all), cost))
}

/// Whether nearly all time of non-blocking operations on a family of files lies within the calls that complete them.
pub(crate) fn nothing_overlaps(
    name: &str,
    of: &OfFamily,
    run: u64,
    limits: &Thresholds,
) -> Option<Inefficiency> {
    let (awaited, all) = (of.all(|it| it.awaited_time), of.all(|it| it.non_blocking_time));
    let cost = share_of(of.most(|it| it.completing_time), run);
    let is_told = to_f64(awaited) > limits.overlap_share * to_f64(all) && cost >= limits.cost;
    is_told.then(|| Inefficiency::new(Flaw::NothingOverlaps, name, (awaited, all), cost))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::access::{Access, Kind};
    use crate::calls::Calls;
    use crate::facts::{AccessTotals, FileFacts};
    use crate::tests::{access, numbers};

    fn family(calls: Calls, accesses: Vec<AccessTotals>) -> OfFamily {
        let facts = FileFacts { accesses, ..FileFacts::default() };
        OfFamily { ranks: BTreeMap::from([(0, calls)]), facts, ..OfFamily::default() }
    }

    #[test]
    fn streams_are_told_if_much_goes_through_them_in_small_pieces() {
        let totals = |layer, operations, bytes| {
            let access = Access { layer, ..access(Kind::Write) };
            AccessTotals { access, operations, bytes, sizes: Default::default() }
        };
        let told = |operations, stream_time, others| {
            let accesses = vec![totals(Layer::Isoc, operations, 4000), totals(Layer::Posix, 1, others)];
            let family = family(Calls { stream_time, ..Calls::default() }, accesses);
            let limits = Thresholds { small_bytes: 1000, ..Thresholds::default() };
            numbers(buffered("f", &family, 1000, &limits))
        };
        assert_eq!(told(5, 10, 35_999), Some((4000, 39_999)));
        assert_eq!(told(5, 10, 36_000), None, "not more than 10 %");
        assert_eq!(told(4, 10, 0), None, "not smaller than 1000 bytes");
        assert_eq!(told(5, 9, 0), None, "less than 1 % of the run");
    }

    #[test]
    fn non_blocking_operations_are_told_that_take_place_where_they_are_completed() {
        let told = |awaited_time, completing_time| {
            let calls = Calls { awaited_time, completing_time, non_blocking_time: 100, ..Calls::default() };
            numbers(nothing_overlaps("f", &family(calls, vec![]), 1000, &Thresholds::default()))
        };
        assert_eq!(told(91, 10), Some((91, 100)));
        assert_eq!(told(90, 10), None, "not more than 90 %");
        assert_eq!(told(91, 9), None, "less than 1 % of the run");
    }
}
