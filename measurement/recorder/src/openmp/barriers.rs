//! Barriers in parallel regions, and waits for tasks.

use super::{RuntimeCall, enter, here, leave, runtime::Runtime};
use crate::clock;

/// The hook of functions that wait for all threads of the team, or for tasks.
pub(super) fn wait(call: RuntimeCall, _: u64, real: impl FnOnce() -> usize) -> usize {
    let is_entered = begin(call);
    let result = real();
    if is_entered && let Some(mut thread) = here() {
        leave(&mut thread, clock::now(), call.kind);
        thread.events.flush_if_nearly_full();
    }
    result
}

/// Records that a thread comes to a barrier of its team; `false` if that is not recorded. All threads of a team
/// decide alike: it would be a barrier without some of them.
fn begin(call: RuntimeCall) -> bool {
    let Some(mut thread) = here() else { return false };
    let is_of_team = thread.openmp.size > 0 && thread.openmp.nested == 0;
    is_of_team && Runtime::get().is_some_and(|runtime| !runtime.cancels) && enter(&mut thread, call)
}
