//! Faults at an exact moment: at the n-th system call, counted by a small preloaded library.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use skip::{Need, skip};

use crate::support::project;

/// Shell commands that make the program which the shell then becomes meet these faults, in the notation of
/// `provoke.c`; `None`, with a message, without a compiler.
pub(super) fn provoked(test: &str, faults: &str) -> Option<String> {
    static LIBRARY: OnceLock<Option<PathBuf>> = OnceLock::new();
    let Some(library) = LIBRARY.get_or_init(library) else {
        skip(Need::Compiler, format!("{test}: there is no C compiler"));
        return None;
    };
    // No core dumps of processes that are supposed to die. UCX, below MPICH, uses SIGHUP for debugging by
    // default.
    let library = library.display();
    let settings = format!("UCX_DEBUG_SIGNO=0 LD_PRELOAD='{library}' REPLAY_TEST_FAULTS='{faults}'");
    Some(format!("ulimit -c 0; export {settings}"))
}

fn library() -> Option<PathBuf> {
    let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libprovoke.so");
    let mut compiler = Command::new("cc");
    compiler.args(["-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o"]).arg(&library);
    let built = compiler.arg(project("tests/faults/provoke.c")).arg("-ldl").output().ok()?;
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    Some(library)
}
