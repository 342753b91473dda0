//! The transfers of one rank on one file, few bytes each: there may be millions (io.md 4.10).
//!
//! Each is written as a step from the one before. What a loop repeats takes no room in a step: the place goes on by the same stride, and
//! only the time from begin to begin and the duration are written. Steps that are equal in these, too, are counted.

use integer_encoding::VarInt;
use serde::{Deserialize, Serialize};

use crate::access::Kind;
use crate::numbers::{count, hull};
use crate::operation::{Caller, Operation};
use crate::transfer::Transfer;
use crate::view::Pieces;

/// Transfers in the order in which they were added.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Transfers {
    rank: u32,
    /// Steps from each transfer to the next, one behind the other: what begins them, then numbers.
    steps: Vec<u8>,
    /// How many steps behind these are equal to the last one.
    repeats: u64,
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
    is_read: bool,
    is_buffered: bool,
    opening: u64,
    size: u64,
    caller: Caller,
    begin: u64,
    course: Course,
}

/// How a list goes on where a step is equal to the one before. Differences wrap around, so that nothing is lost.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
struct Course {
    /// From begin to begin.
    pause: u64,
    duration: u64,
    /// The first byte of the last transfer whose place is known.
    first: u64,
    /// From that of the one before to this one.
    stride: u64,
    row: Row,
}

/// Pieces of a transfer that are equally long and equally far apart, from its first byte on; none if there is no piece.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
struct Row {
    count: u64,
    /// How much longer each is than all that the transfer moves, if there is one alone; else how long.
    length: u64,
    distance: u64,
}

/// What begins a step: how many bytes its pause has, in three bits, and its duration, and these two.
const DURATION: u8 = 3;
/// More than the times is not as in the step before: what, is in the next byte.
const IS_OTHER: u8 = 1 << 6;
/// It is no step, but the number of steps that are equal to the one before.
const ARE_EQUAL: u8 = 1 << 7;

/// What is not as in the step before.
const KIND: u8 = 1;
/// The opening or the caller.
const CALLER: u8 = 2;
const SIZE: u8 = 4;
const STRIDE: u8 = 8;
const ROW: u8 = 16;
/// The pieces are in no row: they follow one by one.
const PIECES: u8 = 32;
/// See [`Transfer::is_buffered`].
const BUFFERED: u8 = 64;

/// Numbers of bytes by three bits.
const LENGTHS: [usize; 8] = [0, 1, 2, 3, 4, 5, 6, 8];

/// How far a number is from another one, so that what goes back is small, too.
fn step(from: u64, to: u64) -> i64 {
    to.wrapping_sub(from).cast_signed()
}

/// The number that is so far from 0.
fn stepped(step: i64) -> u64 {
    0_u64.wrapping_add_signed(step)
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

/// Which of [`LENGTHS`] a number needs. That its length is not in front of it saves most of the work of writing and reading it.
fn length_of(number: u64) -> u8 {
    let bits = u64::BITS - number.leading_zeros();
    [0, 1, 2, 3, 4, 5, 6, 7, 7][bits.div_ceil(8) as usize]
}

/// Reads a number of a length by three bits.
fn take_short(bytes: &mut &[u8], length: u8) -> Option<u64> {
    let length = LENGTHS[usize::from(length & 7)];
    let number = match bytes.first_chunk() {
        Some(chunk) if length < 8 => u64::from_le_bytes(*chunk) & ((1 << (8 * length)) - 1),
        _ => {
            let mut chunk = [0; 8];
            chunk[..length].copy_from_slice(bytes.get(..length)?);
            u64::from_le_bytes(chunk)
        }
    };
    *bytes = bytes.get(length..)?;
    Some(number)
}

impl Row {
    /// The row that pieces of a transfer of this size are; `None` if they are none.
    fn of(pieces: &[(u64, u64)], size: u64) -> Option<Row> {
        match *pieces {
            [] => Some(Row::default()),
            [(_, length)] => Some(Row { count: 1, length: length.wrapping_sub(size), distance: 0 }),
            [(at, length), (next, _), ..] => {
                let distance = next.wrapping_sub(at);
                let is_alike = |pair: &[(u64, u64)]| pair[1] == (pair[0].0.wrapping_add(distance), length);
                let is_row = pieces.windows(2).all(is_alike);
                is_row.then_some(Row { count: count(pieces.len()), length, distance })
            }
        }
    }

    /// Makes `pieces` those of a transfer of this size that begins with this byte.
    fn lay(&self, first: u64, size: u64, pieces: &mut Pieces) {
        let Row { count, length, distance } = *self;
        let length = if count == 1 { length.wrapping_add(size) } else { length };
        pieces.clear();
        pieces.extend((0..count).map(|number| (first.wrapping_add(number.wrapping_mul(distance)), length)));
    }
}

impl Transfers {
    /// None yet of a rank; of more than `most` nothing is kept.
    pub fn new(rank: u32, most: u64) -> Transfers {
        Transfers { rank, most, ..Transfers::default() }
    }

    /// Adds one of this rank, which has moved these pieces of the file; none if nobody knows where it lies. `is_buffered` says that a
    /// stream has counted it, so that it is unknown where the requests of the system began.
    pub fn push(&mut self, operation: &Operation, pieces: &[(u64, u64)], is_buffered: bool) {
        let Operation { opening, begin, end, size, caller, access, .. } = *operation;
        let is_read = access.kind == Kind::Read;
        let course = Course::default();
        self.add(Spot { is_read, is_buffered, opening, size, caller, begin, course }, end, pieces);
    }

    /// Adds one of which it is not known yet how it goes on from the one before.
    fn add(&mut self, next: Spot, end: u64, pieces: &[(u64, u64)]) {
        let Spot { is_read, is_buffered, opening, size, caller, begin, .. } = next;
        let (last, overview) = (self.last, &mut self.overview);
        overview.bytes = overview.bytes.saturating_add(size);
        overview.reads |= is_read;
        overview.writes |= !is_read;
        overview.is_unplaced |= size > 0 && pieces.is_empty();
        overview.is_unordered |=
            self.count > 0 && (begin, end) < (last.begin, last.begin.wrapping_add(last.course.duration));
        for &(at, length) in pieces {
            let own = (at, at.saturating_add(length));
            overview.places = Some(overview.places.map_or(own, |all| hull(all, own)));
        }
        self.count += 1;
        if self.count > self.most {
            (self.steps, self.repeats) = (Vec::new(), 0);
            return;
        }
        let row = Row::of(pieces, size);
        let Course { first, stride, .. } = last.course;
        let (first, stride) = pieces.first().map_or((first, stride), |(at, _)| (*at, at.wrapping_sub(first)));
        let (pause, duration) = (begin.wrapping_sub(last.begin), end.wrapping_sub(begin));
        let course = Course { pause, duration, first, stride, row: row.unwrap_or_default() };
        self.last = Spot { course, ..next };
        let bit = |is: bool, bit: u8| if is { bit } else { 0 };
        let other = bit(is_read != last.is_read, KIND)
            | bit((opening, caller) != (last.opening, last.caller), CALLER)
            | bit(size != last.size, SIZE)
            | bit(stride != last.course.stride, STRIDE)
            | bit(course.row != last.course.row, ROW)
            | bit(row.is_none(), PIECES)
            | bit(is_buffered != last.is_buffered, BUFFERED);
        if other == 0 && (pause, duration) == (last.course.pause, last.course.duration) {
            self.repeats += 1;
            return;
        }
        self.put_repeats();
        self.put_times(pause, duration, bit(other > 0, IS_OTHER));
        if other > 0 {
            self.put_other(other, &last, pieces);
        }
    }

    /// Writes how many steps are equal to the last one that is written.
    fn put_repeats(&mut self) {
        if self.repeats > 0 {
            self.steps.push(ARE_EQUAL);
            put(&mut self.steps, std::mem::take(&mut self.repeats));
        }
    }

    fn put_times(&mut self, pause: u64, duration: u64, bits: u8) {
        let (short, other) = (length_of(pause), length_of(duration));
        let (behind, end) = (1 + LENGTHS[usize::from(short)], LENGTHS[usize::from(other)]);
        let mut bytes = [0; 17];
        bytes[0] = short | (other << DURATION) | bits;
        bytes[1..9].copy_from_slice(&pause.to_le_bytes());
        bytes[behind..behind + 8].copy_from_slice(&duration.to_le_bytes());
        // That all of it is added is faster than as much as is needed.
        let length = self.steps.len() + behind + end;
        self.steps.extend_from_slice(&bytes);
        self.steps.truncate(length);
    }

    /// Writes what is not as in the last step.
    fn put_other(&mut self, other: u8, last: &Spot, pieces: &[(u64, u64)]) {
        let (steps, next) = (&mut self.steps, &self.last);
        let has = |bit: u8| other & bit != 0;
        steps.push(other);
        if has(CALLER) {
            put(steps, step(last.opening, next.opening));
            let Caller { thread, call_path, is_repeated } = next.caller;
            [thread, call_path, is_repeated.into()].into_iter().for_each(|number| put(steps, number));
        }
        if has(SIZE) {
            put(steps, next.size);
        }
        if has(STRIDE) {
            put(steps, step(0, next.course.stride));
        }
        if has(ROW) {
            let Row { count, length, distance } = next.course.row;
            put(steps, count);
            put(steps, step(0, length));
            put(steps, step(0, distance));
        }
        if has(PIECES) {
            put(steps, pieces.len());
            let mut place = next.course.first;
            for &(at, length) in pieces {
                put(steps, step(place, at));
                put(steps, length);
                place = at.wrapping_add(length);
            }
        }
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
        let mut reader = self.read();
        std::iter::from_fn(move || reader.go().then(|| reader.transfer.clone()))
    }

    /// Reads them one by one, or none if there were too many.
    pub(crate) fn read(&self) -> Reader<'_> {
        let transfer = Transfer {
            rank: self.rank,
            opening: 0,
            kind: Kind::Write,
            begin: 0,
            end: 0,
            size: 0,
            caller: Caller::default(),
            is_buffered: false,
            pieces: Pieces::new(),
        };
        Reader { rest: &self.steps, equal: 0, last: self.repeats, course: Course::default(), transfer }
    }

    /// Whether each begins no earlier than the one before, and, if both begin at one time, ends no earlier.
    pub(crate) fn are_in_order(&self) -> bool {
        !self.overview.is_unordered
    }

    /// The same in that order.
    pub(crate) fn in_order(&self) -> Transfers {
        let mut all: Vec<Transfer> = self.iter().collect();
        all.sort_by_key(|it| (it.begin, it.end));
        let mut sorted = Transfers::new(self.rank, self.most);
        for Transfer { opening, kind, begin, end, size, caller, is_buffered, pieces, .. } in all {
            let is_read = kind == Kind::Read;
            let course = Course::default();
            sorted.add(Spot { is_read, is_buffered, opening, size, caller, begin, course }, end, &pieces);
        }
        sorted
    }
}

/// Reads transfers one by one.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
    /// How many steps that are equal to the last one are still to come before the rest.
    equal: u64,
    /// How many are behind the rest.
    last: u64,
    course: Course,
    /// The one that was read last.
    pub(crate) transfer: Transfer,
}

impl Reader<'_> {
    /// Reads the next one; answers whether there is one.
    pub(crate) fn go(&mut self) -> bool {
        self.next_step().is_some()
    }

    fn next_step(&mut self) -> Option<()> {
        if self.equal == 0 {
            match self.rest.split_first() {
                None => self.equal = std::mem::take(&mut self.last),
                Some((&bits, behind)) if bits & ARE_EQUAL != 0 => {
                    self.rest = behind;
                    self.equal = take(&mut self.rest)?;
                }
                Some((&bits, behind)) => {
                    self.rest = behind;
                    self.course.pause = take_short(&mut self.rest, bits)?;
                    self.course.duration = take_short(&mut self.rest, bits >> DURATION)?;
                    self.pass_time();
                    if bits & IS_OTHER != 0 {
                        return self.take_other();
                    }
                    self.pass_pieces();
                    return Some(());
                }
            }
        }
        self.equal = self.equal.checked_sub(1)?;
        self.pass_time();
        self.pass_pieces();
        Some(())
    }

    fn pass_time(&mut self) {
        self.transfer.begin = self.transfer.begin.wrapping_add(self.course.pause);
        self.transfer.end = self.transfer.begin.wrapping_add(self.course.duration);
    }

    /// Moves all pieces to where they are if the step is as the one before.
    fn pass_pieces(&mut self) {
        let Course { first, stride, row, .. } = &mut self.course;
        if row.count > 0 {
            *first = first.wrapping_add(*stride);
            self.transfer.pieces.iter_mut().for_each(|(at, _)| *at = at.wrapping_add(*stride));
        } else {
            self.transfer.pieces.clear();
        }
    }

    /// Reads what is not as in the last step.
    fn take_other(&mut self) -> Option<()> {
        let (rest, course, transfer) = (&mut self.rest, &mut self.course, &mut self.transfer);
        let (&other, behind) = rest.split_first()?;
        *rest = behind;
        let has = |bit: u8| other & bit != 0;
        if has(KIND) {
            transfer.kind = if transfer.kind == Kind::Read { Kind::Write } else { Kind::Read };
        }
        transfer.is_buffered ^= has(BUFFERED);
        if has(CALLER) {
            transfer.opening = transfer.opening.wrapping_add_signed(take(rest)?);
            let (thread, call_path, repeated): (u32, u32, u32) = (take(rest)?, take(rest)?, take(rest)?);
            transfer.caller = Caller { thread, call_path, is_repeated: repeated != 0 };
        }
        if has(SIZE) {
            transfer.size = take(rest)?;
        }
        if has(STRIDE) {
            course.stride = stepped(take(rest)?);
        }
        if has(ROW) {
            let (count, length, distance) = (take(rest)?, take(rest)?, take(rest)?);
            course.row = Row { count, length: stepped(length), distance: stepped(distance) };
        }
        if has(PIECES) || course.row.count > 0 {
            course.first = course.first.wrapping_add(course.stride);
        }
        if has(PIECES) {
            let count = take(rest)?;
            let mut place = course.first;
            transfer.pieces.clear();
            transfer.pieces.reserve_exact(count);
            for _ in 0..count {
                let (at, length) = (place.wrapping_add_signed(take(rest)?), take(rest)?);
                transfer.pieces.push((at, length));
                place = at.wrapping_add(length);
            }
        } else {
            course.row.lay(course.first, transfer.size, &mut transfer.pieces);
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{operation, transfer};
    use proptest::prelude::*;

    fn add(list: &mut Transfers, one: &Transfer) {
        list.push(&operation(one), &one.pieces, one.is_buffered);
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
            is_buffered: false,
            pieces: (0..16).map(|piece| (65_536 * at + 1024 * piece, 256)).collect(),
        };
        (0..1000).for_each(|at| add(&mut list, &one(at)));
        assert!(list.iter().eq((0..1000).map(one)));
        assert!(list.steps.len() < 100, "{} bytes", list.steps.len());
        assert_eq!((list.bytes(), list.are_too_many(), list.are_in_order()), (4_096_000, false, true));
        assert_eq!((list.has_reads(), list.has_writes(), list.is_unplaced()), (false, true, false));
        assert_eq!(list.places(), Some((0, 65_536 * 999 + 15 * 1024 + 256)));
    }

    #[test]
    fn only_what_differs_takes_room() {
        let length = |place: fn(u64) -> u64, time: fn(u64) -> u64| {
            let mut list = Transfers::new(0, u64::MAX);
            let one = |at| transfer(0, Kind::Write, (time(at), time(at) + 500), &[(place(at), 4096)]);
            (0..1000).for_each(|at| add(&mut list, &one(at)));
            assert!(list.iter().eq((0..1000).map(one)));
            list.steps.len() as u64 / 1000
        };
        // A byte says which numbers follow; pauses and durations have two each.
        assert_eq!(length(|at| 8192 * at, |at| 1000 * at + at % 2), 5);
        assert_eq!(length(|at| 4096 * (at * at % 64), |at| 1000 * at), 8);
    }

    #[test]
    fn more_than_may_be_are_none_that_are_known() {
        let mut list = Transfers::new(0, 2);
        let one = Transfer { size: 5, ..transfer(0, Kind::Read, (0, 1), &[]) };
        (0..3).for_each(|_| add(&mut list, &one));
        assert_eq!((list.bytes(), list.are_too_many(), list.iter().count()), (15, true, 0));
    }

    proptest! {
        /// Loops that are left and gone on with, so that all that a step may leave out is left out, and comes back.
        #[test]
        fn transfers_of_loops_come_back(loops in prop::collection::vec((1..6_u64, 0..3_u64, 0..3_u64, 0..4_usize, 0..3_u64, any::<bool>()), 0..12)) {
            let (mut all, mut begin, mut at) = (Vec::new(), 1000, 1 << 20);
            for (times, pause, stride, shape, size, is_back) in loops {
                for _ in 0..times {
                    let pieces: &[(u64, u64)] = match shape {
                        0 => &[],
                        1 => &[(at, 8)],
                        2 => &[(at, 8), (at + 16, 8), (at + 32, 8)],
                        _ => &[(at, 8), (at + 16, 4), (at + 2, 8)],
                    };
                    let one = transfer(7, if is_back { Kind::Read } else { Kind::Write }, (begin, begin + size), pieces);
                    all.push(Transfer { size: 8 * size, opening: stride, ..one });
                    begin += 300 * pause;
                    at = if is_back { at - 24 * stride } else { at + 24 * stride };
                }
            }
            let mut list = Transfers::new(7, u64::MAX);
            all.iter().for_each(|it| add(&mut list, it));
            prop_assert_eq!(list.iter().collect::<Vec<_>>(), all);
        }

        #[test]
        fn any_transfers_come_back(all in prop::collection::vec((any::<[bool; 2]>(), any::<[u64; 4]>(), any::<(u32, u32, bool)>(), prop::collection::vec(any::<(u64, u64)>(), 0..4)), 0..8)) {
            let all: Vec<Transfer> = all.into_iter().map(|([reads, is_buffered], [opening, begin, end, size], (thread, call_path, is_repeated), pieces)| {
                let kind = if reads { Kind::Read } else { Kind::Write };
                let caller = Caller { thread, call_path, is_repeated };
                Transfer { rank: 7, opening, kind, begin, end, size, caller, is_buffered, pieces: pieces.into() }
            }).collect();
            let mut list = Transfers::new(7, 8);
            all.iter().for_each(|it| add(&mut list, it));
            let written = postcard::to_allocvec(&list).unwrap();
            let read: Transfers = postcard::from_bytes(&written).unwrap();
            prop_assert_eq!(read.iter().collect::<Vec<_>>(), all);
        }
    }
}
