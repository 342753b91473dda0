//! The transfers of one rank on one file, some ten bytes each: there may be millions (io.md 4.10).

use integer_encoding::VarInt;
use serde::{Deserialize, Serialize};

use crate::access::Kind;
use crate::numbers::hull;
use crate::operation::{Caller, Operation};
use crate::transfer::Transfer;
use crate::view::Pieces;

/// Transfers in the order in which they were added.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Transfers {
    rank: u32,
    /// Steps from each transfer to the next, one behind the other: bits, then numbers.
    steps: Vec<u8>,
    /// The last one, from which the next step goes on.
    last: Spot,
    /// How many are kept at most.
    most: u64,
    /// How many were added.
    count: u64,
    overview: Overview,
}

/// What is known of all transfers of a list without a look at each.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
struct Overview {
    /// Bytes moved.
    bytes: u64,
    reads: bool,
    writes: bool,
    /// Whether any moves something, and nobody knows where.
    is_unplaced: bool,
    /// Whether any begins before the one before, or at one time with it and ends before it.
    is_unordered: bool,
    /// The first byte, and what is behind the last one, if any place is known.
    places: Option<(u64, u64)>,
}

/// Where a list has come to.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
struct Spot {
    opening: u64,
    begin: u64,
    end: u64,
    size: u64,
    /// Behind the last piece.
    place: u64,
    caller: Caller,
}

/// Bits of what begins a step.
const IS_READ: u8 = 1;
/// The opening or the caller is not that of the one before.
const HAS_CALLER: u8 = 2;
/// The size is not that of the one before.
const HAS_SIZE: u8 = 4;
/// It is known where the transfer lies; with one piece alone the length of that is its size.
const HAS_PLACE: u8 = 8;
const HAS_PIECES: u8 = 16;
/// Its pieces are equally long and equally far apart.
const IS_REGULAR: u8 = 32;

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

/// Length and distance of pieces that are equally long and equally far apart.
fn regular(pieces: &[(u64, u64)]) -> Option<(u64, u64)> {
    let [(at, length), (next, _), _, ..] = *pieces else { return None };
    let distance = next.wrapping_sub(at);
    let is_alike = |pair: &[(u64, u64)]| pair[1] == (pair[0].0.wrapping_add(distance), length);
    pieces.windows(2).all(is_alike).then_some((length, distance))
}

impl Transfers {
    /// None yet of a rank; of more than `most` nothing is kept.
    pub fn new(rank: u32, most: u64) -> Transfers {
        Transfers { rank, most, ..Transfers::default() }
    }

    /// Adds one of this rank, which has moved these pieces of the file; none if nobody knows where it lies.
    pub fn push(&mut self, operation: &Operation, pieces: &[(u64, u64)]) {
        let Operation { opening, begin, end, size, caller, access, .. } = *operation;
        let (steps, last, overview) = (&mut self.steps, &mut self.last, &mut self.overview);
        let is_read = access.kind == Kind::Read;
        overview.bytes = overview.bytes.saturating_add(size);
        overview.reads |= is_read;
        overview.writes |= !is_read;
        overview.is_unplaced |= size > 0 && pieces.is_empty();
        overview.is_unordered |= self.count > 0 && (begin, end) < (last.begin, last.end);
        for &(at, length) in pieces {
            let own = (at, at.saturating_add(length));
            overview.places = Some(overview.places.map_or(own, |all| hull(all, own)));
        }
        self.count += 1;
        if self.count > self.most {
            self.steps = Vec::new();
            return;
        }
        let has_caller = (opening, caller) != (last.opening, last.caller);
        let has_size = size != last.size;
        let equal = regular(pieces);
        let places = match *pieces {
            [] => 0,
            [(_, length)] if length == size => HAS_PLACE,
            _ if equal.is_some() => HAS_PIECES | IS_REGULAR,
            _ => HAS_PIECES,
        };
        let bit = |is: bool, bit: u8| if is { bit } else { 0 };
        steps.push(bit(is_read, IS_READ) | bit(has_caller, HAS_CALLER) | bit(has_size, HAS_SIZE) | places);
        put(steps, step(last.begin, begin));
        put(steps, end.wrapping_sub(begin));
        if has_size {
            put(steps, size);
        }
        if has_caller {
            put(steps, step(last.opening, opening));
            let Caller { thread, call_path, is_repeated } = caller;
            [thread, call_path, is_repeated.into()].into_iter().for_each(|number| put(steps, number));
        }
        if let Some(&(at, _)) = pieces.first() {
            put(steps, step(last.place, at));
        }
        if places & HAS_PIECES != 0 {
            put(steps, pieces.len());
        }
        if let Some((length, distance)) = equal {
            put(steps, length);
            put(steps, step(0, distance));
        } else if places & HAS_PIECES != 0 {
            let mut place = last.place;
            for (number, &(at, length)) in pieces.iter().enumerate() {
                if number > 0 {
                    put(steps, step(place, at));
                }
                put(steps, length);
                place = at.wrapping_add(length);
            }
        }
        let place = pieces.last().map_or(last.place, |&(at, length)| at.wrapping_add(length));
        *last = Spot { opening, begin, end, size, place, caller };
    }

    /// Whether none was added.
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Bytes that all of them have moved.
    pub fn bytes(&self) -> u64 {
        self.overview.bytes
    }

    /// Whether there were more than are kept: then there is none here.
    pub fn are_too_many(&self) -> bool {
        self.count > self.most
    }

    /// Whether any reads.
    pub(crate) fn has_reads(&self) -> bool {
        self.overview.reads
    }

    /// Whether any writes.
    pub(crate) fn has_writes(&self) -> bool {
        self.overview.writes
    }

    /// Whether any moves something, and nobody knows where.
    pub(crate) fn is_unplaced(&self) -> bool {
        self.overview.is_unplaced
    }

    /// The first byte that any has moved, and what is behind the last one, if the place of any is known.
    pub(crate) fn places(&self) -> Option<(u64, u64)> {
        self.overview.places
    }

    /// All of them, or none if there were too many.
    pub fn iter(&self) -> impl Iterator<Item = Transfer> {
        let (mut rest, mut at) = (&self.steps[..], Spot::default());
        std::iter::from_fn(move || at.go(self.rank, &mut rest))
    }

    /// Whether each begins no earlier than the one before, and, if both begin at one time, ends no earlier.
    pub(crate) fn are_in_order(&self) -> bool {
        !self.overview.is_unordered
    }
}

impl Spot {
    /// Takes the next step; `None` if there is none.
    fn go(&mut self, rank: u32, rest: &mut &[u8]) -> Option<Transfer> {
        let (&bits, behind) = rest.split_first()?;
        *rest = behind;
        let has = |bit: u8| bits & bit != 0;
        self.begin = self.begin.wrapping_add_signed(take(rest)?);
        self.end = self.begin.wrapping_add(take(rest)?);
        if has(HAS_SIZE) {
            self.size = take(rest)?;
        }
        if has(HAS_CALLER) {
            self.opening = self.opening.wrapping_add_signed(take(rest)?);
            let (thread, call_path, repeated): (u32, u32, u32) = (take(rest)?, take(rest)?, take(rest)?);
            self.caller = Caller { thread, call_path, is_repeated: repeated != 0 };
        }
        Some(Transfer {
            rank,
            opening: self.opening,
            kind: if has(IS_READ) { Kind::Read } else { Kind::Write },
            begin: self.begin,
            end: self.end,
            size: self.size,
            caller: self.caller,
            pieces: self.pieces(bits, rest)?,
        })
    }

    /// The pieces of a step with these bits.
    fn pieces(&mut self, bits: u8, rest: &mut &[u8]) -> Option<Pieces> {
        let mut pieces = Pieces::new();
        if bits & (HAS_PLACE | HAS_PIECES) == 0 {
            return Some(pieces);
        }
        let mut at = self.place.wrapping_add_signed(take(rest)?);
        let count = if bits & HAS_PIECES == 0 { 1 } else { take(rest)? };
        pieces.reserve_exact(count);
        let mut piece = |at: u64, length: u64| {
            pieces.push((at, length));
            self.place = at.wrapping_add(length);
        };
        if bits & HAS_PIECES == 0 {
            piece(at, self.size);
        } else if bits & IS_REGULAR != 0 {
            let (length, distance): (u64, i64) = (take(rest)?, take(rest)?);
            for _ in 0..count {
                piece(at, length);
                at = at.wrapping_add_signed(distance);
            }
        } else {
            for number in 0..count {
                let length = take(rest)?;
                piece(at, length);
                if number + 1 < count {
                    at = at.wrapping_add(length).wrapping_add_signed(take(rest)?);
                }
            }
        }
        Some(pieces)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{operation, transfer};
    use proptest::prelude::*;

    fn add(list: &mut Transfers, one: &Transfer) {
        list.push(&operation(one), &one.pieces);
    }

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
            pieces: (0..16).map(|piece| (65_536 * at + 1024 * piece, 256)).collect(),
        };
        (0..1000).for_each(|at| add(&mut list, &one(at)));
        assert!(list.iter().eq((0..1000).map(one)));
        assert!(list.steps.len() < 14 * 1000, "{} bytes", list.steps.len());
        assert_eq!((list.bytes(), list.are_too_many(), list.are_in_order()), (4_096_000, false, true));
        assert_eq!((list.has_reads(), list.has_writes(), list.is_unplaced()), (false, true, false));
        assert_eq!(list.places(), Some((0, 65_536 * 999 + 15 * 1024 + 256)));
    }

    #[test]
    fn more_than_may_be_are_none_that_are_known() {
        let mut list = Transfers::new(0, 2);
        let one = Transfer { size: 5, ..transfer(0, Kind::Read, (0, 1), &[]) };
        (0..3).for_each(|_| add(&mut list, &one));
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
            all.iter().for_each(|it| add(&mut list, it));
            let written = postcard::to_allocvec(&list).unwrap();
            let read: Transfers = postcard::from_bytes(&written).unwrap();
            prop_assert_eq!(read.iter().collect::<Vec<_>>(), all);
        }
    }
}
