//! Test support: the MPI, the recorder and the programs, each found or built once; runs of programs, bare and
//! recorded, with a deadline; and readers of archives and reports.

pub(crate) mod archive;
pub(crate) mod build;
pub(crate) mod expectations;
pub(crate) mod files;
pub(crate) mod laws;
pub(crate) mod modelled;
pub(crate) mod process;
pub(crate) mod record;
pub(crate) mod report;
pub(crate) mod slow_files;
pub(crate) mod turns;
pub(crate) mod words;

use std::fs;
use std::path::{Path, PathBuf};

/// A path of the project.
pub(crate) fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Folder for all files of these tests.
pub(crate) fn place() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("recorder")
}

/// An empty folder. It is kept, so that the files of a test can be inspected.
pub(crate) fn fresh(name: &str) -> PathBuf {
    let folder = place().join(name);
    // It exists if the tests have run before.
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Copies a folder recursively.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(fs::copy(entry.path(), to).unwrap()),
        }
    }
}
