//! Faults of the environment: processes die, files change, are missing, full or limited while the program
//! runs.
//!
//! One fault is not here: a panic. No input makes the program panic, and a hook for tests would be a fault of
//! its own. In every thread a panic ends the process with status 2 (`replay/main.rs`), under MPI the whole
//! job (`replay/exchange/mpi.rs`).

mod claims;
mod deep;
mod disk;
mod files;
mod job;
mod killed;
mod late;
mod limits;
mod make;
mod provoke;
mod signals;
mod table;
mod views;

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use crate::support::run::{alone, launched, program};

/// A command that runs `replay-analyze` with these arguments after a shell has run `first`, such as setting a
/// limit.
fn after<S: AsRef<OsStr>>(first: &str, arguments: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new("sh");
    alone(&mut command);
    command.args(["-c", &script(first), program()]).args(arguments);
    command
}

/// The same in several processes.
fn limited<S: AsRef<OsStr>>(
    launcher: &Path,
    processes: usize,
    first: &str,
    arguments: impl IntoIterator<Item = S>,
) -> Command {
    let mut command = launched(launcher, processes, ["sh", "-c", &script(first), program()]);
    command.args(arguments);
    command
}

fn script(first: &str) -> String {
    format!("{first}; exec \"$0\" \"$@\"")
}
