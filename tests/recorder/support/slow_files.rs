//! Programs on a file system of known speed.

use std::path::PathBuf;

use skip::{Need, skip};

use super::build::{mpi, program};
use super::record::Subject;

/// How often times are measured: other programs on the machine can disturb them, but not every time.
const ATTEMPTS: u32 = 3;
/// Ranks of each program.
const RANKS: u32 = 4;

/// A program on a file system on which a request takes a millisecond, and so many bytes a second.
pub(crate) fn on_slow_files(
    test: &str,
    source: &str,
    arguments: &[&str],
    rate: &'static str,
) -> Option<Subject> {
    let library: PathBuf = program(mpi(test)?, "files/slow_files.c")?.remove(0).into();
    let library = library.to_str().unwrap().to_owned().leak();
    let subject = Subject::new(test, source, RANKS, arguments)?.with("LD_PRELOAD", library);
    Some(subject.with("SLOW_LATENCY", "1000").with("SLOW_RATE", rate))
}

/// Whether times are those of the file system. Waiting ranks of MPICH keep processors busy: with fewer of them than ranks, times
/// are the scheduler's.
pub(crate) fn keeps_times(test: &str) -> bool {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let keeps = mpi(test).is_some_and(|mpi| mpi.is_open_mpi || cores >= RANKS as usize);
    if !keeps {
        skip(Need::System, format!("{test}: with MPICH as many cores as ranks are needed to measure times"));
    }
    keeps
}

/// Tries something until nothing has disturbed it.
pub(crate) fn attempt(mut measure: impl FnMut() -> Result<(), String>) {
    let results: Vec<_> = (0..ATTEMPTS).map_while(|_| measure().err()).collect();
    assert!((results.len() as u32) < ATTEMPTS, "{results:#?}");
}
