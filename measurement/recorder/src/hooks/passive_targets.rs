//! Epochs in which the targets take no part: locks and flushes (MPI 4.0, 12.5.3 and 12.5.4).
//!
//! There is no record of a lock being acquired: MPI grants it some time after `MPI_Win_lock`, without notice.

use crate::call::Call;
use crate::hooks::epochs::{after, asserted, completing};
use crate::mpi::is_exclusive;
use crate::pending::Reach;
use crate::record;
use crate::windows::Window;
use crate::wrappers::Arguments;

/// All processes of a window.
const ALL: u32 = u32::MAX;
/// Lock id for OTF2: locks of MPI belong to windows and targets, and have no number of their own.
const LOCK: u64 = 0;
const EXCLUSIVE: u8 = 0;
const SHARED: u8 = 1;
/// The value of OTF2's `RmaSyncType` for memory.
const OF_MEMORY: u8 = 0;

/// `MPI_Win_lock`: (type, rank, assertion, window).
pub(crate) fn lock(
    call: &mut Call,
    arguments: Arguments<4>,
    real: impl FnOnce([usize; 4]) -> usize,
) -> usize {
    let [kind, rank, assertion, window] = arguments.values;
    let kind = if is_exclusive(kind) { EXCLUSIVE } else { SHARED };
    request(call, window, rank as u32, kind, assertion);
    real(arguments.values)
}

/// `MPI_Win_lock_all`: (assertion, window).
pub(crate) fn lock_all(
    call: &mut Call,
    arguments: Arguments<2>,
    real: impl FnOnce([usize; 2]) -> usize,
) -> usize {
    let [assertion, window] = arguments.values;
    request(call, window, ALL, SHARED, assertion);
    real(arguments.values)
}

/// `MPI_Win_unlock`: (rank, window).
pub(crate) fn unlock(
    call: &mut Call,
    arguments: Arguments<2>,
    real: impl FnOnce([usize; 2]) -> usize,
) -> usize {
    let rank = arguments.values[0] as u32;
    let (result, window) = completing(call, arguments, Some(rank), Reach::Target, real);
    release(call, window, rank);
    result
}

/// `MPI_Win_unlock_all`: (window).
pub(crate) fn unlock_all(
    call: &mut Call,
    arguments: Arguments<1>,
    real: impl FnOnce([usize; 1]) -> usize,
) -> usize {
    let (result, window) = completing(call, arguments, None, Reach::Target, real);
    release(call, window, ALL);
    result
}

/// `MPI_Win_flush`: (rank, window).
pub(crate) fn flush(
    call: &mut Call,
    arguments: Arguments<2>,
    real: impl FnOnce([usize; 2]) -> usize,
) -> usize {
    completing(call, arguments, Some(arguments.values[0] as u32), Reach::Target, real).0
}

/// `MPI_Win_flush_all`: (window).
pub(crate) fn flush_all(
    call: &mut Call,
    arguments: Arguments<1>,
    real: impl FnOnce([usize; 1]) -> usize,
) -> usize {
    completing(call, arguments, None, Reach::Target, real).0
}

/// `MPI_Win_flush_local`: (rank, window).
pub(crate) fn flush_local(
    call: &mut Call,
    arguments: Arguments<2>,
    real: impl FnOnce([usize; 2]) -> usize,
) -> usize {
    completing(call, arguments, Some(arguments.values[0] as u32), Reach::Origin, real).0
}

/// `MPI_Win_flush_local_all`: (window).
pub(crate) fn flush_local_all(
    call: &mut Call,
    arguments: Arguments<1>,
    real: impl FnOnce([usize; 1]) -> usize,
) -> usize {
    completing(call, arguments, None, Reach::Origin, real).0
}

/// `MPI_Win_sync`: (window). Synchronizes the private and the public copy of the own memory.
pub(crate) fn sync(
    call: &mut Call,
    arguments: Arguments<1>,
    real: impl FnOnce([usize; 1]) -> usize,
) -> usize {
    let (result, window) = after(call, arguments, real);
    if let Some(window) = window {
        let time = call.end();
        let (window, own) = (window.number.into(), window.rank.into());
        record::rma_sync(&mut call.thread.events, time, window, own, OF_MEMORY);
    }
    result
}

/// Records that a lock is requested, before the call, which may have to wait for it.
fn request(call: &mut Call, window: usize, rank: u32, kind: u8, assertion: usize) {
    let known = call.thread.process.windows.find(window);
    if let Some(window) = known.filter(|window| is_target(window, rank)) {
        let (begin, number) = (call.begin(), window.number.into());
        asserted(&mut call.thread.events, begin, assertion);
        record::rma_request_lock(&mut call.thread.events, begin, number, rank, LOCK, kind);
    }
}

/// Whether locks on a rank are recorded: not on `MPI_PROC_NULL`, which is negative.
fn is_target(window: &Window, rank: u32) -> bool {
    rank == ALL || rank < window.size
}

fn release(call: &mut Call, window: Option<Window>, rank: u32) {
    if let Some(window) = window.filter(|window| is_target(window, rank)) {
        let time = call.end();
        record::rma_release_lock(&mut call.thread.events, time, window.number.into(), rank, LOCK);
    }
}
