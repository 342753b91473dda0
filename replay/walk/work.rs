//! Work of the main thread: its time outside of MPI and of the runtime of threads, between the end of `MPI_Init` and the begin of
//! `MPI_Finalize` (what-if 5.1).
//!
//! Nothing is done for each event: the times of all rows are looked at twice, at these two events.

use model::Ticks;

use super::counters::Counters;
use super::process::ProcessWalk;
use super::thread::{Account, Thread};
use crate::operations::TeamEventKind;
use crate::what_if::RowClass;

/// The work of a process's main thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MainThreadWork {
    /// The first end of `MPI_Init` in the process.
    pub initialized: Option<Ticks>,
    /// The first begin of `MPI_Finalize` in it.
    pub finalized: Option<Ticks>,
    /// Its first record.
    pub first: Ticks,
    /// Its last record.
    pub last: Ticks,
    /// Its work, in ticks.
    pub work: Ticks,
    /// Instructions and cycles of this work; `None` of what the trace does not count.
    pub counts: [Option<u64>; 2],
}

/// What was spent until an event, by row.
#[derive(Debug)]
struct Snapshot {
    time: Ticks,
    rows: Vec<Ticks>,
    runtime: Ticks,
    counters: Option<Box<Counters>>,
}

/// What the work of the main thread is computed from.
#[derive(Debug, Default)]
pub(super) struct MainThread {
    initialized: Option<Snapshot>,
    finalized: Option<Snapshot>,
    /// Time from forks to the begin of the main thread in the team, and from its end there to the join: regions of the program have
    /// it as theirs.
    runtime: Ticks,
    /// When that began.
    since: Option<Ticks>,
    /// What its counters have counted, if the trace has any.
    pub(super) counters: Option<Box<Counters>>,
}

impl MainThread {
    /// Notes an event of a team of the main thread.
    pub(super) fn team(&mut self, kind: TeamEventKind, time: Ticks) {
        match (kind, self.since.take()) {
            (TeamEventKind::Fork | TeamEventKind::End, _) => self.since = Some(time),
            (TeamEventKind::Begin | TeamEventKind::Join, Some(since)) => {
                self.runtime = self.runtime.saturating_add((time - since).max(0));
            }
            _ => {}
        }
    }

    fn snapshot(&self, thread: &Thread, time: Ticks) -> Snapshot {
        let rows = thread.accounts.iter().map(Account::time).collect();
        Snapshot { time, rows, runtime: self.runtime, counters: self.counters.clone() }
    }
}

impl ProcessWalk<'_> {
    /// Notes that `MPI_Init` was left.
    pub(super) fn begin_work(&mut self, time: Ticks) {
        self.main.initialized = self.threads.first().map(|thread| self.main.snapshot(thread, time));
    }

    /// Notes that `MPI_Finalize` was entered; the time so far was accounted for.
    pub(super) fn end_work(&mut self, time: Ticks) {
        if self.main.finalized.is_none() {
            self.main.finalized = self.threads.first().map(|thread| self.main.snapshot(thread, time));
        }
    }

    /// The work of the main thread, once all regions are closed and before its accounts become severities. `None` if it has not run, or
    /// its work is not known: events are lost, recording was off meanwhile, or only a part of the run counts.
    pub(super) fn main_thread_work(&mut self) -> Option<MainThreadWork> {
        let thread = self.threads.first()?;
        let off = thread.at_finalize.unwrap_or(thread.elapsed).off;
        let is_whole = !thread.is_lost && off == 0 && thread.windows.is_none();
        if !is_whole || thread.begin == Ticks::MIN || !self.trace.semantics.replays_all_of_mpi() {
            return None;
        }
        let (first, last) = (thread.begin, thread.now);
        let begin = self.main.initialized.take();
        let end = self.main.finalized.take();
        let (initialized, finalized) = (begin.as_ref().map(|it| it.time), end.as_ref().map(|it| it.time));
        let end = end.unwrap_or_else(|| self.main.snapshot(thread, last));
        let classes = RowClass::of_paths(self.trace, self.tree.paths());
        let rows = thread.severities.paths();
        let is_work = |row: usize| rows.get(row).is_some_and(|path| classes[path.index()].is_work());
        let (from, runtime) = begin.as_ref().map_or((first, 0), |begin| (begin.time, begin.runtime));
        let mut work = end.time.saturating_sub(from).saturating_sub(end.runtime - runtime);
        // Time outside of all regions is work, too.
        for (row, ticks) in end.rows.iter().enumerate().filter(|&(row, _)| !is_work(row)) {
            let before = begin.as_ref().and_then(|begin| begin.rows.get(row)).copied().unwrap_or(0);
            work = work.saturating_sub(ticks.saturating_sub(before));
        }
        let none = Counters::default();
        let before = begin.as_ref().map(|begin| begin.counters.as_deref().unwrap_or(&none));
        let counts = end.counters.as_ref().map_or([None; 2], |counters| counters.since(before, is_work));
        Some(MainThreadWork { initialized, finalized, first, last, work: work.max(0), counts })
    }
}
