//! Runs: sequences of events that only enter and leave regions, as most events of most traces do.
//!
//! Any unusual event ends a run before it changes anything, and is handled in the general way: new call
//! paths, regions that mean more than time in a call, regions that are not the innermost, the outermost one,
//! times that go backwards. With a focus there are no runs.

use std::ops::Range;

use model::Ticks;

use super::process::{ProcessWalk, call_of, close_call};
use super::stack::Frame;
use super::thread::{Numbering, Thread};
use crate::call_tree::{CallTree, NO_SITE};
use crate::coverage::Coverage;
use crate::ids::{CallId, PathId, Row};
use crate::operations::Operations;
use crate::trace::{RegionKind, Trace};

/// A region of a location.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownRegion {
    /// Its position in the definitions.
    pub(super) position: u32,
    /// Whether it means nothing but time in a call, so that runs may contain it.
    pub(super) is_plain: bool,
    /// Whether it is time in which a stream of an accelerator runs nothing.
    pub(super) is_idle: bool,
    is_mpi: bool,
    may_stall: bool,
    makes_progress: bool,
}

impl KnownRegion {
    /// Returns the region at a position.
    pub(super) fn new(position: u32, kind: &RegionKind, is_idle: bool) -> KnownRegion {
        let RegionKind { is_mpi, may_stall, makes_progress, .. } = *kind;
        let is_plain = !kind.is_special();
        KnownRegion { position, is_plain, is_idle, is_mpi, may_stall, makes_progress }
    }
}

/// A run of a thread.
#[derive(Debug)]
pub(super) struct Run<'r> {
    trace: &'r Trace,
    tree: &'r CallTree,
    operations: &'r mut Operations,
    coverage: &'r mut Coverage,
    thread: &'r mut Thread,
    /// The number of the thread in its process.
    number: usize,
    /// The time up to which time was accounted before.
    begin: Ticks,
    /// The time up to which it may go.
    until: Ticks,
    /// Calls that were entered before this time are looked at when they are left.
    from: Ticks,
    /// From this length on, leaving a call that completes messages is an event.
    shortest_rest: Ticks,
    /// Path and row of the innermost frame.
    path: PathId,
    row: Row,
}

impl<'r> Run<'r> {
    /// Starts a run, if nothing is unusual about the thread.
    #[inline(always)]
    pub(super) fn new(state: &'r mut ProcessWalk<'_>, number: usize) -> Option<Run<'r>> {
        let thread = state.threads.get_mut(number)?;
        let &Frame { path, row, .. } = thread.stack.last()?;
        let begin = thread.accounted;
        if thread.windows.is_some() || thread.noted.is_some() {
            return None;
        }
        let Range { start: from, end: until } = match &thread.numbering {
            Numbering::Nothing | Numbering::Journal(_) => Ticks::MIN..Ticks::MAX,
            Numbering::Records(_) | Numbering::Pieces(_) => Ticks::MIN..Ticks::MIN,
            Numbering::Calls(calls) => calls.gap(begin),
        };
        if begin >= until || thread.stack.foreign > 0 || begin == Ticks::MIN {
            return None;
        }
        let (operations, coverage) = (&mut state.operations, &mut state.coverage);
        Some(Run {
            trace: state.trace,
            tree: &state.tree,
            operations,
            coverage,
            thread,
            number,
            begin,
            until,
            from,
            shortest_rest: state.shortest_rest,
            path,
            row,
        })
    }

    /// The time up to which events may belong to the run.
    #[inline(always)]
    pub(super) fn until(&self) -> Ticks {
        self.until
    }

    /// Enters a region; returns whether it has.
    #[inline(always)]
    pub(super) fn enter(&mut self, region: KnownRegion, time: Ticks) -> bool {
        let KnownRegion { position: region, is_mpi, makes_progress, .. } = region;
        let Some(path) = self.tree.find(self.path, region, NO_SITE) else { return false };
        let Some(row) = self.thread.severities.find_row(path) else { return false };
        if !self.turn(time, Some(row)) {
            return false;
        }
        let mut frame = Frame::new(path, row, region, time);
        if makes_progress {
            let (entered, place) = (self.thread.mark(row), (self.number, self.thread.location));
            frame.call = call_of(&frame, place, entered, self.trace, &mut self.operations.calls);
        }
        self.thread.stack.push(frame);
        self.thread.stack.mpi_depth += u32::from(is_mpi);
        (self.path, self.row) = (path, row);
        true
    }

    /// Leaves a region; returns whether it has.
    #[inline(always)]
    pub(super) fn leave(&mut self, region: KnownRegion, time: Ticks) -> bool {
        let KnownRegion { position: region, is_mpi, may_stall, .. } = region;
        let stack = &self.thread.stack;
        let Some(frame) = stack.last().filter(|frame| frame.region == region) else { return false };
        let is_event = may_stall && time - frame.enter >= self.shortest_rest;
        if is_event || frame.enter < self.from || stack.len() <= self.thread.held || !self.turn(time, None) {
            return false;
        }
        let Thread { stack, elapsed, steps, .. } = &mut *self.thread;
        stack.mpi_depth -= u32::from(is_mpi);
        let is_outermost = is_mpi && stack.mpi_depth == 0;
        let mut silent = None;
        if let Some(frame) = stack.pop()
            && (is_mpi || frame.call != CallId::NONE)
        {
            if is_outermost {
                elapsed.mpi += time - frame.enter;
                if let Some(steps) = steps {
                    steps.leave(frame.path, (frame.enter, time), false);
                }
                silent = (frame.call == CallId::NONE).then_some(frame.row);
            }
            let ticks = time - frame.enter;
            close_call(frame, is_outermost, (time, ticks), self.trace, self.operations, self.coverage);
        }
        if let Some(&Frame { path, row, .. }) = stack.last() {
            (self.path, self.row) = (path, row);
        }
        if let Some(row) = silent {
            self.thread.mark_silent_call(row);
        }
        true
    }

    /// Ends the run.
    #[inline(always)]
    pub(super) fn end(self) {
        let Thread { elapsed, accounted, .. } = self.thread;
        elapsed.time = elapsed.time.saturating_add(*accounted - self.begin);
    }

    /// Accounts the time so far to the innermost frame, and counts a visit to a row; returns whether it has.
    #[inline(always)]
    fn turn(&mut self, time: Ticks, visited: Option<Row>) -> bool {
        let Thread { accounts, numbering, timeline, now, accounted, .. } = &mut *self.thread;
        let accounts = accounts.as_mut_slice();
        let last = self.row.max(visited.unwrap_or_default()).index();
        if time < *now || last >= accounts.len() {
            return false;
        }
        let ticks = time - *accounted;
        accounts[self.row.index()].spend(ticks);
        if let Some(timeline) = timeline {
            timeline.spend(self.row, *accounted, ticks);
        }
        if let Numbering::Journal(journal) = numbering {
            journal.spend(self.row, ticks);
        }
        if let Some(visited) = visited {
            accounts[visited.index()].visits += 1;
        }
        (*now, *accounted) = (time, time);
        true
    }
}
