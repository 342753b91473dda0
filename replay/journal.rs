//! The journal of a location: where its time went, in order, with marks at events that others may wait for.
//!
//! Severities say how much time a call path took; root causes ask for the time between two events (specification 7.2). So
//! exclusive time is kept in pieces, with the row of its call path: between two events that matter one piece for each row,
//! however often it was entered. An event is a piece of no time: its place in the journal is its position among all events
//! of the location that matter.

use std::ops::Range;

use model::Ticks;

use crate::exchange::batch::{halves, pair};
use crate::severity::Row;

/// A place in a journal. Of two events of a location, the later one has the higher position.
pub type Position = u32;

/// Stands for "no event".
pub const NO_POSITION: Position = Position::MAX;

/// An event that others may wait for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Spot {
    /// Position of the location in the report.
    pub location: u32,
    /// Its place in the journal of the location.
    pub position: Position,
}

impl Spot {
    /// Both in one word.
    pub fn encode(self) -> u64 {
        pair(self.location, self.position)
    }

    /// What [`encode`](Spot::encode) made.
    pub fn decode(word: u64) -> Spot {
        let (location, position) = halves(word);
        Spot { location, position }
    }
}

/// Set in a row whose ticks are too many for 32 bits.
const LONG: u32 = 1 << 31;

/// Set in a row whose ticks are negative.
const NEGATIVE: u32 = 1 << 30;

/// Pieces of exclusive time in the order in which they were begun: 8 bytes each.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    pieces: Vec<(u32, u32)>,
    /// The ticks of pieces that are too long.
    long: Vec<Ticks>,
    /// By row: the position behind its last piece; 0 without one.
    ends: Vec<Position>,
    /// Position behind the last event: pieces from there on can grow.
    open: Position,
}

impl Journal {
    /// Nothing is in it; there is room for so many pieces.
    pub fn with_room(pieces: Position) -> Journal {
        Journal { pieces: Vec::with_capacity(pieces as usize), ..Journal::default() }
    }

    /// Adds time that was spent in a row.
    #[inline(always)]
    pub fn spend(&mut self, row: Row, ticks: Ticks) {
        if let Ok(ticks) = u32::try_from(ticks)
            && self.spend_short(row, ticks)
        {
            return;
        }
        self.add(row, ticks);
    }

    /// Adds the time of pieces of another journal.
    pub fn spend_all(&mut self, other: &Journal, pieces: Range<Position>) {
        for piece in &other.pieces[pieces.start as usize..pieces.end as usize] {
            // There are not as many rows as those would be that are marked.
            if !self.spend_short(piece.0, piece.1) {
                let (row, ticks) = other.read(piece);
                self.add(row, ticks);
            }
        }
    }

    /// Adds time as nearly always: the row is known, and stays short. Answers whether that is so.
    #[inline(always)]
    fn spend_short(&mut self, row: Row, ticks: u32) -> bool {
        let Some(end) = self.ends.get_mut(row as usize) else { return false };
        if *end <= self.open {
            if ticks > 0 {
                self.pieces.push((row, ticks));
                *end = self.pieces.len() as Position;
            }
            return true;
        }
        match self.pieces.get_mut(*end as usize - 1) {
            Some((piece, before))
                if *piece == row
                    && let Some(sum) = before.checked_add(ticks) =>
            {
                *before = sum;
                true
            }
            _ => false,
        }
    }

    #[inline(never)]
    fn add(&mut self, row: Row, ticks: Ticks) {
        if ticks == 0 {
            return;
        }
        let at = row as usize;
        if at >= self.ends.len() {
            self.ends.resize(at + 1, 0);
        }
        let end = self.ends[at];
        if end > self.open {
            let before = self.piece(end - 1).1;
            return self.set(end - 1, before.saturating_add(ticks));
        }
        self.pieces.push((row, 0));
        self.ends[at] = self.len();
        self.set(self.len() - 1, ticks);
    }

    /// Marks an event in a row; answers its position.
    #[inline]
    pub fn mark(&mut self, row: Row) -> Position {
        self.pieces.push((row, 0));
        self.open = self.len();
        self.open - 1
    }

    /// Gives back the room that was kept for growing.
    pub fn shrink(&mut self) {
        self.pieces.shrink_to_fit();
        self.long.shrink_to_fit();
        self.ends = Vec::new();
        // Without their last pieces known, rows would get new ones.
        self.open = self.len();
    }

    /// Changes the ticks of a piece.
    ///
    /// # Panics
    /// If there is no such piece.
    #[inline]
    pub fn set(&mut self, position: Position, ticks: Ticks) {
        let (row, at) = self.pieces[position as usize];
        let is_long = row & LONG != 0;
        let row = row & !(LONG | NEGATIVE);
        self.pieces[position as usize] = match short(row, ticks) {
            Some(piece) => piece,
            None if is_long => {
                self.long[at as usize] = ticks;
                (row | LONG, at)
            }
            None => {
                self.long.push(ticks);
                (row | LONG, (self.long.len() - 1) as u32)
            }
        };
    }

    /// The row and the ticks of a piece.
    ///
    /// # Panics
    /// If there is no such piece.
    pub fn piece(&self, position: Position) -> (Row, Ticks) {
        self.read(&self.pieces[position as usize])
    }

    /// The rows and the ticks of some pieces, one after the other.
    ///
    /// # Panics
    /// If there are no such pieces.
    pub fn pieces(&self, range: Range<Position>) -> impl Iterator<Item = (Row, Ticks)> {
        self.pieces[range.start as usize..range.end as usize].iter().map(|piece| self.read(piece))
    }

    #[inline]
    fn read(&self, &(row, ticks): &(u32, u32)) -> (Row, Ticks) {
        match row & (LONG | NEGATIVE) {
            0 => (row, ticks.into()),
            NEGATIVE => (row & !NEGATIVE, -Ticks::from(ticks)),
            _ => (row & !LONG, self.long[ticks as usize]),
        }
    }

    /// The number of pieces.
    pub fn len(&self) -> Position {
        self.pieces.len() as Position
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The bytes that it takes when it grows next.
    pub fn growth(&self) -> usize {
        self.pieces.capacity() * size_of::<(u32, u32)>()
            + self.long.capacity() * size_of::<Ticks>()
            + self.ends.capacity() * size_of::<Position>()
    }
}

/// A piece that is not too long.
#[inline]
fn short(row: Row, ticks: Ticks) -> Option<(u32, u32)> {
    let sign = if ticks < 0 { NEGATIVE } else { 0 };
    Some((row | sign, u32::try_from(ticks.unsigned_abs()).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_any_length_come_back_and_no_time_takes_no_place() {
        let mut journal = Journal::default();
        journal.spend(3, 7);
        journal.spend(4, 0);
        journal.spend(5, 1 << 40);
        assert_eq!(journal.mark(6), 2);
        journal.spend(7, -9);
        assert_eq!([0, 1, 2, 3].map(|at| journal.piece(at)), [(3, 7), (5, 1 << 40), (6, 0), (7, -9)]);
        for [short, long] in [[-4, 1 << 33], [-1 << 33, 5], [1 << 34, -1 << 35], [0, Ticks::MIN]] {
            journal.set(2, short);
            journal.set(3, long);
            assert_eq!(journal.pieces(1..4).collect::<Vec<_>>(), [(5, 1 << 40), (6, short), (7, long)]);
        }
        assert_eq!(journal.len(), 4);
    }

    #[test]
    fn row_has_one_piece_between_two_events_and_none_before() {
        let mut journal = Journal::default();
        for ticks in [4, 1 << 33, -4] {
            journal.spend(2, ticks);
            journal.spend(1, 5);
        }
        assert_eq!(journal.mark(2), 2);
        journal.spend(2, 3);
        journal.spend(0, 1);
        journal.spend(2, 3);
        let pieces: Vec<_> = journal.pieces(0..journal.len()).collect();
        assert_eq!(pieces, [(2, 1 << 33), (1, 15), (2, 0), (2, 6), (0, 1)]);
        journal.shrink();
        journal.spend(2, 1);
        assert_eq!(journal.len(), 6);
    }
}
