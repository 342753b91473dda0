//! Operations that are kept: those of which all calls lie in windows, on all members.

use std::ops::AddAssign;

use super::windows;
use crate::error::Error;
use crate::exchange::Exchange;
use crate::focus::Windows;
use crate::ids::CallId;
use crate::int::to_u64;
use crate::matching::{self, Said};
use crate::operations::{Operations, WORLD_AT_FINALIZE, WORLD_AT_INIT};
use crate::tools::Tools;
use crate::walk::Walked;
use crate::wire::wire;

/// Of a kind of operations how many parts of members are in windows at least in part, and how many of these are dropped.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Dropped {
    /// Parts in windows.
    pub all: u64,
    /// Those of them that are dropped.
    pub dropped: u64,
}

wire!(Dropped { all, dropped });

impl AddAssign for Dropped {
    fn add_assign(&mut self, other: Dropped) {
        self.all += other.all;
        self.dropped += other.dropped;
    }
}

impl Dropped {
    pub(super) fn count(&mut self, is_kept: bool) {
        self.all += 1;
        self.dropped += u64::from(!is_kept);
    }
}

/// Kinds of operations that are counted.
pub(super) const KINDS: [&str; 5] =
    ["sends", "receives", "collective operations", "one-sided accesses and epochs", "thread teams"];

/// Dropped operations by kind, as in [`KINDS`].
pub(super) type DroppedByKind = [Dropped; KINDS.len()];

/// The calls of a process, and the windows of its locations.
pub(super) struct Calls<'c> {
    pub(super) operations: &'c Operations,
    /// The first location of the process.
    pub(super) first: usize,
    pub(super) windows: &'c [Windows],
}

impl<'c> Calls<'c> {
    pub(super) fn new(walked: &'c Walked, windows: &'c [Windows]) -> Calls<'c> {
        let first = walked.process.locations.first().map_or(0, |it| it.location);
        Calls { operations: &walked.operations, first, windows }
    }

    /// The place of the location of a call among those of the process.
    pub(super) fn thread(&self, call: CallId) -> usize {
        self.operations.site(call).location as usize - self.first
    }

    /// Whether a call is known, and lies in a window.
    pub(super) fn has(&self, call: CallId) -> bool {
        let call = self.operations.calls.find(call);
        call.is_some_and(|call| {
            windows::has(&self.windows[call.site.location as usize - self.first], call.interval)
        })
    }

    /// Whether a call lies in a window at least in part.
    fn touch(&self, call: CallId) -> bool {
        let call = self.operations.calls.find(call);
        call.is_some_and(|call| {
            windows::touch(&self.windows[call.site.location as usize - self.first], call.interval)
        })
    }
}

/// Decides which operations are kept, and counts the others.
///
/// # Errors
/// If the trace has gaps, or a worker failed.
pub(super) fn decide(
    tools: &Tools<'_>,
    processes: &[Walked],
    windows: &[Vec<Windows>],
    exchange: &mut dyn Exchange,
) -> Result<(Vec<Said>, DroppedByKind), Error> {
    for walked in processes {
        let Operations { gap, pause, .. } = &*walked.operations;
        if gap.is_some() || pause.is_some() {
            let name =
                tools.trace.location_name(tools.trace.processes[walked.process.number].locations.start);
            return Err(Error::new(format!(
                "--short needs a trace without gaps, but recording was off, or events are missing, on {name}"
            )));
        }
    }
    tools.memory.check(bytes_needed(processes))?;
    let located = || processes.iter().zip(windows).map(|(walked, windows)| Calls::new(walked, windows));
    let mut said: Vec<Said> = located().map(|calls| wanted(&calls)).collect();
    matching::unanimous(tools, processes, &mut said, exchange)?;
    let mut dropped = DroppedByKind::default();
    for (calls, said) in located().zip(&said) {
        count(&calls, said, &mut dropped);
    }
    Ok((said, dropped))
}

/// Bytes of a message, and of a part in a collective operation, while members tell each other what to keep.
const OF_MESSAGE: u64 = 24;
const OF_PART: u64 = 160;

fn bytes_needed(processes: &[Walked]) -> u64 {
    let of = |walked: &Walked| {
        let Operations { sends, receives, collectives, nonblocking, .. } = &*walked.operations;
        OF_MESSAGE * to_u64(sends.len() + receives.len())
            + OF_PART * to_u64(collectives.len() + nonblocking.len())
    };
    processes.iter().map(of).sum()
}

/// The operations that this process would keep. What is never completed is not kept.
fn wanted(calls: &Calls<'_>) -> Said {
    let Operations { sends, receives, collectives, nonblocking, .. } = calls.operations;
    let has = |call| calls.has(call);
    Said {
        sends: sends
            .iter()
            .map(|send| !send.is_cancelled() && has(send.call) && has(send.completion))
            .collect(),
        receives: receives.iter().map(|receive| has(receive.call) && has(receive.posting)).collect(),
        collectives: collectives
            .iter()
            .map(|it| [WORLD_AT_INIT, WORLD_AT_FINALIZE].contains(&it.communicator) || has(it.call))
            .collect(),
        nonblocking: nonblocking
            .iter()
            .map(|it| has(it.call) && it.done.is_some_and(|done| has(done.call)))
            .collect(),
    }
}

/// Counts the operations in windows.
fn count(calls: &Calls<'_>, said: &Said, dropped: &mut DroppedByKind) {
    let Operations { sends, receives, collectives, nonblocking, .. } = calls.operations;
    let [of_sends, of_receives, of_collectives, ..] = dropped;
    let touch = |call| calls.touch(call);
    for (send, &is_kept) in sends.iter().zip(&said.sends) {
        if touch(send.call) || touch(send.completion) {
            of_sends.count(is_kept);
        }
    }
    for (receive, &is_kept) in receives.iter().zip(&said.receives) {
        if touch(receive.call) || touch(receive.posting) {
            of_receives.count(is_kept);
        }
    }
    for (collective, &is_kept) in collectives.iter().zip(&said.collectives) {
        if touch(collective.call) {
            of_collectives.count(is_kept);
        }
    }
    for (operation, &is_kept) in nonblocking.iter().zip(&said.nonblocking) {
        if touch(operation.call) || operation.done.is_some_and(|done| touch(done.call)) {
            of_collectives.count(is_kept);
        }
    }
}

/// Whether more than one in a hundred of the operations in windows are dropped.
pub(super) fn are_many(dropped: &DroppedByKind) -> bool {
    dropped.iter().any(|it| 100 * it.dropped > it.all)
}

/// Says how many operations of each kind in windows are dropped, of kinds that there are.
pub(super) fn described(dropped: &DroppedByKind) -> String {
    let known = KINDS.iter().zip(dropped).filter(|(_, it)| it.all > 0);
    let parts: Vec<String> = known.map(|(kind, it)| format!("{kind} {} of {}", it.dropped, it.all)).collect();
    if parts.is_empty() { "none".into() } else { parts.join(", ") }
}
