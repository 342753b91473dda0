//! What is the matter with operations, and bytes that need not have been read, by call path (io.md 5.2).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::access::Kind;
use crate::bytes::{Reads, Transfer, reads};
use crate::contention::contended;
use crate::order::out_of_order;

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
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
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

/// What is the matter with each transfer of a file because of others.
#[derive(Clone, Debug)]
pub(crate) struct Marks {
    /// See [`Defect::Contended`].
    pub(crate) contended: Vec<bool>,
    /// See [`Defect::OutOfOrder`].
    pub(crate) unordered: Vec<bool>,
}

impl Marks {
    /// Of all transfers of a file, which is locked in blocks of so many bytes.
    pub(crate) fn new(transfers: &[Transfer], block: u64) -> Marks {
        Marks { contended: contended(transfers, block), unordered: out_of_order(transfers) }
    }
}

/// Adds up all transfers of a file, which should begin with a block of so many bytes; of fewer than `small` bytes they are small.
/// Returns what was read, if it is known where all of them lie.
pub(crate) fn add_up(
    transfers: &[Transfer],
    marks: &Marks,
    (block, small): (u64, u64),
    sums: &mut BTreeMap<AtCall, Sums>,
) -> Option<Reads> {
    let marks = marks.contended.iter().zip(&marks.unordered);
    for (it, (is_contended, is_unordered)) in
        transfers.iter().zip(marks).filter(|it| !it.0.caller.is_repeated)
    {
        let defect = match it {
            _ if it.size == 0 => Defect::Empty,
            _ if *is_contended => Defect::Contended,
            _ if it.size < small => Defect::Small,
            _ if *is_unordered => Defect::OutOfOrder,
            _ if it.first().is_some_and(|at| !at.is_multiple_of(block)) => Defect::Unaligned,
            _ => continue,
        };
        let calls = &mut sums.entry(at_call(it)).or_default().calls[usize::from(it.kind == Kind::Write)];
        calls[defect as usize] += 1;
    }
    reads(transfers, |it, reads| {
        if reads.own > 0 || reads.again > 0 {
            let sums = sums.entry(at_call(it)).or_default();
            sums.own = sums.own.saturating_add(reads.own);
            sums.again = sums.again.saturating_add(reads.again);
        }
    })
}

fn at_call(transfer: &Transfer) -> AtCall {
    AtCall { rank: transfer.rank, thread: transfer.caller.thread, call_path: transfer.caller.call_path }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::Caller;
    use crate::tests::transfer;
    use crate::view::Pieces;

    const MIB: u64 = 1 << 20;

    /// A write of these bytes by rank 0.
    fn write(begin: u64, at: u64, length: u64) -> Transfer {
        transfer(0, Kind::Write, (begin, begin + 5), &[(at, length)])
    }

    /// What is the matter with writes and reads of all ranks.
    fn calls(transfers: &[Transfer]) -> [[u64; 5]; 2] {
        let mut sums = BTreeMap::new();
        add_up(transfers, &Marks::new(transfers, 4096), (4096, MIB), &mut sums);
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
        let reads = add_up(&list, &Marks::new(&list, 4096), (4096, MIB), &mut sums).unwrap();
        assert_eq!((reads.bytes, reads.own), (24, 24));
        let at = |thread, call_path| AtCall { rank: 0, thread, call_path };
        let of = |calls, own| Sums { calls, own, again: 0 };
        let expected =
            [(at(0, 0), of([[0, 0, 1, 0, 0], [0; 5]], 12)), (at(1, 7), of([[0; 5], [0, 0, 1, 0, 0]], 12))];
        assert_eq!(sums, BTreeMap::from(expected));
    }
}
