//! Files under temporary names.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::error::{Error, Result};

/// Nobody has written to a temporary file of this age for so long that its writer must be dead. Process numbers would
/// not tell: the writer may run on another host.
const STALE: Duration = Duration::from_secs(24 * 3600);

/// The file under its temporary name; removed on drop unless it was renamed.
#[derive(Debug)]
pub(crate) struct Temporary(Option<PathBuf>);

impl Temporary {
    /// Creates a file of a new name in the directory of `path`.
    pub(crate) fn beside(path: &Path, name: &str) -> Result<(Temporary, File)> {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        remove_stale(path, name);
        loop {
            let number = COUNTER.fetch_add(1, Ordering::Relaxed);
            let temporary = path.with_file_name(format!(".{name}.{}-{number}", std::process::id()));
            match OpenOptions::new().write(true).create_new(true).open(&temporary) {
                Ok(file) => return Ok((Temporary(Some(temporary)), file)),
                // Left behind by a killed process that had our number.
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Error::io("create the report", error)),
            }
        }
    }

    /// Puts the file in place of `path`.
    pub(crate) fn rename(&mut self, path: &Path) -> Result<()> {
        if let Some(temporary) = &self.0 {
            fs::rename(temporary, path).map_err(|error| Error::io("put the report in place", error))?;
            self.0 = None;
        }
        // Makes the new name durable, where the file system can; the report itself is stored already.
        let _ = File::open(directory(path)).and_then(|directory| directory.sync_all());
        Ok(())
    }
}

/// Removes what killed writers of the report of this name have left behind. What cannot be removed does no harm.
fn remove_stale(path: &Path, name: &str) {
    let is_temporary = |found: &str| {
        let numbers = found.strip_prefix('.').and_then(|found| found.strip_prefix(name)?.strip_prefix('.'));
        numbers.is_some_and(|numbers| numbers.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-'))
    };
    for entry in fs::read_dir(directory(path)).into_iter().flatten().flatten() {
        let modified = || entry.metadata().ok()?.modified().ok();
        if entry.file_name().to_str().is_some_and(is_temporary)
            && modified().and_then(|modified| modified.elapsed().ok()).is_some_and(|age| age > STALE)
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The directory that a file is in.
fn directory(path: &Path) -> &Path {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(temporary) = &self.0 {
            let _ = fs::remove_file(temporary);
        }
    }
}
