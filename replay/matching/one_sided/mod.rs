//! Matching of one-sided communication: epochs of origins with those of targets, accesses with the fences of their targets, and
//! locks in the order in which they were held (rest of MPI 8.1).
//!
//! | file | content |
//! |---|---|
//! | `active` | access epochs and exposure epochs, accesses between fences |
//! | `passive` | locks |

mod active;
mod passive;

use model::Ticks;

use super::{Awaitable, Matches};
use crate::error::Error;
use crate::exchange::Exchange;
use crate::findings::Findings;
use crate::ids::CallId;
use crate::journal::EventSpot;
use crate::operations::Step;
use crate::tools::Tools;
use crate::trace::Trace;
use crate::walk::Walked;
use crate::wire::wire;

pub(crate) use active::find as match_epochs;
pub(super) use passive::{TargetCall, question_progress, receive_progress};

/// Partners of a process's one-sided communication; positions as in its [`OneSided`](crate::operations::OneSided).
#[derive(Clone, Debug, Default)]
pub struct OneSidedMatches {
    /// For each access epoch, the targets in the order of their group, each with its post if there is one.
    pub posts: Vec<Vec<(u32, Option<Awaitable>)>>,
    /// For each exposure epoch, the origins in the order of their group, each with its epoch if there is one.
    pub origins: Vec<Vec<(u32, Option<OriginEpoch>)>>,
    /// Accesses of others to the memory of this process, sorted by window, number of fences before, and origin.
    pub accessed: Vec<Accessed>,
    /// Calls that wait for another rank to release a lock, one for each call.
    pub locks: Vec<LockWait>,
    /// Calls of lock epochs during which a target comes back to MPI, one for each call.
    pub returns: Vec<TargetReturn>,
}

/// What a target needs to know of an access epoch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OriginEpoch {
    /// Its end, if it has one.
    pub complete: Option<Awaitable>,
    /// Entering the call that ends it, where records are numbered or journals are made.
    pub entered: Option<EventSpot>,
    /// End of the last call in it that accesses the target.
    pub accessed: Option<Ticks>,
}

wire!(OriginEpoch { complete, entered, accessed });

/// Accesses of a process to the memory of another one between two fences of a window.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Accessed {
    /// The window.
    pub window: u32,
    /// The number of fences before.
    pub fences: u32,
    /// The process that accesses.
    pub origin: u32,
    /// End of the last call that does.
    pub leave: Ticks,
}

wire!(Accessed { [window, fences], origin, leave });

/// A call that waits for another rank to release a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LockWait {
    /// The event that waits.
    pub step: Step,
    /// Whether the call is an access.
    pub is_access: bool,
    /// The window.
    pub window: u32,
    /// The process that has the lock before.
    pub holder: u32,
    /// The event with which that process has asked for it.
    pub requested: EventSpot,
    /// Its release.
    pub released: Awaitable,
}

/// A call of a lock epoch during which a target that was outside of MPI comes back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TargetReturn {
    /// The event that waits.
    pub step: Step,
    /// Whether the call is an access.
    pub is_access: bool,
    /// The window.
    pub window: u32,
    /// Since when the call waits for nothing else.
    pub since: Ticks,
    /// The target.
    pub target: u32,
    /// Entering the call with which it comes back.
    pub returned: Awaitable,
}

/// How many bytes this takes at most for a process.
pub(super) fn bytes_needed(trace: &Trace, walked: &Walked) -> u64 {
    active::bytes_needed(trace, walked) + passive::bytes_needed(walked)
}

/// Matches all one-sided communication of these processes, but for what depends on when targets were in MPI.
///
/// # Errors
/// If a worker failed, or memory gets short.
pub(super) fn find(
    tools: &Tools<'_>,
    processes: &[Walked],
    matches: &mut [Matches],
    findings: &mut Findings,
    exchange: &mut dyn Exchange,
) -> Result<(), Error> {
    active::find(tools, processes, matches, findings, exchange)?;
    passive::find(tools, processes, matches, exchange)
}

/// Keeps the best of each call, in the order of calls; the best comes first.
fn keep_best<T>(
    all: &mut Vec<T>,
    call: impl Fn(&T) -> CallId,
    mut order: impl FnMut(&T, &T) -> std::cmp::Ordering,
) {
    all.sort_by(|a, b| call(a).cmp(&call(b)).then_with(|| order(a, b)));
    all.dedup_by_key(|it| call(it));
}
