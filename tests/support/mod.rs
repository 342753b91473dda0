//! Test support: fresh directories, commands with a deadline, readable traces, and reports as tables.

pub(crate) mod advice;
pub(crate) mod chance;
pub(crate) mod deadline;
pub(crate) mod local;
pub(crate) mod many;
pub(crate) mod page;
pub(crate) mod parse;
pub(crate) mod pauses;
pub(crate) mod random;
pub(crate) mod random_tasks;
mod random_team;
pub(crate) mod regions;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod show;
pub(crate) mod statistics;
pub(crate) mod tables;
pub(crate) mod trace;
pub(crate) mod workers;
pub(crate) mod write;

use std::path::{Path, PathBuf};
use std::process::Command;

use replay::exchange::Solo;
use replay::progress::Progress;
use replay::{Options, Outcome, Semantics};

/// Two ranks with all that the reader has to handle: messages, requests, a collective operation, mapping
/// tables, and a clock of its own.
pub(crate) const SMALL: &str = "
program prog
rank 0
  0 > MPI_Init ; 9 < ; 10 > MPI_Send ; 12 send 1 tag 7 bytes 64 ; 20 < ; 21 > MPI_Irecv ; post 3 ; 22 <
  23 > MPI_Wait ; 40 irecv 1 req 3 bytes 0 ; 41 < ; 50 > MPI_Allreduce ; begin ; 60 end allreduce sent 8 received 8 ; 61 <
rank 1 mapped clock 0 5 clock 100 9
  0 > MPI_Init ; 9 < ; 10 > MPI_Recv ; 21 recv 0 tag 7 bytes 64 ; 22 < ; 30 > MPI_Send ; 31 send 0 bytes 0 ; 32 <
  51 > MPI_Allreduce ; begin ; 60 end allreduce sent 8 received 8 ; 61 <
";

/// Both semantics, the default last.
pub(crate) const SEMANTICS: [Semantics; 2] = [Semantics::Reference, Semantics::Corrected];

/// A directory that is removed on drop.
pub(crate) fn fresh() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("replay-").tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// A directory for many files: in memory, if there is enough. Archives and reports are synced when they are
/// complete, which on a disk takes longer than the analysis of a small trace.
pub(crate) fn in_memory() -> tempfile::TempDir {
    const MUCH: u64 = 1 << 20; // kilobytes
    let available = || {
        let printed = Command::new("df").args(["-Pk", "/dev/shm"]).output().ok()?.stdout;
        let line = String::from_utf8_lossy(&printed).lines().nth(1)?.to_owned();
        line.split_whitespace().nth(3)?.parse::<u64>().ok()
    };
    let has_room = available().is_some_and(|kilobytes| kilobytes >= MUCH);
    let directory = has_room.then(|| tempfile::Builder::new().prefix("replay-").tempdir_in("/dev/shm"));
    directory.and_then(Result::ok).unwrap_or_else(fresh)
}

/// A path of the project.
pub(crate) fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The real archives, by name.
pub(crate) fn archives() -> Vec<PathBuf> {
    let folder = project("tests/archives");
    let entries = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> = entries.filter(|path| path.join("traces.otf2").is_file()).collect();
    found.sort();
    assert!(found.len() >= 30, "{} is incomplete", folder.display());
    found
}

/// A real archive.
pub(crate) fn archive(name: &str) -> PathBuf {
    project("tests/archives").join(name)
}

/// The scripts of `tests/golden`, by name.
pub(crate) fn golden() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(project("tests/golden")).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "trace")).collect();
    found.sort();
    found
}

/// The last part of a path, without the extension `.trace`.
pub(crate) fn name(path: &Path) -> String {
    let name = path.file_name().unwrap().to_string_lossy();
    name.strip_suffix(".trace").unwrap_or(&name).to_owned()
}

/// Copies an archive, so that a test may damage it.
pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(|entry| entry.unwrap()) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::write(&target, std::fs::read(entry.path()).unwrap()).unwrap();
        }
    }
}

/// Writes the archive `hybrid.2x3` with its locations in containers of SIONlib.
pub(crate) fn in_containers(directory: &Path) {
    copy(&project("formats/otf2/tests/sion"), directory);
    std::fs::copy(archive("hybrid.2x3").join("traces.def"), directory.join("traces.def")).unwrap();
}

/// The bytes of a report and of the statistics beside it.
pub(crate) fn written(report: &Path) -> [Vec<u8>; 2] {
    [report.to_owned(), report.with_extension("stat")].map(|path| std::fs::read(path).unwrap())
}

/// Analyzes in this process, with one worker.
pub(crate) fn analyze(
    experiment: &Path,
    report: &Path,
    semantics: Semantics,
) -> Result<Outcome, replay::Error> {
    replay::analyze(&options(experiment, report, semantics), &mut Solo, &mut Progress::silent())
}

/// Options for a named report, with one thread.
pub(crate) fn options(experiment: &Path, report: &Path, semantics: Semantics) -> Options {
    Options { report: Some(report.to_owned()), semantics, ..Options::new(experiment) }
}
