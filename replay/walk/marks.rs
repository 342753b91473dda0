//! Notes of the events between which the what-if replay takes durations (what-if 2.1): calls of MPI, and what threads wait for.

use model::{Paradigm, RegionRole, Ticks};

use super::process::ProcessWalk;
use super::stack::{Frame, NONE};
use super::thread::{Numbering, Thread};
use crate::ids::{JournalPosition, Row};
use crate::journal::Journal;
use crate::operations::TeamEventKind;

/// An event of a location, in the order of its events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Note {
    /// Its time.
    pub time: Ticks,
    /// Time before it lies in front of this position of the journal.
    pub position: JournalPosition,
    /// Time before it lies in front of this position among the pieces of time between notes.
    pub pieces: JournalPosition,
    /// What happened.
    pub what: Noted,
}

/// Kind of a noted event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Noted {
    /// The first record of the location.
    Begin,
    /// An outermost call of MPI was entered, whose call path has this row.
    Enter(Row),
    /// It was left.
    Leave,
    /// An event of the team with this number.
    Team(TeamEventKind, u32),
    /// A barrier of threads was entered: its position among the visits to barriers.
    EnterBarrier(u32),
    /// It was left.
    LeaveBarrier(u32),
    /// A critical section was entered, in which the thread may wait for others.
    EnterCritical,
    /// A lock was acquired: paradigm, number of the lock, number of the acquisition.
    Acquire(LockTurn),
    /// A lock was released.
    Release(LockTurn),
    /// The last record of the location.
    End,
}

/// An acquisition of a lock, or its release: paradigm and number of the lock, number of the acquisition.
pub type LockTurn = (u8, u32, u32);

/// What a thread notes, and pieces of time between these events. The journal has other ones: it knows no more than what lies between
/// its own marks, and must not depend on what is noted.
#[derive(Debug, Default)]
pub(super) struct NotedEvents {
    pub(super) notes: Vec<Note>,
    pub(super) pieces: Journal,
}

impl Thread {
    /// Notes an event; the time so far was accounted for.
    pub(super) fn note(&mut self, what: Noted, time: Ticks) {
        let Thread { noted: Some(noted), numbering, .. } = self else { return };
        let NotedEvents { notes, pieces } = &mut **noted;
        let position = match numbering {
            Numbering::Journal(journal) => journal.len(),
            Numbering::Pieces(pieces) => JournalPosition::new(pieces.list.len()),
            Numbering::Nothing | Numbering::Records(_) | Numbering::Calls(_) => return,
        };
        pieces.close();
        let pieces = pieces.len();
        let is_first = notes.is_empty();
        if is_first {
            notes.push(Note { time, position, pieces, what: Noted::Begin });
        }
        // Clocks of threads may go backwards.
        let time = notes.last().map_or(time, |last| time.max(last.time));
        notes.push(Note { time, position, pieces, what });
    }

    /// Notes the last record, behind all of the journal.
    pub(super) fn note_end(&mut self, position: JournalPosition) {
        let now = self.now;
        if let Some(NotedEvents { notes, pieces }) = self.noted.as_deref_mut()
            && !notes.is_empty()
        {
            let pieces = pieces.len();
            let time = notes.last().map_or(now, |last| now.max(last.time));
            notes.push(Note { time, position, pieces, what: Noted::End });
        }
    }

    /// Notes the first record.
    pub(super) fn note_begin(&mut self, time: Ticks) {
        if let Some(NotedEvents { notes, .. }) = self.noted.as_deref_mut()
            && notes.is_empty()
        {
            let position = JournalPosition::default();
            notes.push(Note { time, position, pieces: position, what: Noted::Begin });
        }
    }
}

impl ProcessWalk<'_> {
    /// Notes that a region was entered, if it is one that waits: an outermost call of MPI, a visit to a barrier, or a critical
    /// section.
    pub(super) fn note_enter(&mut self, thread: usize, region: u32, barrier: u32, time: Ticks) {
        let Some(kind) = self.trace.kinds.get(region as usize) else { return };
        if kind.ends_phase_path && thread == 0 {
            self.note_border(self.threads[0].stack.path(), true, time);
        }
        let state = &mut self.threads[thread];
        let is_critical = || {
            let region = &self.trace.definitions.regions[region as usize];
            region.paradigm == Paradigm::OPENMP && region.role == RegionRole::CRITICAL
        };
        match (state.stack.mpi_depth, state.stack.last()) {
            (1, Some(&Frame { row, .. })) if kind.is_mpi => state.note(Noted::Enter(row), time),
            (0, _) if barrier != NONE => state.note(Noted::EnterBarrier(barrier), time),
            (0, _) if is_critical() => state.note(Noted::EnterCritical, time),
            _ => {}
        }
    }

    /// Notes an event of threads. Inside of a call of MPI there is none: its time is that of the call.
    pub(super) fn note_threads(&mut self, thread: usize, what: Noted, time: Ticks) {
        let state = &mut self.threads[thread];
        if state.stack.mpi_depth > 0 || state.noted.is_none() {
            return;
        }
        // Locks are acquired and released within a region: what lies before is not behind. Of a region that was sampled it is not known whether the time was spent there.
        let is_within = state.stack.last().is_some_and(|frame| frame.context == NONE);
        if is_within && matches!(what, Noted::Acquire(_) | Noted::Release(_)) {
            state.account_innermost(time);
        }
        state.note(what, time);
    }
}
