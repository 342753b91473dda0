//! Creating, naming and freeing windows (MPI 4.0, 12.2).

use model::CollectiveOp;

use crate::call::Call;
use crate::mpi::{handle_at, text_at};
use crate::record;
use crate::volumes::ROOT_NONE;
use crate::wrappers::Arguments;

/// Bits of OTF2's `RmaSyncLevel`.
pub(crate) const PROCESS: u64 = 1;
pub(crate) const MEMORY: u64 = 2;

/// `MPI_Win_create`: (base, size, unit, info, communicator, window).
pub(crate) fn create(
    call: &mut Call,
    arguments: Arguments<6>,
    real: impl FnOnce([usize; 6]) -> usize,
) -> usize {
    make(call, arguments, 4, ("MPI_Win_create window", false), real)
}

/// `MPI_Win_allocate`: (size, unit, info, communicator, base, window).
pub(crate) fn allocate(
    call: &mut Call,
    arguments: Arguments<6>,
    real: impl FnOnce([usize; 6]) -> usize,
) -> usize {
    make(call, arguments, 3, ("MPI_Win_allocate window", true), real)
}

/// `MPI_Win_allocate_shared`: parameters as for `MPI_Win_allocate`.
pub(crate) fn allocate_shared(
    call: &mut Call,
    arguments: Arguments<6>,
    real: impl FnOnce([usize; 6]) -> usize,
) -> usize {
    make(call, arguments, 3, ("MPI_Win_allocate_shared window", true), real)
}

/// `MPI_Win_create_dynamic`: (info, communicator, window).
pub(crate) fn create_dynamic(
    call: &mut Call,
    arguments: Arguments<3>,
    real: impl FnOnce([usize; 3]) -> usize,
) -> usize {
    make(call, arguments, 1, ("MPI_Win_create_dynamic window", false), real)
}

/// `MPI_Win_free`: (window).
pub(crate) fn free(
    call: &mut Call,
    arguments: Arguments<1>,
    real: impl FnOnce([usize; 1]) -> usize,
) -> usize {
    let windows = &call.thread.process.windows;
    // SAFETY: the program passes the address of its handle.
    let handle = unsafe { handle_at(arguments.values[0], 0) };
    let Some(window) = windows.find(handle) else { return real(arguments.values) };
    let begin = call.begin();
    record::rma_collective_begin(&mut call.thread.events, begin);
    // Before the call: another thread may get the handle for a new window as soon as it is free.
    windows.remove(handle);
    let result = real(arguments.values);
    let time = call.end();
    record::rma_win_destroy(&mut call.thread.events, time, window.number.into());
    ended(
        call,
        if window.is_allocated {
            CollectiveOp::DESTROY_HANDLE_AND_DEALLOCATE
        } else {
            CollectiveOp::DESTROY_HANDLE
        },
        window.number,
    );
    result
}

/// `MPI_Win_set_name`: (window, name).
pub(crate) fn set_name(
    call: &mut Call,
    arguments: Arguments<2>,
    real: impl FnOnce([usize; 2]) -> usize,
) -> usize {
    let process = call.thread.process;
    let [handle, name] = arguments.values;
    if let Some(window) = process.windows.find(handle) {
        // SAFETY: the program passes a string.
        process.append_name("window", window.number, unsafe { text_at(name) });
    }
    real(arguments.values)
}

/// Makes a call that creates a window on the communicator at that position of the arguments. All of it is
/// recorded behind the call: one that fails leaves no window that the end of the operation could refer to.
fn make<const N: usize>(
    call: &mut Call,
    arguments: Arguments<N>,
    place: usize,
    kind: (&str, bool),
    real: impl FnOnce([usize; N]) -> usize,
) -> usize {
    let process = call.thread.process;
    let parent = arguments.values[place];
    // Members number their creations alike only if they count those that fail as well.
    let origin = process.communicators.next_child(parent);
    let result = real(arguments.values);
    let time = call.end();
    let Some((communicator, key)) = origin.filter(|_| result as i32 == 0) else { return result };
    // SAFETY: the call has succeeded, so it has set the handle.
    let handle = unsafe { handle_at(arguments.values[N - 1], 0) };
    let number = process.windows.insert(process, handle, (communicator, key), kind);
    let begin = call.begin();
    record::rma_collective_begin(&mut call.thread.events, begin);
    record::rma_win_create(&mut call.thread.events, time, number.into());
    ended(
        call,
        if kind.1 { CollectiveOp::CREATE_HANDLE_AND_ALLOCATE } else { CollectiveOp::CREATE_HANDLE },
        number,
    );
    result
}

fn ended(call: &mut Call, operation: CollectiveOp, window: u32) {
    let time = call.end();
    record::rma_collective_end(
        &mut call.thread.events,
        time,
        operation,
        PROCESS,
        window.into(),
        ROOT_NONE,
        0,
        0,
    );
}
