//! The timed graph of a location: its marks in the order of time, and the pieces of exclusive time between them (what-if 2.1).

use model::Ticks;

use super::classes::RowClass;
use super::completing::Completes;
use super::near::partition_point_near;
use super::polls::{Polling, Polls};
use crate::ids::{JournalPosition, Row};
use crate::int::to_u32;
use crate::journal::Journal;
use crate::operations::TeamEventKind;
use crate::walk::{Border, Note, Noted};

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

/// A mark.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Mark {
    /// Measured.
    pub time: Ticks,
    /// Where its replayed time comes from.
    pub kind: Kind,
    /// Behind its pieces in [`Marks::pieces`].
    pub pieces_end: u32,
    /// Its place in the journal of the location.
    pub position: JournalPosition,
    /// Its place among the pieces of time between notes.
    pub pieces: JournalPosition,
    /// Of the enter of an outermost call of MPI: when the call was left; [`Ticks::MIN`] of others.
    pub left: Ticks,
}

/// Exclusive time of a row since the mark before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Piece {
    /// [`Row::NONE`] for time outside of any region.
    pub row: Row,
    /// Ticks; negative where more time was accounted to rows than passed, as may be where teams begin.
    pub ticks: Ticks,
}

/// A call, or an event of threads, that completes something (what-if 2.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Completion {
    /// Its mark. The mark before is its enter.
    pub mark: u32,
    /// What was noted: the leave of a call of MPI, or an event of threads.
    pub what: Noted,
    /// The row of its call; [`Row::NONE`] of events of threads.
    pub row: Row,
    /// The overhead: it takes so many ticks from its enter at least.
    pub overhead: Ticks,
    /// The rest: so many ticks after all else is over.
    pub rest: Ticks,
    /// Its waiting is not modelled: it takes as long as it did.
    pub is_kept: bool,
    /// It ends an operation of many members.
    pub is_of_many: bool,
    /// These are all processes of the trace.
    pub is_of_all: bool,
    /// It completes messages.
    pub completes_messages: bool,
    /// As the fits have it: the overhead of a call that completes messages; the median of its function for others.
    pub fitted: Ticks,
}

/// The marks of a location.
#[derive(Clone, Debug, Default)]
pub(super) struct Marks {
    /// In the order of time.
    pub list: Vec<Mark>,
    /// By mark.
    pub pieces: Vec<Piece>,
    /// By mark: the row of the call that it enters, or [`Row::NONE`].
    pub rows: Vec<Row>,
    /// In the order of their marks.
    pub completions: Vec<Completion>,
    /// The leave of `MPI_Init`.
    pub begin: Option<u32>,
    /// The enter of `MPI_Finalize`.
    pub end: Option<u32>,
    /// Events of threads: what it was, and its mark.
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
        noted: &Journal,
        classes: &[RowClass],
        borders: &[Border],
    ) -> Marks {
        let mut marks = Marks::default();
        marks.list.reserve_exact(notes.len());
        marks.rows.reserve_exact(notes.len());
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
                Noted::Begin => marks.add(note, Kind::Fixed, noted),
                Noted::Enter(row) => {
                    call = row;
                    if is_of(row, classes, RowClass::Finalize) {
                        marks.end = Some(to_u32(marks.list.len()));
                    }
                    marks.add(note, Kind::Work, noted);
                }
                Noted::Leave => {
                    if let Some(enter) = marks.list.last_mut() {
                        enter.left = note.time;
                    }
                    if is_of(call, classes, RowClass::Init) {
                        marks.begin = Some(to_u32(marks.list.len()));
                        marks.add(note, Kind::Fixed, noted);
                    } else if completes != Completes::Nothing {
                        marks.complete(note, call, noted);
                    }
                }
                Noted::Team(kind, _) => {
                    marks.threads.push((note.what, to_u32(marks.list.len())));
                    match kind {
                        TeamEventKind::Fork | TeamEventKind::End => marks.add(note, Kind::Work, noted),
                        TeamEventKind::Begin | TeamEventKind::Join => {
                            marks.complete(note, Row::NONE, noted);
                        }
                    }
                }
                Noted::LeaveBarrier(_) | Noted::Acquire(_) => {
                    marks.threads.push((note.what, to_u32(marks.list.len())));
                    marks.complete(note, Row::NONE, noted);
                }
                Noted::EnterBarrier(_) | Noted::EnterCritical | Noted::Release(_) => {
                    marks.threads.push((note.what, to_u32(marks.list.len())));
                    marks.add(note, Kind::Work, noted);
                }
                Noted::End => marks.add(note, Kind::Work, noted),
            }
        }
        marks.borders.extend(borders.map(|_| to_u32(marks.list.len().saturating_sub(1))));
        marks.list.shrink_to_fit();
        marks.rows.shrink_to_fit();
        marks.pieces.shrink_to_fit();
        marks.completions.shrink_to_fit();
        // What lies before the end of MPI_Init is as it was.
        for mark in &mut marks.list[..marks.begin.unwrap_or(0) as usize] {
            mark.kind = Kind::Fixed;
        }
        marks
    }

    /// No marks, but the same completions.
    pub(super) fn anew(&self) -> Marks {
        Marks { completions: self.completions.clone(), ..Marks::default() }
    }

    /// Forgets all marks behind one.
    pub(super) fn cut_behind(&mut self, mark: usize) {
        self.pieces.truncate(self.list[mark].pieces_end as usize);
        self.list.truncate(mark + 1);
        self.rows.truncate(mark + 1);
    }

    fn complete(&mut self, note: &Note, row: Row, noted: &Journal) {
        let at = to_u32(self.completions.len());
        self.completions.push(Completion {
            mark: to_u32(self.list.len()),
            what: note.what,
            row,
            overhead: 0,
            rest: 0,
            is_kept: false,
            is_of_many: false,
            is_of_all: false,
            completes_messages: false,
            fitted: 0,
        });
        self.add(note, Kind::Completion(at), noted);
    }

    fn add(&mut self, note: &Note, kind: Kind, noted: &Journal) {
        if let (Kind::Work, Some(&before)) = (kind, self.list.last()) {
            let first = self.pieces.len();
            let pieces = noted.pieces(before.pieces..note.pieces);
            self.pieces
                .extend(pieces.filter(|&(_, ticks)| ticks != 0).map(|(row, ticks)| Piece { row, ticks }));
            let known =
                self.pieces[first..].iter().fold(0, |sum: Ticks, piece| sum.saturating_add(piece.ticks));
            let ticks = (note.time - before.time).saturating_sub(known);
            if ticks != 0 {
                self.pieces.push(Piece { row: Row::NONE, ticks });
            }
        }
        self.rows.push(if let Noted::Enter(row) = note.what { row } else { Row::NONE });
        let (time, position) = (note.time, note.position);
        self.list.push(Mark {
            time,
            kind,
            pieces_end: to_u32(self.pieces.len()),
            position,
            pieces: note.pieces,
            left: Ticks::MIN,
        });
    }

    /// The pieces of a mark.
    pub(super) fn pieces_of(&self, mark: usize) -> &[Piece] {
        let begin = mark.checked_sub(1).map_or(0, |before| self.list[before].pieces_end);
        &self.pieces[begin as usize..self.list[mark].pieces_end as usize]
    }

    /// The time of the mark before a completion: its enter.
    pub(super) fn enter(&self, completion: &Completion) -> Ticks {
        self.list[completion.mark as usize - 1].time
    }

    /// The last enter of an outermost call of MPI at or before a position of the journal: that of the call with the event there.
    pub(super) fn call_at(&self, position: JournalPosition) -> Option<u32> {
        self.call_before(self.list.partition_point(|mark| mark.position <= position))
    }

    /// The same, searched from where the last one was found on.
    pub(super) fn call_near(&mut self, position: JournalPosition) -> Option<u32> {
        self.found = partition_point_near(&self.list, self.found, |mark| mark.position <= position);
        self.call_before(self.found)
    }

    fn call_before(&self, behind: usize) -> Option<u32> {
        (0..behind).rev().find(|&at| self.list[at].left != Ticks::MIN).map(to_u32)
    }

    /// The completion of the call that the mark enters, if it completes something.
    pub(super) fn completion_of(&self, enter: u32) -> Option<u32> {
        match self.list.get(enter as usize + 1)?.kind {
            Kind::Completion(at) if self.list[enter as usize].left != Ticks::MIN => Some(at),
            _ => None,
        }
    }

    /// The first call of MPI that is left behind a time: its mark.
    pub(super) fn call_left_behind(&self, time: Ticks) -> Option<u32> {
        let first = self.list.partition_point(|mark| mark.time <= time);
        // The call that goes on at that time began before.
        let from = (0..first).rev().find(|&at| self.list[at].left != Ticks::MIN).unwrap_or(0);
        (from..self.list.len()).find(|&at| self.list[at].left > time).map(to_u32)
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
