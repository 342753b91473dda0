//! The note: the file to which processes append the paths of their experiment directories.

use crate::{Error, host};
use std::collections::BTreeMap;
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A note; its file is removed with it.
pub(crate) struct Note(PathBuf);

impl Note {
    /// Creates an empty note: beside the output, which other nodes see, or in the working directory, or else
    /// where only this node sees it.
    pub(crate) fn create(output: Option<&Path>) -> Result<Self, Error> {
        let name = format!(".replay-note-{}-{}", host::name(), std::process::id());
        let beside = output.and_then(Path::parent).map(Path::to_owned);
        let folders = [beside, env::current_dir().ok(), Some(env::temp_dir())];
        let mut failed = Error::new("there is no directory for a note");
        for folder in folders.into_iter().flatten().filter(|folder| folder.is_absolute()) {
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
}
