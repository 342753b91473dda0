//! The directory of an archive that is written: under another name until it is complete.
//!
//! Deliberately absent: what is in the directory.

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The name of an anchor, by which a directory is known to be an experiment.
pub const ANCHOR: &str = "traces.otf2";

/// Directories to remove if a signal ends the process.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A directory or a file in it that cannot be written: which, why, and what to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error(String);

impl Error {
    #[cold]
    fn new(path: &Path, message: impl fmt::Display) -> Error {
        Error(format!("{}: {message}", path.display()))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

/// An option that lets a directory replace an experiment, for messages, and whether it is given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Replacing {
    /// The option.
    pub option: &'static str,
    /// Whether the user has given it.
    pub is_wanted: bool,
}

/// A directory that gets its name when it is complete; before, it is removed again.
#[derive(Debug)]
pub struct NewDirectory {
    /// The option that names it, for messages.
    option: &'static str,
    path: PathBuf,
    part: PathBuf,
    replaces: bool,
}

impl NewDirectory {
    /// Makes the directory for this path, which an option names. It may replace an experiment if there is an option for that.
    ///
    /// # Errors
    /// If there is something of that name that it may not replace, or no directory can be made there.
    pub fn create(
        path: &Path,
        option: &'static str,
        replacing: Option<Replacing>,
    ) -> Result<NewDirectory, Error> {
        let replaces = replacing.is_some_and(|replacing| replacing.is_wanted);
        if let Ok(there) = path.symlink_metadata() {
            match replacing {
                None => {
                    let message =
                        format_args!("there is something of that name; choose another one with {option}");
                    return Err(Error::new(path, message));
                }
                Some(Replacing { option: force, is_wanted: false }) => {
                    let message = format_args!(
                        "there is something of that name; choose another one with {option}, or replace it with {force}"
                    );
                    return Err(Error::new(path, message));
                }
                Some(Replacing { option: force, .. }) if !there.is_dir() || !path.join(ANCHOR).exists() => {
                    let message = format_args!(
                        "{force} replaces experiments only, and there is no {ANCHOR} in it; choose another name with {option}"
                    );
                    return Err(Error::new(path, message));
                }
                Some(_) => {}
            }
        }
        let old = with_ending(path, ".old");
        if replaces && old.symlink_metadata().is_ok() {
            let message = format_args!(
                "this is where what is replaced is put for a moment; remove it, or choose another name with {option}"
            );
            return Err(Error::new(&old, message));
        }
        let part = part_of(path);
        let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        fs::create_dir(&part).map_err(|cause| {
            let advice = match cause.kind() {
                io::ErrorKind::AlreadyExists => "remove what an earlier run has left",
                io::ErrorKind::NotFound => "make the directory that it is to be in",
                _ => &format!("choose another place with {option}"),
            };
            Error::new(&part, format_args!("cannot create the directory: {cause}; {advice}"))
        })?;
        unfinished.push(part.clone());
        Ok(NewDirectory { option, path: path.to_owned(), part, replaces })
    }

    /// The directory as it is called until it is complete.
    pub fn part(&self) -> &Path {
        &self.part
    }

    /// Gives the directory its name.
    ///
    /// # Errors
    /// If that is not possible, or what was replaced cannot be removed.
    pub fn put_in_place(&self) -> Result<(), Error> {
        let failed = |cause| failed(&self.path, &cause, self.option);
        let old = with_ending(&self.path, ".old");
        let is_there = self.replaces && self.path.exists();
        File::open(&self.part).and_then(|directory| directory.sync_all()).map_err(failed)?;
        if is_there {
            fs::rename(&self.path, &old).map_err(failed)?;
        }
        if let Err(cause) = fs::rename(&self.part, &self.path) {
            if is_there {
                // What was there comes back; if that fails, too, it is still beside.
                let _ = fs::rename(&old, &self.path);
            }
            return Err(failed(cause));
        }
        if is_there {
            fs::remove_dir_all(&old).map_err(|cause| {
                Error::new(&old, format_args!("cannot remove what was replaced: {cause}; remove it"))
            })?;
        }
        Ok(())
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
pub fn part_of(path: &Path) -> PathBuf {
    with_ending(path, ".part")
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path.components().as_path());
    name.push(ending);
    name.into()
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
pub fn write_file(path: &Path, bytes: &[u8], option: &str) -> Result<(), Error> {
    let write = || {
        let mut file = File::create(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    write().map_err(|cause| failed(path, &cause, option))
}

/// The error of a file that cannot be written.
pub fn failed(path: &Path, cause: &io::Error, option: &str) -> Error {
    Error::new(path, format_args!("cannot write the archive: {cause}; choose another place with {option}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTION: &str = "--short";

    fn refused(path: &Path, replacing: Option<Replacing>) -> String {
        NewDirectory::create(path, OPTION, replacing).unwrap_err().to_string()
    }

    #[test]
    fn directory_has_its_name_only_once_it_is_complete() {
        let around = tempfile::tempdir().unwrap();
        let path = around.path().join("short");
        let new = NewDirectory::create(&path, OPTION, None).unwrap();
        assert!(part_of(&path).is_dir() && !path.exists());
        assert!(refused(&path, None).contains("an earlier run"));
        drop(new);
        assert!(!part_of(&path).exists());
        let new = NewDirectory::create(&path, OPTION, None).unwrap();
        new.put_in_place().unwrap();
        drop(new);
        assert!(path.is_dir() && !part_of(&path).exists());
        let text = refused(&path, None);
        assert!(text.contains("there is something of that name") && text.ends_with(OPTION), "{text}");
        assert!(refused(&around.path().join("a/b"), None).contains("make the directory"));
    }

    #[test]
    fn only_experiments_are_replaced_and_only_if_it_is_wanted() {
        let around = tempfile::tempdir().unwrap();
        let path = around.path().join("a");
        let replacing = |is_wanted| Some(Replacing { option: "--force", is_wanted });
        let write = |content: &str| {
            let new = NewDirectory::create(&path, OPTION, replacing(true)).unwrap();
            fs::write(new.part().join(ANCHOR), content).unwrap();
            new.put_in_place().unwrap();
        };
        write("1");
        assert!(refused(&path, replacing(false)).ends_with("or replace it with --force"));
        write("2");
        assert_eq!(fs::read(path.join(ANCHOR)).unwrap(), b"2");
        assert_eq!(fs::read_dir(around.path()).unwrap().count(), 1);
        fs::create_dir(with_ending(&path, ".old")).unwrap();
        assert!(refused(&path, replacing(true)).contains("a.old: this is where"));
        fs::remove_file(path.join(ANCHOR)).unwrap();
        assert!(refused(&path, replacing(true)).contains("replaces experiments only"));
    }
}
