//! Files that the program accesses by functions of the C library, if the user wants them recorded (`REPLAY_IO`).
//!
//! | module | contents |
//! |---|---|
//! | `exports`, `next` | the functions that `libreplay_io.so` jumps to, and the next ones of these names |
//! | `access` | a call between its enter and its leave |
//! | `before` | files that were open before |
//! | `descriptors` | files that are recorded, by their descriptors |
//! | `choice`, `paths` | which files are recorded, by their absolute paths |
//! | `handles` | their handles in the trace |
//! | `opening`, `transfers`, `locks`, `metadata`, `mappings` | what the calls do |
//! | `requests`, `ended` | asynchronous transfers, and those of which the end cannot be recorded at once |
//! | `inner` | calls that MPI makes on its files |
//!
//! The rules, with the numbers of io.md, 2.7:
//!
//! * Nothing before `MPI_Init` returns, and nothing once `MPI_Finalize` is entered (F2): [`is_on`].
//! * Nothing in the recorder (F1) and nothing in other calls of MPI than those for files (F2): the lock of the
//!   thread's data. In calls for files only the file of the call (F3): `inner`.
//! * Who is not in the table of descriptors costs a load and a jump.
//! * `errno` is what the function has left (F8). What a thread's cancellation unwinds is left by `Drop`.
//! * A call is recorded behind the function, with the time of its begin, unless others may be recorded in it.

pub(crate) mod access;
pub(crate) mod before;
pub(crate) mod choice;
pub(crate) mod descriptors;
mod ended;
pub(crate) mod exports;
pub(crate) mod handles;
pub(crate) mod inner;
mod locks;
mod mappings;
mod metadata;
pub(crate) mod next;
pub(crate) mod opening;
pub(crate) mod paths;
mod requests;
mod transfers;

use std::sync::atomic::{AtomicBool, Ordering};

use self::access::Access;
use self::before::Candidate;
use crate::clock::now;
use crate::thread::Thread;

/// Whether files are recorded at the moment.
static IS_ON: AtomicBool = AtomicBool::new(false);

/// Whether files are recorded.
#[inline]
pub(crate) fn is_on() -> bool {
    IS_ON.load(Ordering::Relaxed)
}

/// Records files from now on, also those that were open before. Of these `streams` returns the descriptors of streams, and the handles
/// that they have got.
pub(crate) fn begin(open: &[Candidate], streams: impl FnOnce(&mut Access, &[Candidate]) -> Vec<(i32, u32)>) {
    next::prepare();
    IS_ON.store(true, Ordering::Relaxed);
    if let Some(mut access) = Access::lock() {
        let streams = streams(&mut access, open);
        before::keep(&mut access, open, &streams);
    }
}

/// Records no files from now on.
pub(crate) fn end(thread: &mut Thread) {
    if IS_ON.swap(false, Ordering::Relaxed) {
        ended::settle(thread, now());
        mappings::remark(thread.process);
    }
}

/// Makes a call that is recorded behind the function, if files are recorded: `record` gets when the call began and what the function
/// has returned, and finds `errno` as that has left it.
#[inline(always)]
pub(crate) fn recorded_behind(real: impl FnOnce() -> usize, record: impl FnOnce(u64, usize)) -> usize {
    if !is_on() {
        return real();
    }
    let begin = now();
    let result = real();
    keeping_errno(|| record(begin, result));
    result
}

/// Runs something, and leaves `errno` as it was before.
#[inline]
pub(crate) fn keeping_errno<R>(work: impl FnOnce() -> R) -> R {
    // SAFETY: the C library has a place for each thread.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    let before = unsafe { *place };
    let result = work();
    // SAFETY: as above.
    unsafe { *place = before };
    result
}
