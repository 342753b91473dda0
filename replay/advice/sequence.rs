//! Calls of MPI of a process in the order of each thread: which one comes before another, and the time in between.

use std::iter::Peekable;
use std::vec::IntoIter;

use model::Ticks;
use rules::ABSENT;

use crate::communicators::Participants;
use crate::ids::{CallId, PathId, ReportPath};
use crate::operations::Operations;
use crate::report_paths::ReportPaths;
use crate::tools::Tools;

/// A process as rows of its operations see it.
#[derive(Clone, Copy, Debug)]
pub(super) struct OfProcess<'p> {
    /// Its position in the trace, and its rank, or [`ABSENT`].
    pub process: usize,
    pub rank: i64,
    pub operations: &'p Operations,
    pub sequence: &'p Sequence,
    /// The call paths of the report, and those by the process's.
    pub paths: &'p ReportPaths,
    pub numbers: &'p [ReportPath],
}

impl OfProcess<'_> {
    /// The call path of a call of MPI, and its region; `None` of others.
    pub(super) fn site(&self, call: CallId) -> Option<(ReportPath, u32)> {
        let site = self.operations.site(call);
        let path = self.path(site.path).filter(|_| site.is_mpi)?;
        Some((path, self.paths.region(path)))
    }

    /// A call path of the process in the report; `None` if it is not there.
    pub(super) fn path(&self, path: PathId) -> Option<ReportPath> {
        self.numbers.get(path.index()).copied().filter(|path| !path.is_none())
    }

    /// The region of a call of MPI, if there is such a call.
    pub(super) fn region(&self, call: CallId) -> Option<u32> {
        self.operations.calls.find(call).and_then(|_| self.site(call)).map(|(_, region)| region)
    }
}

/// For each call of a process the one before it and the one behind it on its thread.
#[derive(Debug)]
pub(super) struct Sequence {
    before: Vec<CallId>,
    next: Vec<CallId>,
}

impl Sequence {
    /// Of all calls of a process.
    pub(super) fn new(operations: &Operations) -> Sequence {
        let calls = &operations.calls;
        let mut next = vec![CallId::NONE; calls.len()];
        let first = calls.sites().iter().map(|site| site.location).min().unwrap_or(0);
        let mut last = Vec::new();
        let before = (0..calls.len()).map(CallId::new).map(|call| {
            let thread = (calls.site_of(call).location - first) as usize;
            if thread >= last.len() {
                last.resize(thread + 1, CallId::NONE);
            }
            let before = std::mem::replace(&mut last[thread], call);
            if let Some(next) = next.get_mut(before.index()) {
                *next = call;
            }
            before
        });
        let before = before.collect();
        Sequence { before, next }
    }

    /// The call before another one on its thread; [`CallId::NONE`] for the first.
    pub(super) fn before(&self, call: CallId) -> CallId {
        self.before.get(call.index()).copied().unwrap_or(CallId::NONE)
    }

    /// The call behind another one on its thread; [`CallId::NONE`] for the last.
    pub(super) fn behind(&self, call: CallId) -> CallId {
        self.next.get(call.index()).copied().unwrap_or(CallId::NONE)
    }

    /// Ticks from the end of the call before to the begin of this one; `None` for the first.
    pub(super) fn gap(&self, operations: &Operations, call: CallId) -> Option<Ticks> {
        let before = operations.calls.find(self.before(call))?;
        Some((operations.call(call).interval.enter - before.interval.leave).max(0))
    }

    /// Ticks from the end of a call to the begin of the next one; `None` for the last.
    pub(super) fn gap_behind(&self, operations: &Operations, call: CallId) -> Option<Ticks> {
        self.gap(operations, self.behind(call))
    }
}

/// The rank of a process, or [`ABSENT`].
pub(super) fn rank_of(tools: &Tools<'_>, process: usize) -> i64 {
    tools.trace.processes[process].rank.map_or(ABSENT, i64::from)
}

/// A length as rules have it.
pub(super) fn whole(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// Waiting of messages, by their positions, in the order of these.
pub(super) fn in_order(waits: &[(u32, Ticks)]) -> Peekable<IntoIter<(u32, Ticks)>> {
    let mut waits = waits.to_vec();
    waits.sort_unstable();
    waits.into_iter().peekable()
}

/// How many members a communicator has; [`ABSENT`] of those with two sides, and of those that are not known.
pub(super) fn members(tools: &Tools<'_>, communicator: u32) -> i64 {
    match tools.trace.communicators.get(communicator as usize) {
        Some(Participants::Ranks(ranks)) => ranks.len() as i64,
        _ => ABSENT,
    }
}
