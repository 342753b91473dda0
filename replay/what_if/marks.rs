//! The timed graph of a location: its marks in the order of time, and the pieces of exclusive time between them (what-if 2.1).

use model::Ticks;

use super::classes::RowClass;
use super::compact::Compacted;
use super::completing::Completes;
use super::completions::Completion;
use super::near::partition_point_near;
use super::polls::{Polling, Polls};
use crate::ids::{JournalPosition, Row};
use crate::int::to_u32;
use crate::journal::Journal;
use crate::operations::TeamEventKind;
use crate::walk::{Border, Note, Noted};
use crate::wire::Half;

/// Where the time of a mark comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// It is the measured one.
    Fixed,
    /// The mark before, and the pieces since then.
    Work,
    /// A completion, by its position: the formula of what-if 2.1.
    Completion(u32),
}

/// A mark. There is one for each call of MPI, so it is small: its kind, and what belongs to that, are one half of a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Mark {
    /// Measured.
    pub time: Ticks,
    /// Behind the pieces before it in [`Marks::pieces`].
    pub pieces: JournalPosition,
    /// Two bits of the kind, one of whether it enters a call, and the completion or the row.
    packed: u32,
}

/// The bit of a mark that enters a call, and those of a completion or of a row; all of the latter stand for no row.
const CALL: u32 = 1 << 29;
const NUMBER: u32 = CALL - 1;
const KIND: u32 = 30;

impl Mark {
    /// A mark that enters no call.
    ///
    /// # Panics
    /// If a location has 2^29 completions.
    pub(super) fn new(time: Ticks, kind: Kind, pieces: JournalPosition) -> Mark {
        let packed = match kind {
            Kind::Fixed => NUMBER,
            Kind::Work => 1 << KIND | NUMBER,
            Kind::Completion(number) => {
                assert!(number < NUMBER, "a location has too many completions");
                2 << KIND | number
            }
        };
        Mark { time, pieces, packed }
    }

    /// Where its replayed time comes from.
    #[inline]
    pub(super) fn kind(self) -> Kind {
        match self.packed >> KIND {
            0 => Kind::Fixed,
            1 => Kind::Work,
            _ => Kind::Completion(self.packed & NUMBER),
        }
    }

    /// The row of the call that it enters, or [`Row::NONE`].
    #[inline]
    pub(super) fn row(self) -> Row {
        match self.packed & NUMBER {
            row if row == NUMBER || self.packed >> KIND > 1 => Row::NONE,
            row => Row::of_half(row),
        }
    }

    /// Whether it is the enter of an outermost call of MPI that was left.
    #[inline]
    pub(super) fn is_call(self) -> bool {
        self.packed & CALL != 0
    }

    /// The same mark, as the enter of a call in a row. There are fewer rows than bits: each is a call path, which takes more.
    fn entering(self, row: Row) -> Mark {
        Mark { packed: self.packed & !NUMBER | row.to_half().min(NUMBER), ..self }
    }

    /// The same mark of a location whose time is the measured one.
    fn fixed(self) -> Mark {
        match self.kind() {
            Kind::Completion(_) => Mark { packed: self.packed & CALL | NUMBER, ..self },
            Kind::Fixed | Kind::Work => Mark { packed: self.packed & (CALL | NUMBER), ..self },
        }
    }
}

/// Exclusive time of a row since the mark before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Piece {
    /// [`Row::NONE`] for time outside of any region.
    pub row: Row,
    /// Ticks; negative where more time was accounted to rows than passed, as may be where teams begin.
    pub ticks: Ticks,
}

/// The marks of a location.
#[derive(Clone, Debug, Default)]
pub(super) struct Marks {
    /// In the order of time.
    pub list: Vec<Mark>,
    /// Pieces of time in rows between them.
    pub pieces: Journal,
    /// By mark: its place in the journal of the location, as long as it is needed.
    positions: Vec<JournalPosition>,
    /// By mark, until all depends on what it waits for: how long the call takes that it enters; 0 for others.
    calls: Compacted<Ticks>,
    /// In the order of their marks.
    pub completions: Compacted<Completion>,
    /// The leave of `MPI_Init`.
    pub begin: Option<u32>,
    /// The enter of `MPI_Finalize`.
    pub end: Option<u32>,
    /// Events of threads, until all depends on what it waits for: what it was, and its mark; in the order of marks.
    pub threads: Vec<(Noted, u32)>,
    /// By border of a phase: the mark before it.
    pub borders: Vec<u32>,
    /// Where the last call was found: those that are looked for are mostly near to each other.
    found: usize,
}

impl Marks {
    /// Of a location with these notes, and pieces of time between them; `completes` says what calls have completed, by note.
    pub(super) fn new(
        notes: &[Note],
        completes: &[Completes],
        polls: &Polls<'_>,
        pieces: Journal,
        classes: &[RowClass],
        borders: &[Border],
    ) -> Marks {
        let mut marks = Marks { pieces, ..Marks::default() };
        marks.list.reserve_exact(notes.len());
        marks.positions.reserve_exact(notes.len());
        let mut call = Row::NONE;
        let mut polling = Polling::default();
        let mut borders = borders.iter().peekable();
        for (number, (note, &completes)) in notes.iter().zip(completes).enumerate() {
            while borders.next_if(|border| border.notes as usize <= number).is_some() {
                marks.borders.push(to_u32(marks.list.len().saturating_sub(1)));
                // The marks of a loop are in one phase.
                polling = Polling::default();
            }
            polling.take(&mut marks, note, completes, polls);
            match note.what {
                Noted::Begin => marks.add(note, Kind::Fixed),
                Noted::Enter(row) => {
                    call = row;
                    if is_of(row, classes, RowClass::Finalize) {
                        marks.end = Some(to_u32(marks.list.len()));
                    }
                    marks.add(note, Kind::Work);
                }
                Noted::Leave => {
                    if let Some(enter) = marks.list.last_mut() {
                        enter.packed |= CALL;
                        marks.calls.set(marks.calls.len() - 1, note.time - enter.time);
                    }
                    if is_of(call, classes, RowClass::Init) {
                        marks.begin = Some(to_u32(marks.list.len()));
                        marks.add(note, Kind::Fixed);
                    } else if completes != Completes::Nothing {
                        marks.complete(note, call);
                    }
                }
                Noted::Team(kind, _) => {
                    marks.threads.push((note.what, to_u32(marks.list.len())));
                    match kind {
                        TeamEventKind::Fork | TeamEventKind::End => marks.add(note, Kind::Work),
                        TeamEventKind::Begin | TeamEventKind::Join => {
                            marks.complete(note, Row::NONE);
                        }
                    }
                }
                Noted::LeaveBarrier(_) | Noted::Acquire(_) => {
                    marks.threads.push((note.what, to_u32(marks.list.len())));
                    marks.complete(note, Row::NONE);
                }
                Noted::EnterBarrier(_) | Noted::EnterCritical | Noted::Release(_) => {
                    marks.threads.push((note.what, to_u32(marks.list.len())));
                    marks.add(note, Kind::Work);
                }
                Noted::End => marks.add(note, Kind::Work),
            }
        }
        marks.borders.extend(borders.map(|_| to_u32(marks.list.len().saturating_sub(1))));
        marks.list.shrink_to_fit();
        marks.positions.shrink_to_fit();
        marks.calls.shrink_to_fit();
        marks.completions.shrink_to_fit();
        // What lies before the end of MPI_Init is as it was.
        for mark in &mut marks.list[..marks.begin.unwrap_or(0) as usize] {
            *mark = mark.fixed();
        }
        marks
    }

    /// No marks, but the same completions.
    pub(super) fn anew(&self) -> Marks {
        Marks { completions: self.completions.clone(), ..Marks::default() }
    }

    /// The last mark is where another one was in other marks of the location, if that is known.
    pub(super) fn place_like(&mut self, other: &Marks, mark: usize) {
        self.positions.extend(other.positions.get(mark));
    }

    /// Forgets all marks behind one.
    pub(super) fn cut_behind(&mut self, mark: usize) {
        self.list.truncate(mark + 1);
        self.positions.truncate(mark + 1);
        self.calls.truncate(mark + 1);
    }

    /// Forgets when calls were left, and events of threads; and where marks are in the journal of the location, but for stretches that
    /// root causes have compared.
    pub(super) fn forget(&mut self, has_stretches: bool) {
        (self.calls, self.threads) = Default::default();
        if !has_stretches {
            self.positions = Vec::new();
        }
    }

    fn complete(&mut self, note: &Note, row: Row) {
        let is_of_threads = note.what != Noted::Leave;
        let number = self.completions.push(Completion::new(to_u32(self.list.len()), row, is_of_threads));
        self.add(note, Kind::Completion(number));
    }

    fn add(&mut self, note: &Note, kind: Kind) {
        let mark = Mark::new(note.time, kind, note.pieces);
        self.list.push(if let Noted::Enter(row) = note.what { mark.entering(row) } else { mark });
        self.positions.push(note.position);
        self.calls.push(0);
    }

    /// The mark from which on there is work up to this one; this one itself, if it is the end of none.
    fn begin_of_work(&self, mark: usize) -> Mark {
        let behind = self.list[mark];
        let before = mark.checked_sub(1).map(|before| self.list[before]);
        before.filter(|_| behind.kind() == Kind::Work).unwrap_or(behind)
    }

    /// What the rows have of the time before a mark, if the mark is the end of some work.
    pub(super) fn rows_before(&self, mark: usize) -> impl Iterator<Item = (Row, Ticks)> {
        self.pieces.pieces(self.begin_of_work(mark).pieces..self.list[mark].pieces)
    }

    /// The pieces of time before a mark that is the end of some work.
    pub(super) fn pieces_of(&self, mark: usize) -> impl Iterator<Item = Piece> {
        let mut rest = self.list[mark].time - self.begin_of_work(mark).time;
        let in_rows = self.rows_before(mark).filter(|&(_, ticks)| ticks != 0);
        // What the rows do not have is outside of any region.
        in_rows
            .map(Some)
            .chain([None])
            .map(move |piece| match piece {
                Some((row, ticks)) => {
                    rest = rest.saturating_sub(ticks);
                    Piece { row, ticks }
                }
                None => Piece { row: Row::NONE, ticks: rest },
            })
            .filter(|piece| piece.ticks != 0)
    }

    /// The time of the mark before a completion: its enter.
    pub(super) fn enter(&self, completion: &Completion) -> Ticks {
        self.list[completion.mark as usize - 1].time
    }

    /// The last enter of an outermost call of MPI at or before a position of the journal: that of the call with the event there.
    pub(super) fn call_at(&self, position: JournalPosition) -> Option<u32> {
        self.call_before(self.positions.partition_point(|&of| of <= position))
    }

    /// The same, searched from where the last one was found on.
    pub(super) fn call_near(&mut self, position: JournalPosition) -> Option<u32> {
        self.found = partition_point_near(&self.positions, self.found, |&of| of <= position);
        self.call_before(self.found)
    }

    fn call_before(&self, behind: usize) -> Option<u32> {
        (0..behind).rev().find(|&at| self.list[at].is_call()).map(to_u32)
    }

    /// The marks with places in the journal from `since`, or from the begin, until `before`.
    pub(super) fn between(
        &self,
        since: Option<JournalPosition>,
        before: JournalPosition,
    ) -> std::ops::Range<usize> {
        let behind = |position| self.positions.partition_point(|&of| of <= position);
        since.map_or(0, behind)..behind(before)
    }

    /// The event of threads that a mark is, if it is one.
    pub(super) fn event_of_threads(&self, mark: u32) -> Option<Noted> {
        let found = self.threads.binary_search_by_key(&mark, |&(_, mark)| mark);
        found.ok().map(|at| self.threads[at].0)
    }

    /// When the call was left that a mark enters; `None` if it enters none.
    pub(super) fn left(&self, mark: u32) -> Option<Ticks> {
        let enter = self.list[mark as usize];
        enter.is_call().then(|| enter.time + self.calls.get(mark))
    }

    /// The completion of the call that the mark enters, if it completes something.
    pub(super) fn completion_of(&self, enter: u32) -> Option<u32> {
        match self.list.get(enter as usize + 1)?.kind() {
            Kind::Completion(at) if self.list[enter as usize].is_call() => Some(at),
            _ => None,
        }
    }

    /// The first call of MPI that is left behind a time: its mark.
    pub(super) fn call_left_behind(&self, time: Ticks) -> Option<u32> {
        let first = self.list.partition_point(|mark| mark.time <= time);
        // The call that goes on at that time began before.
        let from = self.call_before(first).unwrap_or(0);
        (from..to_u32(self.list.len())).find(|&at| self.left(at).is_some_and(|left| left > time))
    }

    /// The marks between the end of `MPI_Init` and the begin of `MPI_Finalize`, with the latter.
    pub(super) fn inside(&self) -> std::ops::Range<usize> {
        let first = self.begin.map_or(1, |begin| begin as usize + 1);
        let end = self.end.map_or(self.list.len(), |end| end as usize + 1);
        first.min(end)..end
    }
}

fn is_of(row: Row, classes: &[RowClass], class: RowClass) -> bool {
    classes.get(row.index()) == Some(&class)
}
