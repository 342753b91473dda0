//! The recorder: a library that is preloaded into MPI programs and records what they do.
//!
//! | module | what |
//! |---|---|
//! | `wrappers`, `next` (or `linked`) | the exported functions, and those behind them |
//! | `start`, `process`, `thread`, `inside` | what is kept from `MPI_Init` to the end: for the process, for each thread, and who of a thread may use it |
//! | `call`, `hooks`, `regions`, `instrumented`, `sampling` | what is recorded: of MPI calls, of what the program tells itself, of what is between |
//! | `record`, `events` | the records and the buffer that they are written to |
//! | `counts` | what is kept instead of events if the program is profiled |
//! | `communicators`, `requests`, `windows`, `pending`, `files`, `volumes` | what MPI's objects mean |
//! | `clock`, `synchronize`, `rounds` | time, differences of clocks, parts of a run |
//! | `handles`, `shared`, `levels` | tables that threads share: by handles of MPI, by other keys, and their slots |
//! | `gaps`, `channels` | what is not recorded, counted |
//! | `peers` | whether other ranks have a recorder |
//!
//! Rules in here: no call of MPI but in `start`, in `MPI_Finalize` and behind collective calls, and questions that MPI
//! answers locally; no allocation and no lock while a known call path is recorded; a thread's location is touched by
//! that thread only; nothing that goes wrong here may reach the program.

mod call;
mod channels;
mod clock;
mod communicators;
mod counts;
mod events;
mod files;
mod filter;
mod gaps;
mod handles;
mod hooks;
mod inside;
mod instrumented;
mod key;
mod levels;
mod memory;
mod mpi;
#[cfg_attr(feature = "static", path = "linked.rs")]
mod next;
mod peers;
mod pending;
mod process;
mod record;
mod regions;
mod requests;
mod rounds;
mod sampling;
mod selection;
mod shared;
mod start;
mod synchronize;
mod thread;
mod volumes;
mod windows;
mod wrappers;

use std::io::Write;

/// Runs when the library is loaded, into whatever program. Miri cannot: it has neither the processor's clock nor `on_exit`.
#[cfg(not(miri))]
#[used]
#[unsafe(link_section = ".init_array")]
static LOADED: unsafe extern "C" fn() = {
    unsafe extern "C" fn loaded() {
        clock::note_loading();
        call_paths::set_initial_objects();
        // Handlers run in reverse order: this one, which is told before the program has begun, comes last.
        // SAFETY: the handler stays.
        unsafe { on_exit(ended, std::ptr::null_mut()) };
        choose_for_python();
    }
    loaded
};

unsafe extern "C" {
    /// glibc's `atexit` that tells the exit status.
    fn on_exit(handler: unsafe extern "C" fn(i32, *mut libc::c_void), argument: *mut libc::c_void) -> i32;
}

/// Runs when the program ends by itself.
unsafe extern "C" fn ended(status: i32, _: *mut libc::c_void) {
    if let Some(process) = process::current() {
        process.end(status);
    }
}

/// mpi4py's wheels look for MPI functions in the program to tell which MPI it has. It would find ours, which fit any.
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
    // SAFETY: the program has not begun. Threads are unlikely: a library that Python is linked with would have to start one
    // when it is loaded, which would have to change the environment, or read it without Rust's lock, at this moment.
    unsafe { std::env::set_var(VARIABLE, family) };
}

/// Tells the user something, on the standard error stream and without the risk of a panic.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "replay-record: {text}");
}
