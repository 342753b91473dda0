//! The transfers of one rank on one file, some ten bytes each: there may be millions (io.md 4.10).

use serde::{Deserialize, Serialize};

use crate::access::Kind;
use crate::bytes::Transfer;
use crate::operation::Caller;

/// Transfers in the order in which they were added.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Transfers {
    rank: u32,
    /// Steps, one behind the other, as `postcard` writes them.
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

/// A transfer as a step from the one before it. Differences wrap around, so that they are small and nothing is lost.
#[derive(Serialize, Deserialize)]
struct Step {
    is_read: bool,
    opening: i64,
    begin: i64,
    duration: u64,
    size: u64,
    /// `None` if it is that of the transfer before: so it is in loops.
    caller: Option<Caller>,
    pieces: Pieces,
}

#[derive(Serialize, Deserialize)]
enum Pieces {
    /// It is unknown where.
    Unknown,
    /// One with all bytes, so far behind the last piece.
    One(i64),
    /// Others: how far each is behind the one before, and its length.
    Several(Vec<(i64, u64)>),
}

/// How far a number is from another one.
fn step(from: u64, to: u64) -> i64 {
    to.wrapping_sub(from).cast_signed()
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
        let last = &mut self.last;
        let mut go = |at: u64, length: u64| {
            let far = step(last.place, at);
            last.place = at.wrapping_add(length);
            far
        };
        let pieces = match transfer.pieces[..] {
            [] => Pieces::Unknown,
            [(at, length)] if length == transfer.size => Pieces::One(go(at, length)),
            _ => Pieces::Several(
                transfer.pieces.iter().map(|&(at, length)| (go(at, length), length)).collect(),
            ),
        };
        let one = Step {
            is_read: transfer.kind == Kind::Read,
            opening: step(last.opening, transfer.opening),
            begin: step(last.begin, transfer.begin),
            duration: transfer.end.wrapping_sub(transfer.begin),
            size: transfer.size,
            caller: (transfer.caller != last.caller).then_some(transfer.caller),
            pieces,
        };
        (last.opening, last.begin, last.caller) = (transfer.opening, transfer.begin, transfer.caller);
        // Nothing can fail where bytes are appended to a list.
        if let Ok(steps) = postcard::to_extend(&one, std::mem::take(&mut self.steps)) {
            self.steps = steps;
        }
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
        std::iter::from_fn(move || {
            let (step, behind) = postcard::take_from_bytes::<Step>(rest).ok()?;
            rest = behind;
            Some(at.go(self.rank, step))
        })
    }
}

impl Spot {
    /// Takes a step.
    fn go(&mut self, rank: u32, step: Step) -> Transfer {
        let Step { is_read, opening, begin, duration, size, caller, pieces } = step;
        self.opening = self.opening.wrapping_add_signed(opening);
        self.begin = self.begin.wrapping_add_signed(begin);
        self.caller = caller.unwrap_or(self.caller);
        let mut piece = |far: i64, length: u64| {
            let at = self.place.wrapping_add_signed(far);
            self.place = at.wrapping_add(length);
            (at, length)
        };
        let pieces = match pieces {
            Pieces::Unknown => Vec::new(),
            Pieces::One(far) => vec![piece(far, size)],
            Pieces::Several(pieces) => pieces.into_iter().map(|(far, length)| piece(far, length)).collect(),
        };
        Transfer {
            rank,
            opening: self.opening,
            kind: if is_read { Kind::Read } else { Kind::Write },
            begin: self.begin,
            end: self.begin.wrapping_add(duration),
            size,
            caller: self.caller,
            pieces,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::transfer;
    use proptest::prelude::*;

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
            pieces: vec![(4096 * at, 4096)],
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
                Transfer { rank: 7, opening, kind, begin, end, size, caller, pieces }
            }).collect();
            let mut list = Transfers::new(7, 8);
            all.iter().for_each(|it| list.push(it));
            let written = postcard::to_allocvec(&list).unwrap();
            let read: Transfers = postcard::from_bytes(&written).unwrap();
            prop_assert_eq!(read.iter().collect::<Vec<_>>(), all);
        }
    }
}
