//! The recorder: a library that is preloaded into MPI programs and records their events.
//!
//! | module | contents |
//! |---|---|
//! | `wrappers`, `next` (or `linked`) | the exported functions, and the next ones of these names |
//! | `start`, `sessions`, `process`, `thread`, `inside` | data from the start of MPI to the end: of the process, of each thread, and the lock of a thread's data |
//! | `call`, `hooks`, `regions`, `instrumented`, `sampling` | sources of events: MPI calls, named regions, instrumented functions, samples |
//! | `off_cpu` | when threads were not running, and what they have used of the machine |
//! | `counters` | counters of the processor and of the kernel at events |
//! | `energy` | what nodes have taken |
//! | `openmp`, `posix`, `stdio` | likewise: constructs of OpenMP, files and streams of the C library |
//! | `record`, `events` | the records and the buffer that they are written to |
//! | `counts` | counts instead of events if the program is profiled |
//! | `communicators`, `neighborhoods`, `groups`, `requests`, `partitions`, `windows`, `pending`, `files`, `storage`, `datatypes`, `shapes`, `hints`, `volumes` | MPI's objects |
//! | `clock`, `synchronize`, `rounds`, `iterations` | time, clock offsets, parts of a run |
//! | `handles`, `shared`, `levels` | tables that threads share: by handles of MPI, by other keys, and their slots |
//! | `texts` | strings that events refer to |
//! | `gaps`, `channels` | counts of what is not recorded |
//! | `peers` | whether other ranks have a recorder |
//!
//! Rules: calls of MPI only in `start`, in `MPI_Finalize` and behind collective calls, besides functions that
//! MPI executes locally, and operations of `iterations` that nobody waits for; no allocation and no lock while a known call path is recorded; a thread's location
//! is used by that thread only; no error here may affect the program.

#![deny(clippy::undocumented_unsafe_blocks)]

mod call;
mod channels;
mod clock;
mod communicators;
mod counters;
mod counts;
mod datatypes;
mod energy;
mod events;
mod files;
mod filter;
mod gaps;
mod groups;
mod handles;
mod hints;
mod hooks;
mod inside;
mod instrumented;
mod iterations;
mod key;
mod levels;
mod memory;
mod mpi;
mod neighborhoods;
#[cfg_attr(feature = "static", path = "linked.rs")]
mod next;
mod off_cpu;
#[cfg(openmp)]
mod openmp;
#[cfg(not(feature = "static"))]
mod others;
mod partitions;
mod peers;
mod pending;
#[cfg(posix)]
mod posix;
mod process;
mod record;
mod regions;
mod requests;
mod rounds;
mod sampling;
mod selection;
mod sessions;
mod shapes;
mod shared;
mod start;
#[cfg(posix)]
mod stdio;
mod storage;
mod synchronize;
mod texts;
mod thread;
mod volumes;
mod windows;
mod wrappers;

use std::io::Write;

/// The constructor of the library, in whatever program. Not under Miri, which has neither the processor's
/// clock nor `on_exit`.
#[cfg(not(miri))]
#[used]
#[unsafe(link_section = ".init_array")]
static LOADED: unsafe extern "C" fn() = {
    unsafe extern "C" fn loaded() {
        clock::note_loading();
        call_paths::set_initial_objects();
        // Handlers run in reverse order: this one, registered before the program has begun, runs last.
        // SAFETY: the handler takes these arguments and is never unloaded.
        unsafe { on_exit(ended, std::ptr::null_mut()) };
        choose_for_python();
    }
    loaded
};

unsafe extern "C" {
    /// glibc's `atexit` with the exit status.
    fn on_exit(handler: unsafe extern "C" fn(i32, *mut libc::c_void), argument: *mut libc::c_void) -> i32;
}

/// Ends the recording when the program ends by itself.
unsafe extern "C" fn ended(status: i32, _: *mut libc::c_void) {
    if let Some(process) = process::current() {
        process.end(status);
    }
}

/// Sets the ABI for mpi4py: its wheels look for MPI functions in the process to find out which MPI it has,
/// and would find ours, which fit any.
fn choose_for_python() {
    const VARIABLE: &str = "MPI4PY_MPIABI";
    let set = |name: &str| std::env::var_os(name).is_some();
    let is_python = || {
        std::env::current_exe().is_ok_and(|path| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("python"))
        })
    };
    if set(VARIABLE) || !is_python() {
        return;
    }
    let family = if set("OMPI_COMM_WORLD_SIZE") {
        "openmpi"
    } else if set("PMI_SIZE") {
        "mpich"
    } else {
        return;
    };
    // SAFETY: the program has not begun. Threads are unlikely: a library that Python is linked with would
    // have to start one when it is loaded, which would have to change the environment, or read it without
    // Rust's lock, at this moment.
    unsafe { std::env::set_var(VARIABLE, family) };
}

/// Writes a message to the user to the standard error stream, without the risk of a panic.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "replay-record: {text}");
}
