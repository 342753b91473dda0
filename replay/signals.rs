//! Signals that end the process: batch systems send SIGTERM before they kill, terminals SIGINT and SIGHUP.
//!
//! Until all workers agree that all work is done, a signal ends the process at once, as if there were no
//! handler; only the temporary files of reports are removed before. After the [decision](decide) the
//! remaining steps take a moment: to put the report in place and to print the summary. In that time signals
//! are put off, so that there is never a report of a job that was ended before it was complete.

use std::fs;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// The signals that end a process unless it handles them, and that users or batch systems send on purpose.
const SIGNALS: [i32; 8] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU];

/// The longest time for which a signal is put off: a file system or another process may never answer.
const GRACE: Duration = Duration::from_secs(5);

/// The longest time for the removal of temporary files.
const PATIENCE: Duration = Duration::from_secs(2);

/// The size of stacks in bytes: small, as they count among the memory that the user may have limited.
const STACK: usize = 128 << 10;

/// Whether all work is done that a signal may interrupt.
static IS_DECIDED: Mutex<bool> = Mutex::new(false);

/// Handles signals from now on. Signals that are ignored (as by nohup) or that the MPI library handles are
/// left as they are.
pub fn handle() {
    let (told, is_ready) = mpsc::channel();
    let work = move || {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let taken = mask(&status, "SigIgn:") | mask(&status, "SigCgt:");
        let wanted = SIGNALS.iter().filter(|&&signal| taken & 1 << (signal - 1) == 0);
        let signals = Signals::new(wanted);
        // The thread that started this one waits for this message.
        let _ = told.send(());
        if let Ok(mut signals) = signals
            && let Some(signal) = signals.forever().next()
        {
            end(signal);
        }
    };
    // If the thread cannot be started, a signal ends the process by its default action.
    if thread::Builder::new().name("signals".into()).stack_size(STACK).spawn(work).is_ok() {
        let _ = is_ready.recv();
    }
}

/// Decides to finish: the point of no return. A signal that came before ends the process here at the latest.
pub fn decide() {
    *IS_DECIDED.lock().unwrap_or_else(PoisonError::into_inner) = true;
}

/// Ends the process by a signal.
fn end(signal: i32) {
    // If there is no decision yet, the lock is held until the end, so that no thread can decide any more.
    let is_decided = IS_DECIDED.lock().unwrap_or_else(PoisonError::into_inner);
    if *is_decided {
        drop(is_decided);
        thread::sleep(GRACE);
    }
    let (told, is_done) = mpsc::channel();
    // On a thread of its own, since file systems may hang.
    let remove = move || {
        let _removed = cubex::remove_temporaries();
        new_directory::remove_unfinished();
        let _ = told.send(());
        loop {
            thread::park();
        }
    };
    if thread::Builder::new().stack_size(STACK).spawn(remove).is_ok() {
        let _ = is_done.recv_timeout(PATIENCE);
    }
    let _ = emulate_default_handler(signal);
}

/// Returns a set of signals from the status of a process.
fn mask(status: &str, key: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix(key));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
