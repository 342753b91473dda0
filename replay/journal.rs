//! The journal of a location: where its time went, in order, with marks at events that others may wait for.
//!
//! Severities say how much time a call path took; root causes ask for the time between two events (specification 7.2). So
//! exclusive time is kept in pieces, with the row of its call path: between two events that matter one piece for each row,
//! however often it was entered. An event is a mark: its place in the journal is its position among all events of the
//! location that matter.
//!
//! Pieces take most of the memory that an event leaves, so nearly all of them are one word:
//!
//! ```text
//!     0 rrrrrrrrrrrrrr ttttttttttttttttt    a piece: its row, its ticks
//!     100 rrrrrrrrrrrrrrrrrrrrrrrrrrrrr     a larger row, or more ticks, which are the next word
//!     101 rrrrrrrrrrrrrrrrrrrrrrrrrrrrr     any row and ticks, which are the next two words
//!     11 rrrrrrrrrrrrrrrrrrrrrrrrrrrrrr     an event, and the row that it is in
//! ```

use std::ops::Range;
use std::slice::Iter;

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

/// Bits of the ticks in a piece of one word, the most that it holds, and the rows that it may have.
const TICK_BITS: u32 = 17;
const MOST_TICKS: u32 = (1 << TICK_BITS) - 1;
const ROWS: Row = WIDE >> TICK_BITS;

/// Set in the first word of everything else; and with it in the first one of three, and in an event.
const WIDE: u32 = 1 << 31;
const LONG: u32 = WIDE | 1 << 29;
const MARK: u32 = WIDE | 1 << 30;

/// Pieces of exclusive time in the order in which they were begun.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    words: Vec<u32>,
    /// By row: the position of its last piece, and one more; 0 without one.
    last: Vec<Position>,
    /// Position behind the last event: pieces from there on can grow.
    open: Position,
}

impl Journal {
    /// Nothing is in it; there is room for so many words.
    pub fn with_room(words: Position) -> Journal {
        Journal { words: Vec::with_capacity(words as usize), ..Journal::default() }
    }

    /// Adds time that was spent in a row.
    #[inline(always)]
    pub fn spend(&mut self, row: Row, ticks: Ticks) {
        match u32::try_from(ticks) {
            Ok(ticks) if self.spend_short(row, ticks) => {}
            Ok(ticks) => self.spend_wide(row, ticks),
            Err(_) => self.add(row, ticks),
        }
    }

    /// Adds the time of pieces of another journal.
    pub fn spend_all(&mut self, other: &Journal, pieces: Range<Position>) {
        for (_, row, ticks) in other.pieces(pieces).filter(|&(_, _, ticks)| ticks != 0) {
            self.spend(row, ticks);
        }
    }

    /// Adds time as nearly always: the row is known, and its piece is one word. Answers whether that is so.
    #[inline(always)]
    fn spend_short(&mut self, row: Row, ticks: u32) -> bool {
        let Some(last) = self.last.get_mut(row as usize) else { return false };
        if *last <= self.open {
            let is_short = row < ROWS && ticks <= MOST_TICKS;
            if is_short && ticks > 0 {
                self.words.push(row << TICK_BITS | ticks);
                *last = self.words.len() as Position;
            }
            return is_short;
        }
        match self.words.get_mut(*last as usize - 1) {
            Some(word) if *word < WIDE && ticks <= MOST_TICKS - (*word & MOST_TICKS) => {
                *word += ticks;
                true
            }
            _ => false,
        }
    }

    /// Adds time to a piece of two words.
    #[inline(never)]
    fn spend_wide(&mut self, row: Row, ticks: u32) {
        let position = self.len();
        match self.last.get_mut(row as usize) {
            Some(last) if *last <= self.open && ticks > 0 => {
                *last = position + 1;
                self.words.extend([WIDE | row, ticks]);
            }
            Some(&mut last)
                if last > self.open
                    && let Some([WIDE..LONG, before, ..]) = self.words.get_mut(last as usize - 1..)
                    && let Some(sum) = before.checked_add(ticks) =>
            {
                *before = sum;
            }
            _ => self.add(row, ticks.into()),
        }
    }

    /// Adds time however much it is.
    #[inline(never)]
    fn add(&mut self, row: Row, mut ticks: Ticks) {
        if ticks == 0 {
            return;
        }
        let at = row as usize;
        if at >= self.last.len() {
            self.last.resize(at + 1, 0);
        }
        if self.last[at] > self.open {
            let position = self.last[at] - 1;
            ticks = self.piece(position).1.saturating_add(ticks);
            let words = &mut self.words[position as usize..];
            match (words[0], u32::try_from(ticks)) {
                (LONG.., _) => return (words[1], words[2]) = halves(ticks.cast_unsigned()),
                (WIDE.., Ok(ticks)) => return words[1] = ticks,
                // It needs more words.
                _ => self.clear(position..position + 1),
            }
        }
        self.last[at] = self.len() + 1;
        match u32::try_from(ticks) {
            Ok(ticks) if row < ROWS && ticks <= MOST_TICKS => self.words.push(row << TICK_BITS | ticks),
            Ok(ticks) => self.words.extend([WIDE | row, ticks]),
            Err(_) => {
                let (high, low) = halves(ticks.cast_unsigned());
                self.words.extend([LONG | row, high, low]);
            }
        }
    }

    /// Marks an event in a row; answers its position. The next one is behind it.
    #[inline]
    pub fn mark(&mut self, row: Row) -> Position {
        self.words.push(MARK | row);
        self.close();
        self.open - 1
    }

    /// What is in there does not grow any more.
    #[inline]
    pub fn close(&mut self) {
        self.open = self.len();
    }

    /// Gives back the room that was kept for growing.
    pub fn shrink(&mut self) {
        self.words.shrink_to_fit();
        self.last = Vec::new();
        // Without their last pieces known, rows would get new ones.
        self.close();
    }

    /// Takes the time out of some pieces.
    ///
    /// # Panics
    /// If there are no such pieces.
    pub fn clear(&mut self, pieces: Range<Position>) {
        let mut position = pieces.start as usize;
        while position < pieces.end as usize {
            let words = &mut self.words[position..];
            position += match words[0] {
                MARK.. => 1,
                LONG.. => {
                    words[1..3].fill(0);
                    3
                }
                WIDE.. => {
                    words[1] = 0;
                    2
                }
                word => {
                    words[0] = word & !MOST_TICKS;
                    1
                }
            };
        }
    }

    /// The row of an event.
    ///
    /// # Panics
    /// If there is no such event.
    pub fn row(&self, event: Position) -> Row {
        self.piece(event).0
    }

    /// The row and the ticks of a piece.
    fn piece(&self, position: Position) -> (Row, Ticks) {
        read(&mut self.words[position as usize..].iter()).expect("a piece")
    }

    /// Some pieces and events, one after the other: their positions, rows and ticks.
    ///
    /// # Panics
    /// If there are no such pieces.
    pub fn pieces(&self, range: Range<Position>) -> impl Iterator<Item = (Position, Row, Ticks)> {
        let mut words = self.words[range.start as usize..range.end as usize].iter();
        std::iter::from_fn(move || {
            let position = range.end - words.len() as Position;
            read(&mut words).map(|(row, ticks)| (position, row, ticks))
        })
    }

    /// The position behind everything.
    pub fn len(&self) -> Position {
        self.words.len() as Position
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The bytes that it takes when it grows next.
    pub fn growth(&self) -> usize {
        (self.words.capacity() + self.last.capacity()) * size_of::<u32>()
    }
}

/// The row and the ticks of the next piece.
#[inline(always)]
fn read(words: &mut Iter<'_, u32>) -> Option<(Row, Ticks)> {
    let word = *words.next()?;
    if word < WIDE {
        return Some((word >> TICK_BITS, (word & MOST_TICKS).into()));
    }
    match word {
        MARK.. => Some((word & !MARK, 0)),
        LONG.. => Some((word & !LONG, pair(*words.next()?, *words.next()?).cast_signed())),
        _ => Some((word & !WIDE, (*words.next()?).into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows and ticks of everything in there.
    fn all(journal: &Journal) -> Vec<(Row, Ticks)> {
        journal.pieces(0..journal.len()).map(|(_, row, ticks)| (row, ticks)).collect()
    }

    #[test]
    fn pieces_of_any_length_come_back_and_no_time_takes_no_place() {
        let mut journal = Journal::default();
        let pieces = [(3, 7), (5, 1 << 40), (8, 1 << 22), (1 << 20, 4), (6, Ticks::MIN), (1023, 1), (1024, 2)];
        for (row, ticks) in pieces {
            journal.spend(row, ticks);
            journal.spend(4, 0);
        }
        let event = journal.mark(1 << 28);
        journal.spend(7, -9);
        let expected: Vec<_> = pieces.into_iter().chain([(1 << 28, 0), (7, -9)]).collect();
        assert_eq!(all(&journal), expected);
        assert_eq!(journal.row(event), 1 << 28);
        let behind: Vec<_> = journal.pieces(event + 1..journal.len()).collect();
        assert_eq!(behind, [(event + 1, 7, -9)]);
        journal.clear(0..journal.len());
        let cleared: Vec<_> = expected.into_iter().map(|(row, _)| (row, 0)).collect();
        assert_eq!(all(&journal), cleared);
    }

    #[test]
    fn row_has_one_piece_with_time_between_two_events_and_none_before() {
        let mut journal = Journal::default();
        for ticks in [4, 1 << 22, 1 << 33, -4, -1 << 34] {
            journal.spend(2, ticks);
            journal.spend(1, 5);
        }
        let event = journal.mark(2);
        journal.spend(2, 3);
        journal.spend(0, 1);
        journal.spend(2, 3);
        let with_time = |journal: &Journal| {
            let mut pieces = all(journal);
            pieces.retain(|&(_, ticks)| ticks != 0);
            pieces
        };
        assert_eq!(with_time(&journal), [(1, 25), (2, (1 << 22) + (1 << 33) - (1 << 34)), (2, 6), (0, 1)]);
        assert_eq!(journal.row(event), 2);
        journal.shrink();
        journal.spend(2, 1);
        assert_eq!(with_time(&journal).len(), 5);
    }
}
