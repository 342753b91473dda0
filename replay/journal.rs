//! The journal of a location: its exclusive time in order, with marks at events that others may wait for.
//!
//! Severities have the time of each call path; root causes need the time between two events
//! (specification 7.2). So exclusive time is stored in pieces, with the row of the call path: one piece for
//! each row between two events that matter, however often the call path was entered. Such an event is a mark:
//! its place in the journal is its position among all events of the location that matter.
//!
//! Pieces take most of the memory that an event leaves, so each is one word, and few need more:
//!
//! ```text
//!     0 rrrrrrrrrrrr ttttttttttttttttttt    a piece: its row, its ticks
//!     10 nnnnnnnnnnnnnnnnnnnnnnnnnnnnnn     a larger row or other ticks: the number of a piece elsewhere
//!     11 rrrrrrrrrrrrrrrrrrrrrrrrrrrrrr     an event, and the row that it is in
//! ```

use std::ops::Range;

use model::Ticks;

use crate::exchange::Batch;
use crate::exchange::batch::BatchReader;
use crate::ids::{EventNumber, JournalPosition, RecordNumber, Row};
use crate::int::to_u32;
use crate::wire::{Half, Halves, Wire};

/// An event of a location that others may depend on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Spot<P> {
    /// Position of the location in the report.
    pub location: u32,
    /// The event, by its number at the location.
    pub position: P,
}

/// An event in the journal of its location.
pub type JournalSpot = Spot<JournalPosition>;

/// An event by its record.
pub type RecordSpot = Spot<RecordNumber>;

/// An event by the number that the walk gave it.
pub type EventSpot = Spot<EventNumber>;

impl<P: Half> Wire for Spot<P> {
    #[inline]
    fn put(&self, batch: &mut Batch) {
        Halves(self.location, self.position).put(batch);
    }

    #[inline]
    fn get(reader: &mut BatchReader<'_>) -> Self {
        let Halves(location, position) = Wire::get(reader);
        Spot { location, position }
    }
}

impl From<JournalSpot> for EventSpot {
    fn from(spot: JournalSpot) -> EventSpot {
        Spot { location: spot.location, position: spot.position.into() }
    }
}

impl From<RecordSpot> for EventSpot {
    fn from(spot: RecordSpot) -> EventSpot {
        Spot { location: spot.location, position: spot.position.into() }
    }
}

impl EventSpot {
    /// Returns the event with its position in the journal.
    pub fn in_journal(self) -> JournalSpot {
        Spot { location: self.location, position: self.position.in_journal() }
    }

    /// Returns the event with its record.
    pub fn record(self) -> RecordSpot {
        Spot { location: self.location, position: self.position.record() }
    }
}

/// Bits of the ticks in a word, the largest number of ticks in it, and the number of rows that fit.
const TICK_BITS: u32 = 19;
const MOST_TICKS: u32 = (1 << TICK_BITS) - 1;
const ROWS: u32 = WIDE >> TICK_BITS;

/// Flag of a word that has the place of a larger piece; events have it, too, together with the next bit.
const WIDE: u32 = 1 << 31;
const MARK: u32 = WIDE | ELSEWHERE;

/// The largest number of pieces elsewhere, which take 16 GiB. There are fewer rows: each is a call path,
/// which takes more.
const ELSEWHERE: u32 = 1 << 30;

/// Pieces of exclusive time in the order of their beginnings.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    pieces: Vec<u32>,
    wide: Vec<Wide>,
    /// By row: the position after its last piece; 0 without a piece.
    ends: Vec<u32>,
    /// Position after the last event: pieces from there on can grow.
    open: u32,
    /// The time of the first event; `None` before it.
    begin: Option<Ticks>,
    /// Time that belongs to no row, each with the position of the piece behind it.
    skipped: Vec<(JournalPosition, Ticks)>,
    /// The marks at the borders of windows, if only these count.
    borders: Vec<JournalPosition>,
}

/// A piece that does not fit into a word.
#[derive(Clone, Copy, Debug)]
#[repr(Rust, packed(4))]
struct Wide {
    row: Row,
    ticks: Ticks,
}

impl Journal {
    /// Makes an empty journal with room for this number of pieces.
    pub fn with_room(pieces: JournalPosition) -> Journal {
        Journal { pieces: Vec::with_capacity(pieces.index()), ..Journal::default() }
    }

    /// Adds time that was spent in a row. Not inlined, because the walk has no registers left for this code.
    ///
    /// # Panics
    /// If there are 2^30 pieces that do not fit into a word.
    #[inline(never)]
    pub fn spend(&mut self, row: Row, ticks: Ticks) {
        if let Ok(ticks) = u32::try_from(ticks)
            && self.spend_short(row, ticks)
        {
            return;
        }
        self.add(row, ticks);
    }

    /// Adds the times of pieces of another journal.
    pub fn spend_all(&mut self, other: &Journal, pieces: Range<JournalPosition>) {
        for &piece in &other.pieces[pieces.start.index()..pieces.end.index()] {
            if piece >= WIDE || !self.spend_short(Row::of_half(piece >> TICK_BITS), piece & MOST_TICKS) {
                let (row, ticks) = other.read(piece);
                self.add(row, ticks);
            }
        }
    }

    /// Adds time in the usual case: the row is known, its piece is a word, and there is room for it. Returns
    /// whether this was the case. It calls no function, and so saves no registers.
    #[inline(always)]
    fn spend_short(&mut self, row: Row, ticks: u32) -> bool {
        let Some(end) = self.ends.get_mut(row.index()) else { return false };
        let row = row.to_half();
        if *end <= self.open {
            if ticks == 0 {
                return true;
            }
            let has_room = self.pieces.len() < self.pieces.capacity();
            let is_short = row < ROWS && ticks <= MOST_TICKS && has_room;
            if is_short {
                self.pieces.push(row << TICK_BITS | ticks);
                *end = to_u32(self.pieces.len());
            }
            return is_short;
        }
        match self.pieces.get_mut(*end as usize - 1) {
            Some(piece) if *piece < WIDE && ticks <= MOST_TICKS - (*piece & MOST_TICKS) => {
                *piece += ticks;
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
        let at = row.index();
        if at >= self.ends.len() {
            self.ends.resize(at + 1, 0);
        }
        let end = self.ends[at];
        if end > self.open {
            let last = JournalPosition::new(end as usize - 1);
            let before = self.piece(last).1;
            return self.set(last, before.saturating_add(ticks));
        }
        let piece = self.encode(row, ticks);
        self.pieces.push(piece);
        self.ends[at] = to_u32(self.pieces.len());
    }

    fn encode(&mut self, row: Row, ticks: Ticks) -> u32 {
        match u32::try_from(ticks) {
            Ok(ticks) if row.to_half() < ROWS && ticks <= MOST_TICKS => row.to_half() << TICK_BITS | ticks,
            _ => {
                let at = to_u32(self.wide.len());
                assert!(at < ELSEWHERE, "a location has too many long pieces of time");
                self.wide.push(Wide { row, ticks });
                WIDE | at
            }
        }
    }

    /// Marks an event in a row; returns its position.
    #[inline]
    pub fn mark(&mut self, row: Row) -> JournalPosition {
        self.pieces.push(MARK | row.to_half());
        self.close();
        JournalPosition::new(self.pieces.len() - 1)
    }

    /// Marks the next border of a window, in a row.
    pub fn mark_border(&mut self, row: Row) {
        let position = self.mark(row);
        self.borders.push(position);
    }

    /// The marks at the borders of windows, in their order; those behind the last piece have none.
    pub fn borders(&self) -> &[JournalPosition] {
        &self.borders
    }

    /// Notes the time of the first event.
    pub fn start(&mut self, time: Ticks) {
        self.begin.get_or_insert(time);
    }

    /// Adds time that belongs to no row. No piece holds time from before it and from behind it.
    pub fn skip(&mut self, ticks: Ticks) {
        if ticks != 0 {
            self.close();
            self.skipped.push((self.len(), ticks));
        }
    }

    /// The time of the first event; 0 without any.
    pub fn begin(&self) -> Ticks {
        self.begin.unwrap_or(0)
    }

    /// Time that belongs to no row, each with the position of the piece behind it; in order.
    pub fn skipped(&self) -> &[(JournalPosition, Ticks)] {
        &self.skipped
    }

    /// Ends all pieces: none of them grows any more.
    #[inline]
    pub fn close(&mut self) {
        self.open = to_u32(self.pieces.len());
    }

    /// Frees the room that was reserved for growing.
    pub fn shrink(&mut self) {
        self.pieces.shrink_to_fit();
        self.wide.shrink_to_fit();
        self.skipped.shrink_to_fit();
        self.ends = Vec::new();
        // The last pieces of rows are forgotten, so rows get new pieces from here on.
        self.close();
    }

    /// Changes the ticks of a piece; does nothing at the mark of an event.
    ///
    /// # Panics
    /// If there is no such piece.
    pub fn set(&mut self, position: JournalPosition, ticks: Ticks) {
        match self.pieces[position.index()] {
            MARK.. => {}
            piece @ WIDE.. => self.wide[(piece & !WIDE) as usize].ticks = ticks,
            piece => self.pieces[position.index()] = self.encode(Row::of_half(piece >> TICK_BITS), ticks),
        }
    }

    /// Returns the row and the ticks of a piece.
    ///
    /// # Panics
    /// If there is no such piece.
    pub fn piece(&self, position: JournalPosition) -> (Row, Ticks) {
        self.read(self.pieces[position.index()])
    }

    /// Returns the rows and the ticks of some pieces, one after the other.
    ///
    /// # Panics
    /// If there are no such pieces.
    pub fn pieces(&self, range: Range<JournalPosition>) -> impl Iterator<Item = (Row, Ticks)> {
        self.pieces[range.start.index()..range.end.index()].iter().map(|&piece| self.read(piece))
    }

    #[inline(always)]
    fn read(&self, piece: u32) -> (Row, Ticks) {
        if piece < WIDE {
            return (Row::of_half(piece >> TICK_BITS), (piece & MOST_TICKS).into());
        }
        match piece {
            MARK.. => (Row::of_half(piece & !MARK), 0),
            _ => {
                let Wide { row, ticks } = self.wide[(piece & !WIDE) as usize];
                (row, ticks)
            }
        }
    }

    /// Returns the number of pieces.
    pub fn len(&self) -> JournalPosition {
        JournalPosition::new(self.pieces.len())
    }

    /// Whether the journal has no pieces.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Returns the bytes allocated by its lists.
    pub fn bytes(&self) -> usize {
        (self.pieces.capacity() + self.ends.capacity()) * size_of::<u32>()
            + self.wide.capacity() * size_of::<Wide>()
            + self.skipped.capacity() * size_of::<(JournalPosition, Ticks)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(number: usize) -> JournalPosition {
        JournalPosition::new(number)
    }

    fn of_row((row, ticks): (u32, Ticks)) -> (Row, Ticks) {
        (Row::of_half(row), ticks)
    }

    #[test]
    fn pieces_of_any_length_come_back_and_no_time_takes_no_place() {
        let mut journal = Journal::default();
        let pieces = [
            (3, 7),
            (5, 1 << 40),
            (8, 1 << TICK_BITS),
            (1 << 20, 4),
            (6, Ticks::MIN),
            (ROWS - 1, 1),
            (ROWS, 2),
        ]
        .map(of_row);
        for (row, ticks) in pieces {
            journal.spend(row, ticks);
            journal.spend(Row::new(4), 0);
        }
        let event = journal.mark(Row::new(1 << 28));
        journal.spend(Row::new(7), -9);
        let expected: Vec<_> = pieces.into_iter().chain([(1 << 28, 0), (7, -9)].map(of_row)).collect();
        assert_eq!(journal.pieces(at(0)..journal.len()).collect::<Vec<_>>(), expected);
        assert_eq!((event, journal.piece(event)), (at(7), of_row((1 << 28, 0))));
        for (position, ticks) in (0..9).zip([1 << TICK_BITS, 0, 3, -1, Ticks::MAX, 0, 1 << 20, 0, -5]) {
            journal.set(at(position), ticks);
            assert_eq!(journal.piece(at(position)), (expected[position].0, ticks));
        }
        assert_eq!(journal.pieces(at(1)..at(3)).collect::<Vec<_>>(), [(5, 0), (8, 3)].map(of_row));
    }

    #[test]
    fn row_has_one_piece_between_two_events_and_none_before() {
        let [row_0, row_1, row_2] = [0, 1, 2].map(Row::new);
        let mut journal = Journal::default();
        for ticks in [4, MOST_TICKS.into(), 1 << 33, -4] {
            journal.spend(row_2, ticks);
            journal.spend(row_1, 5);
        }
        assert_eq!(journal.mark(row_2), at(2));
        journal.spend(row_2, 3);
        journal.spend(row_0, 1);
        journal.spend(row_2, 3);
        let pieces: Vec<_> = journal.pieces(at(0)..journal.len()).collect();
        let expected = [(2, (1 << 33) + Ticks::from(MOST_TICKS)), (1, 20), (2, 0), (2, 6), (0, 1)];
        assert_eq!(pieces, expected.map(of_row));
        journal.shrink();
        journal.spend(row_2, 1);
        assert_eq!(journal.len(), at(6));
    }
}
