//! Faults that come at an exact moment: at the n-th call of the system, counted by a small library that is preloaded.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use skip::{Need, skip};

use crate::support::project;

/// Commands for a shell, after which the program that it becomes meets these faults, in the words of `provoke.c`;
/// `None`, and says so, without a compiler.
pub(super) fn provoked(test: &str, faults: &str) -> Option<String> {
    static LIBRARY: OnceLock<Option<PathBuf>> = OnceLock::new();
    let Some(library) = LIBRARY.get_or_init(library) else {
        skip(Need::Compiler, format!("{test}: there is no C compiler"));
        return None;
    };
    // No core dumps of processes that die as they must. UCX, below MPICH, takes SIGHUP for its debugging unless it is told not to.
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
