//! Epochs in which the targets take part (MPI 4.0, 12.5.1 and 12.5.2), and the common parts of all calls that
//! complete accesses. As in Score-P, fences and `MPI_Win_complete` complete them at the origin only, but
//! for those that fetch data.

use std::sync::atomic::{AtomicU32, Ordering};

use model::CollectiveOp;
use recording::attributes::{ASSERTION, UINT32};

use crate::call::Call;
use crate::events::Events;
use crate::hooks::windows::{MEMORY, PROCESS};
use crate::pending::{Completion, Reach};
use crate::record;
use crate::volumes::ROOT_NONE;
use crate::windows::{Epochs, NO_GROUP, Window};
use crate::wrappers::Arguments;

/// `MPI_Win_fence`: (assertion, window).
pub(crate) fn fence(
    call: &mut Call,
    arguments: Arguments<2>,
    real: impl FnOnce([usize; 2]) -> usize,
) -> usize {
    let known = call.thread.process.windows.find(arguments.values[1]);
    let Some(window) = known else { return real(arguments.values) };
    let begin = call.begin();
    record::rma_collective_begin(&mut call.thread.events, begin);
    let result = real(arguments.values);
    let time = call.end();
    if result as i32 == 0 {
        record_completions(call, &window, None, Reach::Epoch);
    }
    let (events, number) = (&mut call.thread.events, window.number.into());
    asserted(events, time, arguments.values[0]);
    record::rma_collective_end(
        events,
        time,
        CollectiveOp::BARRIER,
        PROCESS | MEMORY,
        number,
        ROOT_NONE,
        0,
        0,
    );
    result
}

/// `MPI_Win_post`: (group, assertion, window).
pub(crate) fn post(
    call: &mut Call,
    arguments: Arguments<3>,
    real: impl FnOnce([usize; 3]) -> usize,
) -> usize {
    begin(call, arguments, |epochs| &epochs.exposure, real)
}

/// `MPI_Win_start`: (group, assertion, window).
pub(crate) fn start(
    call: &mut Call,
    arguments: Arguments<3>,
    real: impl FnOnce([usize; 3]) -> usize,
) -> usize {
    begin(call, arguments, |epochs| &epochs.access, real)
}

/// `MPI_Win_complete`: (window).
pub(crate) fn complete(
    call: &mut Call,
    arguments: Arguments<1>,
    real: impl FnOnce([usize; 1]) -> usize,
) -> usize {
    let (result, window) = completing(call, arguments, None, Reach::Epoch, real);
    if let Some(window) = window {
        end(call, &window, &window.epochs.access);
    }
    result
}

/// `MPI_Win_wait`: (window).
pub(crate) fn wait(
    call: &mut Call,
    arguments: Arguments<1>,
    real: impl FnOnce([usize; 1]) -> usize,
) -> usize {
    let (result, window) = after(call, arguments, real);
    if let Some(window) = window {
        end(call, &window, &window.epochs.exposure);
    }
    result
}

/// `MPI_Win_test`: (window, flag).
pub(crate) fn test(
    call: &mut Call,
    arguments: Arguments<2>,
    real: impl FnOnce([usize; 2]) -> usize,
) -> usize {
    let result = real(arguments.values);
    let time = call.end();
    let known = call.thread.process.windows.find(arguments.values[0]).filter(|_| result as i32 == 0);
    let Some(window) = known else { return result };
    // SAFETY: the call has succeeded, so it has set the flag.
    if unsafe { *(arguments.values[1] as *const i32) } != 0 {
        end(call, &window, &window.epochs.exposure);
        return result;
    }
    // Nothing has been synchronized yet.
    let group = window.epochs.exposure.load(Ordering::Relaxed);
    if group != NO_GROUP {
        record::rma_group_sync(&mut call.thread.events, time, 0, window.number.into(), group.into());
    }
    result
}

/// Starts an epoch with the processes of a group, the first parameter. Recorded before the call, which may
/// have to wait for them.
fn begin(
    call: &mut Call,
    arguments: Arguments<3>,
    epoch: impl FnOnce(&'static Epochs) -> &'static AtomicU32,
    real: impl FnOnce([usize; 3]) -> usize,
) -> usize {
    let [group, assertion, window] = arguments.values;
    let process = call.thread.process;
    let Some(window) = process.windows.find(window) else { return real(arguments.values) };
    let group = process.windows.group(&mut call.thread, group);
    if group != NO_GROUP {
        let begin = call.begin();
        let events = &mut call.thread.events;
        asserted(events, begin, assertion);
        record::rma_group_sync(events, begin, PROCESS, window.number.into(), group.into());
    }
    let result = real(arguments.values);
    if result as i32 == 0 {
        epoch(window.epochs).store(group, Ordering::Relaxed);
    }
    result
}

/// Adds what the program asserts about an epoch to the next record, which must have that time.
pub(crate) fn asserted(events: &mut Events, time: u64, assertion: usize) {
    if assertion as u32 != 0 {
        events.attributes(time, &[(ASSERTION, UINT32, u64::from(assertion as u32))]);
    }
}

/// Ends the epoch with the group that it was started with.
fn end(call: &mut Call, window: &Window, epoch: &AtomicU32) {
    let group = epoch.swap(NO_GROUP, Ordering::Relaxed);
    if group != NO_GROUP {
        let time = call.end();
        let events = &mut call.thread.events;
        record::rma_group_sync(events, time, PROCESS | MEMORY, window.number.into(), group.into());
    }
}

/// Makes a call that completes accesses to a target, or to all; returns its result, and the window if it
/// succeeded.
pub(crate) fn completing<const N: usize>(
    call: &mut Call,
    arguments: Arguments<N>,
    target: Option<u32>,
    reach: Reach,
    real: impl FnOnce([usize; N]) -> usize,
) -> (usize, Option<Window>) {
    let (result, window) = after(call, arguments, real);
    if let Some(window) = &window {
        record_completions(call, window, target, reach);
    }
    (result, window)
}

/// Makes a call with a window as its last parameter; returns its result, and the window if it succeeded.
pub(crate) fn after<const N: usize>(
    call: &mut Call,
    arguments: Arguments<N>,
    real: impl FnOnce([usize; N]) -> usize,
) -> (usize, Option<Window>) {
    let result = real(arguments.values);
    call.end();
    let known = call.thread.process.windows.find(arguments.values[N - 1]);
    (result, known.filter(|_| result as i32 == 0))
}

/// Records that accesses to a target, or to all, are complete.
fn record_completions(call: &mut Call, window: &Window, target: Option<u32>, reach: Reach) {
    let (begin, time) = (call.begin(), call.end());
    let (events, number) = (&mut call.thread.events, window.number.into());
    window.epochs.pending().complete(begin, target, reach, |completion, access| match completion {
        Completion::AtOrigin => record::rma_complete_non_blocking(events, time, number, access),
        Completion::AtTarget => record::rma_complete_remote(events, time, number, access),
    });
}
