//! The note: the file to which processes append the paths of their experiment directories.

use crate::{Error, host};
use recording::layout;
use std::collections::BTreeMap;
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What names of notes begin with; the host and the process of the launcher follow.
const PREFIX: &str = ".replay-note-";

/// A note; its file is removed with it.
pub(crate) struct Note(PathBuf);

impl Note {
    /// Creates an empty note: beside the output, which other nodes see, or in the working directory, or else
    /// where only this node sees it.
    pub(crate) fn create(output: Option<&Path>) -> Result<Self, Error> {
        let name = format!("{PREFIX}{}-{}", host::name(), std::process::id());
        let mut failed = Error::new("there is no directory for a note");
        for folder in folders(output) {
            let path = folder.join(&name);
            match fs::File::create(&path) {
                Ok(_) => return Ok(Note(path)),
                Err(cause) => failed = Error::io(&path, "create the file", cause),
            }
        }
        Err(failed)
    }

    /// Opens a note that exists.
    pub(crate) fn open(path: PathBuf) -> Self {
        Note(path)
    }

    /// Returns its path.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Leaves the file to another process.
    pub(crate) fn leave(self) {
        std::mem::forget(self);
    }

    /// Returns the directories that were noted, with the number of processes that have noted each.
    pub(crate) fn directories(&self) -> BTreeMap<PathBuf, usize> {
        let text = fs::read(&self.0).unwrap_or_default();
        let mut found = BTreeMap::new();
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            if let Some(path) = line.strip_suffix(b"\n").filter(|path| !path.is_empty()) {
                *found.entry(PathBuf::from(OsStr::from_bytes(path))).or_insert(0) += 1;
            }
        }
        found
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        // A note that cannot be removed is only untidy.
        let _ = fs::remove_file(&self.0);
    }
}

/// Returns where the note of a recording to this directory may be.
fn folders(output: Option<&Path>) -> impl Iterator<Item = PathBuf> {
    let beside = output.and_then(Path::parent).map(Path::to_owned);
    let folders = [beside, env::current_dir().ok(), Some(env::temp_dir())];
    folders.into_iter().flatten().filter(|folder| folder.is_absolute())
}

/// Removes the notes that launchers of these recordings have left because they were killed, as far as all that a note names is complete.
pub fn remove_left(directories: &[PathBuf]) {
    let finished: Vec<PathBuf> = directories.iter().filter_map(|it| it.canonicalize().ok()).collect();
    for directory in &finished {
        for entry in
            folders(Some(directory)).filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten()
        {
            let name = entry.file_name();
            let Some(launcher) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)) else { continue };
            // That of a launcher of this host that is still there will be read.
            let process = launcher.strip_prefix(&format!("{}-", host::name())).map(str::parse::<u32>);
            let is_read = matches!(process, Some(Ok(process)) if host::start_of(process).is_some());
            if is_read || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
                continue;
            }
            let note = Note::open(entry.path());
            let named = note.directories();
            let is_of_these = named.keys().any(|noted| noted.canonicalize().is_ok_and(|it| it == *directory));
            match is_of_these && named.keys().all(|noted| !noted.join(layout::RECORDING).exists()) {
                true => drop(note),
                false => note.leave(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn note_is_beside_the_output_and_counts_the_processes() {
        let directory = tempfile::tempdir().unwrap();
        let note = Note::create(Some(&directory.path().join("run"))).unwrap();
        assert_eq!(note.path().parent(), Some(directory.path()));
        assert!(note.directories().is_empty());
        fs::write(note.path(), "/a\n/b\n/a\n\n/cut").unwrap();
        assert_eq!(note.directories(), BTreeMap::from([("/a".into(), 2), ("/b".into(), 1)]));
        let path = note.path().to_owned();
        drop(note);
        assert!(!path.exists());
    }

    #[test]
    fn notes_of_killed_launchers_are_removed_with_the_recordings_that_they_name() {
        let folder = tempfile::tempdir().unwrap();
        let [done, other] = ["done", "other"].map(|name| folder.path().join(name));
        fs::create_dir_all(&done).unwrap();
        fs::create_dir_all(other.join(layout::RECORDING)).unwrap();
        let note = |launcher: &str, named: &[&Path]| {
            let path = folder.path().join(format!("{PREFIX}{launcher}"));
            fs::write(&path, named.iter().map(|path| format!("{}\n", path.display())).collect::<String>())
                .unwrap();
            path
        };
        let own = |process: u32| format!("{}-{process}", host::name());
        let left = [note(&own(u32::MAX), &[&done]), note("elsewhere-1", &[&done, &done])];
        let kept = [
            note(&own(std::process::id()), &[&done]),
            note("elsewhere-2", &[&done, &other]),
            note("elsewhere-3", &[&other]),
            note("elsewhere-4", &[]),
        ];
        remove_left(&[done, folder.path().join("missing")]);
        assert!(left.iter().all(|path| !path.exists()) && kept.iter().all(|path| path.exists()));
    }
}
