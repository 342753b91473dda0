//! The directory of the archive: under another name until it is complete.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::error::{Error, OTHER_PLACE, Result};

/// The anchor of an archive, by which a directory is known to be an experiment.
const ANCHOR: &str = "traces.otf2";

/// A directory that gets its name when it is complete; before, it is removed again.
#[derive(Debug)]
pub(crate) struct NewDirectory {
    path: PathBuf,
    part: PathBuf,
    replaces: bool,
}

impl NewDirectory {
    /// Makes the directory for a path; with `replaces` one that has an archive may be there.
    pub(crate) fn create(path: &Path, replaces: bool) -> Result<NewDirectory> {
        let there = path.symlink_metadata();
        if there.is_ok() && !replaces {
            let message =
                "there is something of that name; choose another one with -o, or replace it with --force";
            return Err(Error::file(path, message));
        }
        if let Ok(there) = there
            && !(there.is_dir() && path.join(ANCHOR).exists())
        {
            let message = format_args!(
                "--force replaces experiments only, and there is no {ANCHOR} in it; choose another name with -o"
            );
            return Err(Error::file(path, message));
        }
        let old = with_ending(path, ".old");
        if replaces && old.symlink_metadata().is_ok() {
            let message = "this is where what is replaced is put for a moment; remove it, or choose another name with -o";
            return Err(Error::file(&old, message));
        }
        let part = with_ending(path, ".part");
        if let Err(cause) = fs::create_dir(&part) {
            let advice = match cause.kind() {
                ErrorKind::AlreadyExists => "remove what an earlier run has left",
                ErrorKind::NotFound => "make the directory that it is to be in",
                _ => OTHER_PLACE,
            };
            return Err(Error::file(&part, format_args!("cannot create the directory: {cause}; {advice}")));
        }
        Ok(NewDirectory { path: path.to_owned(), part, replaces })
    }

    /// The anchor of the archive in it.
    pub(crate) fn anchor(&self) -> PathBuf {
        self.part.join(ANCHOR)
    }

    /// A file in it that has no name, for what is needed until then.
    pub(crate) fn temporary(&self) -> Result<File> {
        tempfile::tempfile_in(&self.part)
            .map_err(|cause| Error::io(&self.part, "create a temporary file", &cause))
    }

    /// The directory as it is called until it is complete.
    pub(crate) fn part(&self) -> &Path {
        &self.part
    }

    /// Gives the directory its name.
    pub(crate) fn put_in_place(&self) -> Result<()> {
        let failed = |cause| Error::io(&self.path, "put the archive in its place", &cause);
        let old = with_ending(&self.path, ".old");
        let replaced = self.replaces && self.path.exists();
        if replaced {
            fs::rename(&self.path, &old).map_err(failed)?;
        }
        if let Err(cause) = fs::rename(&self.part, &self.path) {
            if replaced {
                // What was there comes back; if that fails, too, it is still beside.
                let _ = fs::rename(&old, &self.path);
            }
            return Err(failed(cause));
        }
        if replaced {
            fs::remove_dir_all(&old).map_err(|cause| {
                let message = format_args!("cannot remove what was replaced: {cause}; remove it");
                Error::file(&old, message)
            })?;
        }
        Ok(())
    }
}

impl Drop for NewDirectory {
    fn drop(&mut self) {
        // Once it has its name there is nothing to remove; before, nobody is told of a failure.
        let _ = fs::remove_dir_all(&self.part);
    }
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path.components().as_path());
    name.push(ending);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directory_has_its_name_only_once_it_is_complete() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        drop(NewDirectory::create(&path, false).unwrap());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
        let new = NewDirectory::create(&path, false).unwrap();
        fs::write(new.anchor(), "1").unwrap();
        new.put_in_place().unwrap();
        assert_eq!(fs::read(path.join(ANCHOR)).unwrap(), b"1");
        let refused = NewDirectory::create(&path, false).unwrap_err().to_string();
        assert!(refused.contains("--force"), "{refused}");
        let new = NewDirectory::create(&path, true).unwrap();
        fs::write(new.anchor(), "2").unwrap();
        new.put_in_place().unwrap();
        assert_eq!(fs::read(path.join(ANCHOR)).unwrap(), b"2");
        fs::create_dir(with_ending(&path, ".old")).unwrap();
        let error = NewDirectory::create(&path, true).unwrap_err().to_string();
        assert!(error.contains("a.old: this is where"), "{error}");
        fs::remove_dir(with_ending(&path, ".old")).unwrap();
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn only_experiments_are_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let error = NewDirectory::create(directory.path(), true).unwrap_err().to_string();
        assert!(error.contains("replaces experiments only"), "{error}");
        let nowhere = NewDirectory::create(&directory.path().join("a/b"), false).unwrap_err().to_string();
        assert!(nowhere.contains("make the directory"), "{nowhere}");
    }
}
