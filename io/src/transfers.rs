//! The transfers of one rank on one file, some ten bytes each: there may be millions (io.md 4.10).

use integer_encoding::VarInt;
use serde::{Deserialize, Serialize};

use crate::access::Kind;
use crate::bytes::Transfer;
use crate::operation::Caller;
use crate::view::Pieces;

/// Transfers in the order in which they were added.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Transfers {
    rank: u32,
    /// Steps from each transfer to the next, one behind the other: bits, then numbers.
    steps: Vec<u8>,
    /// The last one, from which the next step goes on.
    last: Spot,
    /// Bytes moved.
    bytes: u64,
    /// How many are kept at most.
    most: u64,
    /// How many were added.
    count: u64,
}

/// Where a list has come to.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
struct Spot {
    opening: u64,
    begin: u64,
    /// Behind the last piece.
    place: u64,
    caller: Caller,
}

/// Bits of what begins a step.
const IS_READ: u8 = 1;
const HAS_CALLER: u8 = 2;
/// It is known where the transfer lies; with one piece alone the length of that is its size.
const HAS_PLACE: u8 = 4;
const HAS_PIECES: u8 = 8;

/// How far a number is from another one. Differences wrap around, so that they are small and nothing is lost.
fn step(from: u64, to: u64) -> i64 {
    to.wrapping_sub(from).cast_signed()
}

/// Writes a number in as few bytes as it needs.
fn put(bytes: &mut Vec<u8>, number: impl VarInt) {
    let mut encoded = [0; 10];
    let length = number.encode_var(&mut encoded);
    bytes.extend_from_slice(&encoded[..length]);
}

/// Reads a number.
fn take<T: VarInt>(bytes: &mut &[u8]) -> Option<T> {
    let (number, length) = T::decode_var(bytes)?;
    *bytes = &bytes[length..];
    Some(number)
}

impl Transfers {
    /// None yet of a rank; of more than `most` nothing is kept.
    pub fn new(rank: u32, most: u64) -> Transfers {
        Transfers { rank, most, ..Transfers::default() }
    }

    /// Adds one of this rank.
    pub fn push(&mut self, transfer: &Transfer) {
        self.count += 1;
        self.bytes = self.bytes.saturating_add(transfer.size);
        if self.count > self.most {
            self.steps = Vec::new();
            return;
        }
        let (steps, last) = (&mut self.steps, &mut self.last);
        let has_caller = transfer.caller != last.caller;
        let places = match transfer.pieces[..] {
            [] => 0,
            [(_, length)] if length == transfer.size => HAS_PLACE,
            _ => HAS_PIECES,
        };
        let is_read = transfer.kind == Kind::Read;
        steps.push(if is_read { IS_READ } else { 0 } | if has_caller { HAS_CALLER } else { 0 } | places);
        put(steps, step(last.opening, transfer.opening));
        put(steps, step(last.begin, transfer.begin));
        put(steps, transfer.end.wrapping_sub(transfer.begin));
        put(steps, transfer.size);
        if has_caller {
            let Caller { thread, call_path, is_repeated } = transfer.caller;
            [thread, call_path, is_repeated.into()].into_iter().for_each(|number| put(steps, number));
        }
        if places == HAS_PIECES {
            put(steps, transfer.pieces.len());
        }
        for &(at, length) in &transfer.pieces {
            put(steps, step(last.place, at));
            if places == HAS_PIECES {
                put(steps, length);
            }
            last.place = at.wrapping_add(length);
        }
        (last.opening, last.begin, last.caller) = (transfer.opening, transfer.begin, transfer.caller);
    }

    /// Whether none was added.
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// How many are kept.
    pub(crate) fn len(&self) -> usize {
        if self.are_too_many() { 0 } else { usize::try_from(self.count).unwrap_or(0) }
    }

    /// Bytes that all of them have moved.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether there were more than are kept: then there is none here.
    pub fn are_too_many(&self) -> bool {
        self.count > self.most
    }

    /// All of them, or none if there were too many.
    pub fn iter(&self) -> impl Iterator<Item = Transfer> {
        let (mut rest, mut at) = (&self.steps[..], Spot::default());
        std::iter::from_fn(move || at.go(self.rank, &mut rest))
    }
}

impl Spot {
    /// Takes the next step; `None` if there is none.
    fn go(&mut self, rank: u32, rest: &mut &[u8]) -> Option<Transfer> {
        let (&bits, behind) = rest.split_first()?;
        *rest = behind;
        self.opening = self.opening.wrapping_add_signed(take(rest)?);
        self.begin = self.begin.wrapping_add_signed(take(rest)?);
        let (duration, size): (u64, u64) = (take(rest)?, take(rest)?);
        if bits & HAS_CALLER != 0 {
            let (thread, call_path, repeated): (u32, u32, u32) = (take(rest)?, take(rest)?, take(rest)?);
            self.caller = Caller { thread, call_path, is_repeated: repeated != 0 };
        }
        let has_pieces = bits & HAS_PIECES != 0;
        let count = if has_pieces { take(rest)? } else { usize::from(bits & HAS_PLACE != 0) };
        let mut pieces = Pieces::new();
        for _ in 0..count {
            let at = self.place.wrapping_add_signed(take(rest)?);
            let length = if has_pieces { take(rest)? } else { size };
            self.place = at.wrapping_add(length);
            pieces.push((at, length));
        }
        Some(Transfer {
            rank,
            opening: self.opening,
            kind: if bits & IS_READ != 0 { Kind::Read } else { Kind::Write },
            begin: self.begin,
            end: self.begin.wrapping_add(duration),
            size,
            caller: self.caller,
            pieces,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::transfer;
    use proptest::prelude::*;
    use smallvec::smallvec;

    #[test]
    fn regular_transfers_take_few_bytes() {
        let mut list = Transfers::new(3, 1000);
        let one = |at: u64| Transfer {
            rank: 3,
            opening: 1,
            kind: Kind::Write,
            begin: 5_000_000_000 + 1000 * at,
            end: 5_000_000_000 + 1000 * at + 700,
            size: 4096,
            caller: Caller { thread: 2, call_path: 700, is_repeated: false },
            pieces: smallvec![(4096 * at, 4096)],
        };
        (0..1000).for_each(|at| list.push(&one(at)));
        assert!(list.iter().eq((0..1000).map(one)));
        assert!(list.steps.len() < 12 * 1000, "{} bytes", list.steps.len());
        assert_eq!((list.bytes(), list.are_too_many()), (4_096_000, false));
    }

    #[test]
    fn more_than_may_be_are_none_that_are_known() {
        let mut list = Transfers::new(0, 2);
        let one = Transfer { size: 5, ..transfer(0, Kind::Read, (0, 1), &[]) };
        (0..3).for_each(|_| list.push(&one));
        assert_eq!((list.bytes(), list.are_too_many(), list.iter().count()), (15, true, 0));
    }

    proptest! {
        #[test]
        fn any_transfers_come_back(all in prop::collection::vec((any::<bool>(), any::<[u64; 4]>(), any::<(u32, u32, bool)>(), prop::collection::vec(any::<(u64, u64)>(), 0..4)), 0..8)) {
            let all: Vec<Transfer> = all.into_iter().map(|(reads, [opening, begin, end, size], (thread, call_path, is_repeated), pieces)| {
                let kind = if reads { Kind::Read } else { Kind::Write };
                let caller = Caller { thread, call_path, is_repeated };
                Transfer { rank: 7, opening, kind, begin, end, size, caller, pieces: pieces.into() }
            }).collect();
            let mut list = Transfers::new(7, 8);
            all.iter().for_each(|it| list.push(it));
            let written = postcard::to_allocvec(&list).unwrap();
            let read: Transfers = postcard::from_bytes(&written).unwrap();
            prop_assert_eq!(read.iter().collect::<Vec<_>>(), all);
        }
    }
}
