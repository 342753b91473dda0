//! Files that get their name when they are complete.

use crate::Error;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

/// A file under construction, `<name>.part`; removed again unless it is published.
#[derive(Debug)]
pub(crate) struct NewFile {
    path: PathBuf,
    part: PathBuf,
    file: File,
    is_synced: bool,
}

impl NewFile {
    pub(crate) fn create(path: PathBuf) -> Result<Self, Error> {
        let mut part = OsString::from(&path);
        part.push(".part");
        let part = PathBuf::from(part);
        match File::create(&part) {
            Ok(file) => Ok(NewFile { path, part, file, is_synced: true }),
            Err(cause) => Err(Error::io(&part, "create the file", cause)),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends to the content.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.file.write_all(bytes).map_err(|cause| Error::io(&self.path, "write the file", cause))
    }

    /// Omits `fsync` from now on.
    pub(crate) fn unsynced(&mut self) {
        self.is_synced = false;
    }

    /// Syncs the content to disk, then renames the file to its name.
    pub(crate) fn publish(self) -> Result<(), Error> {
        let synced = if self.is_synced { self.file.sync_all() } else { Ok(()) };
        let done = synced.and_then(|()| fs::rename(&self.part, &self.path));
        done.map_err(|cause| Error::io(&self.path, "finish the file", cause))
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        // After publishing there is nothing to remove; before, there is nobody to report a failure to.
        let _ = fs::remove_file(&self.part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_has_its_name_only_once_it_is_published() {
        let path = std::env::temp_dir().join(format!("otf2-new-file-{}", std::process::id()));
        let part = path.with_extension("part");
        let mut file = NewFile::create(path.clone()).unwrap();
        file.append(b"abc").unwrap();
        file.unsynced();
        assert!(part.exists() && !path.exists());
        file.publish().unwrap();
        assert!(!part.exists());
        assert_eq!(fs::read(&path).unwrap(), b"abc");
        drop(NewFile::create(path.clone()).unwrap());
        assert!(!part.exists() && path.exists());
        fs::remove_file(path).unwrap();
    }
}
