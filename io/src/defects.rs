//! What is the matter with operations, and bytes that need not have been read, by call path (io.md 5.2).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::access::Kind;
use crate::bytes::Reads;
use crate::operation::Caller;
use crate::outline::{Outline, Sizes};
use crate::transfer::Transfer;

/// What is the matter with an operation: the first of these that holds, so that none counts twice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Defect {
    /// It moves nothing.
    Empty,
    /// It is in a block of the file system with one of another rank at the same time, and one of both writes.
    Contended,
    /// It moves few bytes.
    Small,
    /// It begins before the end of the one before of the same rank and opening.
    OutOfOrder,
    /// It does not begin with a block.
    Unaligned,
}

impl Defect {
    /// All of them, in their order.
    pub const ALL: [Defect; 5] =
        [Defect::Empty, Defect::Contended, Defect::Small, Defect::OutOfOrder, Defect::Unaligned];
}

/// Where operations are asked for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct AtCall {
    /// The rank.
    pub rank: u32,
    /// Number of the thread in the rank.
    pub thread: u32,
    /// Number of the call path.
    pub call_path: u32,
}

/// Sums over the operations of a call path.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Sums {
    /// Calls that read, and calls that write, by [`Defect`].
    pub calls: [[u64; Defect::ALL.len()]; 2],
    /// Bytes read whose last writer in the run is the rank itself.
    pub own: u64,
    /// Other bytes that the rank had read of the same opening before.
    pub again: u64,
}

impl Defect {
    /// What is the matter with a transfer, if anything is.
    fn of(it: &Outline, sizes: Sizes) -> Option<Defect> {
        match it {
            _ if it.size == 0 => Some(Defect::Empty),
            _ if it.is_contended => Some(Defect::Contended),
            _ if it.size < sizes.small => Some(Defect::Small),
            _ if it.is_unordered => Some(Defect::OutOfOrder),
            _ if sizes.are_missed(it) => Some(Defect::Unaligned),
            _ => None,
        }
    }
}

/// Counts a transfer at its call, of which another one stands for the call if that has several.
pub(crate) fn count(it: &Outline, sizes: Sizes, sums: &mut BTreeMap<AtCall, Sums>) {
    if !it.caller.is_repeated
        && let Some(defect) = Defect::of(it, sizes)
    {
        let sums = sums.entry(AtCall::new(it.rank, it.caller)).or_default();
        sums.calls[usize::from(it.kind == Kind::Write)][defect as usize] += 1;
    }
}

/// Adds at the call of a transfer what it has read.
pub(crate) fn add_reads(it: &Transfer, reads: &Reads, sums: &mut BTreeMap<AtCall, Sums>) {
    if reads.own > 0 || reads.again > 0 {
        let sums = sums.entry(AtCall::new(it.rank, it.caller)).or_default();
        sums.own = sums.own.saturating_add(reads.own);
        sums.again = sums.again.saturating_add(reads.again);
    }
}

impl AtCall {
    fn new(rank: u32, caller: Caller) -> AtCall {
        AtCall { rank, thread: caller.thread, call_path: caller.call_path }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::look::look_at;
    use crate::tests::{lists, transfer};
    use crate::view::Pieces;

    const MIB: u64 = 1 << 20;
    const SIZES: Sizes = Sizes { block: 4096, small: MIB };

    /// A write of these bytes by rank 0.
    fn write(begin: u64, at: u64, length: u64) -> Transfer {
        transfer(0, Kind::Write, (begin, begin + 5), &[(at, length)])
    }

    /// What is the matter with writes and reads of all ranks.
    fn calls(transfers: &[Transfer]) -> [[u64; 5]; 2] {
        let mut sums = BTreeMap::new();
        look_at(&lists(transfers), (4096, SIZES), &mut sums, |_| {});
        let mut all = [[0; 5]; 2];
        for own in sums.values() {
            all.iter_mut().flatten().zip(own.calls.iter().flatten()).for_each(|(all, own)| *all += own);
        }
        all
    }

    fn writes(transfers: &[Transfer]) -> [u64; 5] {
        calls(transfers)[1]
    }

    #[test]
    fn small_is_less_than_a_mebibyte_and_blocks_begin_at_their_multiples() {
        assert_eq!(writes(&[write(0, 0, MIB)]), [0; 5]);
        assert_eq!(writes(&[write(0, 0, MIB - 1)]), [0, 0, 1, 0, 0]);
        assert_eq!(writes(&[write(0, 4096, MIB)]), [0; 5]);
        assert_eq!(writes(&[write(0, 4095, MIB)]), [0, 0, 0, 0, 1]);
        assert_eq!(writes(&[write(0, MIB, MIB), write(9, 0, MIB)]), [0, 0, 0, 1, 0]);
    }

    #[test]
    fn first_defect_that_holds_counts() {
        let other = |at, length| transfer(1, Kind::Write, (1, 2), &[(at, length)]);
        // Contended, small, unaligned; and so is the other one.
        assert_eq!(writes(&[write(0, 1, 10), other(20, 10)]), [0, 2, 0, 0, 0]);
        assert_eq!(writes(&[write(0, 1, 10), Transfer { size: 0, ..other(20, 0) }]), [1, 0, 1, 0, 0]);
        // Small and going back; large and going back between blocks.
        assert_eq!(writes(&[write(0, MIB, MIB), write(9, 5, 10), write(19, 9, MIB)]), [0, 0, 1, 1, 0]);
        let read = transfer(1, Kind::Read, (1, 2), &[(MIB, 10)]);
        assert_eq!(calls(&[write(0, MIB, MIB), read]), [[0, 1, 0, 0, 0], [0, 1, 0, 0, 0]]);
    }

    #[test]
    fn size_alone_decides_where_the_place_is_unknown() {
        let unknown = |size| Transfer { size, ..write(0, 0, 0) };
        let unknown = |size| Transfer { pieces: Pieces::new(), ..unknown(size) };
        assert_eq!(writes(&[unknown(0), unknown(10), unknown(MIB)]), [1, 0, 1, 0, 0]);
    }

    #[test]
    fn call_counts_once_and_sums_are_those_of_its_call_path() {
        let by = |caller, transfer| Transfer { caller, ..transfer };
        let caller = Caller { thread: 1, call_path: 7, is_repeated: false };
        let again = Caller { is_repeated: true, ..caller };
        let read = |begin| transfer(0, Kind::Read, (begin, begin + 1), &[(0, 12)]);
        let list = [by(caller, write(0, 0, 10)), by(again, write(0, 10, 10)), by(again, read(20)), read(30)];
        let mut sums = BTreeMap::new();
        let reads = look_at(&lists(&list), (4096, SIZES), &mut sums, |_| {}).reads.unwrap();
        assert_eq!((reads.bytes, reads.own), (24, 24));
        let at = |thread, call_path| AtCall { rank: 0, thread, call_path };
        let of = |calls, own| Sums { calls, own, again: 0 };
        let expected =
            [(at(0, 0), of([[0, 0, 1, 0, 0], [0; 5]], 12)), (at(1, 7), of([[0; 5], [0, 0, 1, 0, 0]], 12))];
        assert_eq!(sums, BTreeMap::from(expected));
    }
}
