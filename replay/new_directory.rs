//! The directory of an archive that is written: under another name until it is complete.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::error::Error;

/// Directories to remove if a signal ends the process.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A directory that gets its name when it is complete; before, it is removed again.
#[derive(Debug)]
pub struct NewDirectory {
    /// The option that names it, for messages.
    option: &'static str,
    path: PathBuf,
    part: PathBuf,
}

impl NewDirectory {
    /// Makes the directory for this path, which an option names.
    ///
    /// # Errors
    /// If there is something of that name, or no directory can be made there.
    pub fn create(path: &Path, option: &'static str) -> Result<NewDirectory, Error> {
        if path.symlink_metadata().is_ok() {
            return Err(Error::new(format!(
                "{}: there is something of that name; choose another one with {option}",
                path.display()
            )));
        }
        let part = part_of(path);
        let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        fs::create_dir(&part).map_err(|cause| {
            let advice = match cause.kind() {
                io::ErrorKind::AlreadyExists => "remove what an earlier run has left",
                io::ErrorKind::NotFound => "make the directory that it is to be in",
                _ => &format!("choose another place with {option}"),
            };
            Error::new(format!("{}: cannot create the directory: {cause}; {advice}", part.display()))
        })?;
        unfinished.push(part.clone());
        Ok(NewDirectory { option, path: path.to_owned(), part })
    }

    /// Gives the directory its name.
    ///
    /// # Errors
    /// If that is not possible.
    pub fn put_in_place(&self) -> Result<(), Error> {
        let synced = File::open(&self.part).and_then(|directory| directory.sync_all());
        synced
            .and_then(|()| fs::rename(&self.part, &self.path))
            .map_err(|cause| failed(&self.path, &cause, self.option))
    }
}

impl Drop for NewDirectory {
    fn drop(&mut self) {
        let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        unfinished.retain(|part| *part != self.part);
        // Once it has its name there is nothing to remove; before, nobody is told of a failure.
        let _ = fs::remove_dir_all(&self.part);
    }
}

/// The name of a directory until it is complete.
pub(crate) fn part_of(path: &Path) -> PathBuf {
    let mut part = OsString::from(path.components().as_path());
    part.push(".part");
    part.into()
}

/// Removes directories that are not complete, before a signal ends the process.
pub fn remove_unfinished() {
    for part in UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        let _ = fs::remove_dir_all(part);
    }
}

/// Writes a file of an archive to disk, whose place an option names.
///
/// # Errors
/// If that is not possible.
pub(crate) fn write_file(path: &Path, bytes: &[u8], option: &str) -> Result<(), Error> {
    let write = || {
        let mut file = File::create(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    write().map_err(|cause| failed(path, &cause, option))
}

/// The error of a file that cannot be written.
pub(crate) fn failed(path: &Path, cause: &io::Error, option: &str) -> Error {
    Error::new(format!(
        "{}: cannot write the archive: {cause}; choose another place with {option}",
        path.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directory_has_its_name_only_once_it_is_complete() {
        let around = tempfile::tempdir().unwrap();
        let path = around.path().join("short");
        let new = NewDirectory::create(&path, "--short").unwrap();
        assert!(part_of(&path).is_dir() && !path.exists());
        let error = NewDirectory::create(&path, "--short").unwrap_err().to_string();
        assert!(error.contains("an earlier run"), "{error}");
        drop(new);
        assert!(!part_of(&path).exists());
        let new = NewDirectory::create(&path, "--short").unwrap();
        new.put_in_place().unwrap();
        drop(new);
        assert!(path.is_dir() && !part_of(&path).exists());
        let error = NewDirectory::create(&path, "--short").unwrap_err().to_string();
        assert!(error.contains("there is something of that name"), "{error}");
        let error = NewDirectory::create(&around.path().join("a/b"), "--short").unwrap_err().to_string();
        assert!(error.contains("make the directory"), "{error}");
    }
}
