//! The lock of an archive: one process at a time completes it, the one that has created the file
//! `recording/finishing`.
//!
//! The file identifies the process. A lock of a dead process is taken over, which is possible on the same
//! host only.

use crate::Error;
use crate::host;
use recording::layout;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The lock, until it is dropped.
#[derive(Debug)]
pub(crate) struct Lock(PathBuf);

impl Lock {
    /// Locks a recording, or returns the holder of the lock.
    ///
    /// # Errors
    /// If the disk refuses.
    pub(crate) fn take(directory: &Path) -> Result<Result<Self, String>, Error> {
        let path = directory.join(layout::RECORDING).join("finishing");
        let own = identity(std::process::id());
        // Each round but the last has removed a stale lock; more than a few mean that something else is
        // wrong.
        for _ in 0..8 {
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(mut file) => {
                    file.write_all(own.as_bytes())
                        .map_err(|cause| Error::io(&path, "write the file", cause))?;
                    return Ok(Ok(Lock(path)));
                }
                Err(cause) if cause.kind() == ErrorKind::AlreadyExists => {}
                Err(cause) => return Err(Error::io(&path, "create the file", cause)),
            }
            let holder = fs::read_to_string(&path).unwrap_or_default();
            if !is_stale(&holder) {
                return Ok(Err(match holder.split(' ').collect::<Vec<_>>()[..] {
                    [on, process, _] => format!("on {on}, process {process}"),
                    _ => format!(
                        "by nobody who says so; if no replay-record is at work, remove {}",
                        path.display()
                    ),
                }));
            }
            // If several find it stale, one moves it; then it is checked that this is the lock that was found
            // stale.
            let stale = path.with_extension(format!("stale.{}", std::process::id()));
            if fs::rename(&path, &stale).is_ok() && fs::read_to_string(&stale).ok() != Some(holder) {
                // It was taken over in between by another process, which gets it back.
                let _ = fs::rename(&stale, &path);
            } else {
                let _ = fs::remove_file(&stale);
            }
        }
        Err(Error::new(format!("{}: it cannot be locked; remove that file", path.display())))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // It is gone already if the archive is complete.
        let _ = fs::remove_file(&self.0);
    }
}

/// Returns host, id and start time of a process: ids are reused, but not within the same tick of the clock.
fn identity(process: u32) -> String {
    format!("{} {process} {}", host::name(), host::start_of(process).unwrap_or(0))
}

/// Whether the holder of a lock is a process of this host that has ended.
fn is_stale(holder: &str) -> bool {
    let mut words = holder.split(' ');
    let (Some(on), Some(process)) = (words.next(), words.next()) else { return false };
    let Ok(process) = process.parse() else { return false };
    on == host::name() && holder != identity(process)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording() -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join(layout::RECORDING)).unwrap();
        directory
    }

    #[test]
    fn second_one_has_to_wait_until_the_first_is_done() {
        let directory = recording();
        let lock = Lock::take(directory.path()).unwrap().unwrap();
        let holder = Lock::take(directory.path()).unwrap().unwrap_err();
        assert_eq!(holder, format!("on {}, process {}", host::name(), std::process::id()));
        drop(lock);
        assert!(Lock::take(directory.path()).unwrap().is_ok());
    }

    #[test]
    fn lock_of_the_dead_is_taken_over_but_not_that_of_another_host() {
        let directory = recording();
        let path = directory.path().join(layout::RECORDING).join("finishing");
        fs::write(&path, format!("{} {} 1", host::name(), std::process::id())).unwrap();
        drop(Lock::take(directory.path()).unwrap().unwrap());
        for (other, says) in [("elsewhere 1 1", "on elsewhere, process 1"), ("", "remove "), ("x", "remove ")]
        {
            fs::write(&path, other).unwrap();
            let holder = Lock::take(directory.path()).unwrap().unwrap_err();
            assert!(holder.contains(says), "{holder}");
        }
    }
}
