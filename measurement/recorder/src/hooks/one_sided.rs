//! Accesses to the memory of other processes (MPI 4.0, 12.3).
//!
//! They are recorded behind the call, with the time of its start: a call that fails accesses nothing, and
//! otherwise the arguments that records need (types, targets) are known to be valid.

use crate::call::Call;
use crate::hooks::requests::keep;
use crate::pending;
use crate::process::Process;
use crate::record;
use crate::requests::{Operation, OperationKind};
use crate::wrappers::Arguments;

/// Values of OTF2's `RmaAtomicType`.
const ACCUMULATE: u8 = 0;
const COMPARE_AND_SWAP: u8 = 3;
const FETCH_AND_ACCUMULATE: u8 = 7;

/// An access, with the bytes that it transfers.
enum Access {
    Put(u64),
    Get(u64),
    /// Type, bytes sent, bytes received.
    Atomic(u8, u64, u64),
}

/// `MPI_Put`, `MPI_Rput`: (buffer, count, type, target, displacement, count, type, window), and a request.
#[inline]
pub(crate) fn put<const N: usize>(
    call: &mut Call,
    arguments: Arguments<N>,
    real: impl FnOnce([usize; N]) -> usize,
) -> usize {
    access(call, arguments, (3, 7), real, |process, a| Access::Put(process.mpi.bytes(a[1] as i64, a[2])))
}

/// `MPI_Get`, `MPI_Rget`: parameters as for `MPI_Put`.
#[inline]
pub(crate) fn get<const N: usize>(
    call: &mut Call,
    arguments: Arguments<N>,
    real: impl FnOnce([usize; N]) -> usize,
) -> usize {
    access(call, arguments, (3, 7), real, |process, a| Access::Get(process.mpi.bytes(a[1] as i64, a[2])))
}

/// `MPI_Accumulate`, `MPI_Raccumulate`: (buffer, count, type, target, displacement, count, type, operation,
/// window), and a request.
pub(crate) fn accumulate<const N: usize>(
    call: &mut Call,
    arguments: Arguments<N>,
    real: impl FnOnce([usize; N]) -> usize,
) -> usize {
    access(call, arguments, (3, 8), real, |process, a| {
        Access::Atomic(ACCUMULATE, process.mpi.bytes(a[1] as i64, a[2]), 0)
    })
}

/// `MPI_Get_accumulate`, `MPI_Rget_accumulate`: (buffer, count, type, result, count, type, target,
/// displacement, count, type, operation, window), and a request.
pub(crate) fn get_accumulate<const N: usize>(
    call: &mut Call,
    arguments: Arguments<N>,
    real: impl FnOnce([usize; N]) -> usize,
) -> usize {
    access(call, arguments, (6, 11), real, |process, a| {
        // Without an operation nothing is sent, and the type may be anything (MPI 4.0, 12.3.4).
        let sent = if a[10] == process.mpi.no_op { 0 } else { process.mpi.bytes(a[1] as i64, a[2]) };
        Access::Atomic(FETCH_AND_ACCUMULATE, sent, process.mpi.bytes(a[4] as i64, a[5]))
    })
}

/// `MPI_Fetch_and_op`: (buffer, result, type, target, displacement, operation, window).
pub(crate) fn fetch_and_op(
    call: &mut Call,
    arguments: Arguments<7>,
    real: impl FnOnce([usize; 7]) -> usize,
) -> usize {
    access(call, arguments, (3, 6), real, |process, a| {
        let bytes = process.mpi.bytes(1, a[2]);
        Access::Atomic(FETCH_AND_ACCUMULATE, if a[5] == process.mpi.no_op { 0 } else { bytes }, bytes)
    })
}

/// `MPI_Compare_and_swap`: (buffer, compared, result, type, target, displacement, window).
pub(crate) fn compare_and_swap(
    call: &mut Call,
    arguments: Arguments<7>,
    real: impl FnOnce([usize; 7]) -> usize,
) -> usize {
    access(call, arguments, (4, 6), real, |process, a| {
        let bytes = process.mpi.bytes(1, a[3]);
        Access::Atomic(COMPARE_AND_SWAP, bytes, bytes)
    })
}

/// Makes a call that accesses a target on a window, with their positions among the arguments; a request
/// follows the window.
#[inline]
fn access<const N: usize>(
    call: &mut Call,
    arguments: Arguments<N>,
    (target, window): (usize, usize),
    real: impl FnOnce([usize; N]) -> usize,
    access: impl FnOnce(&Process, &[usize; N]) -> Access,
) -> usize {
    let result = real(arguments.values);
    call.end();
    let process = call.thread.process;
    let target = arguments.values[target] as u32;
    // The target may be MPI_PROC_NULL, which is negative.
    let known = process.windows.find(arguments.values[window]).filter(|window| target < window.size);
    let Some(window_of) = known.filter(|_| result as i32 == 0) else { return result };
    let number = call.thread.next_request();
    let (scope, remote) = (u64::from(window_of.number), u64::from(target));
    let access = access(process, &arguments.values);
    let is_get = matches!(access, Access::Get(_));
    let (begin, events) = (call.begin(), &mut call.thread.events);
    match access {
        Access::Put(bytes) => record::rma_put(events, begin, scope, remote, bytes, number),
        Access::Get(bytes) => record::rma_get(events, begin, scope, remote, bytes, number),
        Access::Atomic(kind, sent, received) => {
            record::rma_atomic(events, begin, scope, remote, kind, sent, received, number);
        }
    }
    let request = arguments.values.get(window + 1).copied();
    let pending = match (is_get, request) {
        // The request reports all of its completion.
        (true, Some(_)) => None,
        (true, None) => Some(pending::Access::Fetches),
        (false, Some(_)) => Some(pending::Access::ChangesWithRequest),
        (false, None) => Some(pending::Access::Changes),
    };
    let is_kept = pending.is_none_or(|access| window_of.epochs.pending().push(begin, number, target, access));
    if !is_kept {
        process.windows.note_overflow(process);
    }
    if let Some(request) = request {
        let kind = if is_get { OperationKind::OneSidedGet } else { OperationKind::OneSided };
        keep(call, Some(Operation::new(kind, window_of.number, number)), request, result);
    }
    result
}
