//! Runs: events that enter and leave regions, one after the other, as most events of most traces do.
//!
//! What they need of a process is at hand for as long as a run lasts. Whatever is unusual ends it before anything has
//! happened, and the general way goes on: new call paths, regions that mean more than time in a call, regions that are
//! not the innermost, the outermost one, times that go backwards.

use model::Ticks;

use super::process::{ProcessWalk, close_call};
use super::stack::Frame;
use super::thread::{Account, Numbering, Thread};
use crate::call_tree::{CallTree, NO_SITE, PathId};
use crate::coverage::Coverage;
use crate::journal::Journal;
use crate::operations::{NO_CALL, Operations};
use crate::severity::{Row, Severities};
use crate::trace::{RegionKind, Trace};

/// A region that a run may meet.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlainRegion {
    /// Its position in the definitions.
    pub(super) position: u32,
    is_mpi: bool,
}

impl PlainRegion {
    /// The region at a position; `None` if it means more than time in a call.
    pub(super) fn new(position: u32, kind: &RegionKind) -> Option<PlainRegion> {
        (!kind.is_special()).then_some(PlainRegion { position, is_mpi: kind.is_mpi })
    }
}

/// A run of a thread.
#[derive(Debug)]
pub(super) struct Run<'r> {
    trace: &'r Trace,
    tree: &'r CallTree,
    severities: &'r Severities,
    operations: &'r mut Operations,
    coverage: &'r mut Coverage,
    time: TimeSheet<'r>,
    frames: &'r mut [Frame],
    /// How many frames are open, and how many of them are MPI calls.
    depth: usize,
    mpi_depth: u32,
    /// Path and row of the innermost frame.
    path: PathId,
    row: Row,
    /// Time in MPI so far.
    mpi: Ticks,
}

/// Gives time to rows.
#[derive(Debug)]
struct TimeSheet<'r> {
    accounts: &'r mut [Account],
    journal: Option<&'r mut Journal>,
    /// The time of the last event, and the time up to which time was given away.
    now: Ticks,
    accounted: Ticks,
}

/// What a run has changed about its thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    depth: usize,
    mpi_depth: u32,
    now: Ticks,
    accounted: Ticks,
    mpi: Ticks,
}

impl<'r> Run<'r> {
    /// Begins, if nothing is unusual about the thread.
    #[inline(always)]
    pub(super) fn new(state: &'r mut ProcessWalk<'_>, thread: usize) -> Option<Run<'r>> {
        let thread = state.threads.get_mut(thread)?;
        let innermost = thread.stack.last().filter(|_| thread.stack.foreign == 0)?;
        let (path, row) = (innermost.path, innermost.row);
        Some(Run {
            trace: state.trace,
            tree: &state.tree,
            severities: &thread.severities,
            operations: &mut state.operations,
            coverage: &mut state.coverage,
            time: TimeSheet {
                accounts: &mut thread.accounts,
                journal: match &mut thread.numbering {
                    Numbering::Nothing => None,
                    Numbering::Journal(journal) => Some(journal),
                    Numbering::Records(_) => return None,
                },
                now: thread.now,
                accounted: Some(thread.accounted).filter(|&time| time != Ticks::MIN)?,
            },
            depth: thread.stack.len(),
            mpi_depth: thread.stack.mpi_depth,
            frames: thread.stack.shallow(),
            path,
            row,
            mpi: 0,
        })
    }

    /// Enters a region; answers whether it has.
    #[inline(always)]
    pub(super) fn enter(&mut self, region: PlainRegion, time: Ticks) -> bool {
        let PlainRegion { position: region, is_mpi } = region;
        let Some(path) = self.tree.find(self.path, region, NO_SITE) else { return false };
        let Some(row) = self.severities.find_row(path) else { return false };
        let Some(frame) = self.frames.get_mut(self.depth) else { return false };
        if !self.time.turn(self.row, time, Some(row)) {
            return false;
        }
        *frame = Frame::new(path, row, region, time);
        self.depth += 1;
        self.mpi_depth += u32::from(is_mpi);
        (self.path, self.row) = (path, row);
        true
    }

    /// Leaves a region; answers whether it has.
    #[inline(always)]
    pub(super) fn leave(&mut self, region: PlainRegion, time: Ticks) -> bool {
        let PlainRegion { position: region, is_mpi } = region;
        let Some([.., outer, frame]) = self.frames.get_mut(..self.depth) else { return false };
        if frame.region != region || !self.time.turn(self.row, time, None) {
            return false;
        }
        outer.inner_leave = true;
        self.depth -= 1;
        (self.path, self.row) = (outer.path, outer.row);
        if is_mpi || frame.call != NO_CALL {
            self.mpi_depth -= u32::from(is_mpi);
            let is_outermost = is_mpi && self.mpi_depth == 0;
            if is_outermost {
                self.mpi += time - frame.enter;
            }
            close_call(frame, is_outermost, time, self.trace, self.operations, self.coverage);
        }
        true
    }

    /// Ends.
    #[inline(always)]
    pub(super) fn end(self) -> Outcome {
        let Run { depth, mpi_depth, mpi, time: TimeSheet { now, accounted, .. }, .. } = self;
        Outcome { depth, mpi_depth, now, accounted, mpi }
    }
}

impl TimeSheet<'_> {
    /// Gives the time that has passed to a row, and counts a visit to another one; answers whether it has.
    #[inline(always)]
    fn turn(&mut self, row: Row, time: Ticks, visited: Option<Row>) -> bool {
        let last = row.max(visited.unwrap_or(0)) as usize;
        if time < self.now || last >= self.accounts.len() {
            return false;
        }
        let ticks = time - self.accounted;
        self.accounts[row as usize].spend(ticks);
        if let Some(journal) = &mut self.journal {
            journal.spend(row, ticks);
        }
        if let Some(visited) = visited {
            self.accounts[visited as usize].visits += 1;
        }
        (self.now, self.accounted) = (time, time);
        true
    }
}

impl Thread {
    /// Takes over what a run has changed.
    #[inline(always)]
    pub(super) fn end_run(&mut self, outcome: Outcome) {
        let Outcome { depth, mpi_depth, now, accounted, mpi } = outcome;
        self.stack.set_depth(depth, mpi_depth);
        self.elapsed.time = self.elapsed.time.saturating_add(accounted - self.accounted);
        self.elapsed.mpi += mpi;
        (self.now, self.accounted) = (now, accounted);
    }
}
