//! Files that get their names when they are complete.
//!
//! Until then such a file has no name at all where the file system supports that (`O_TMPFILE`, see open(2)):
//! it disappears with the process, however that ends. Elsewhere, as on NFS and most parallel file systems, it
//! has a hidden name beside the final one. Hidden names are removed by their process, before a signal ends it
//! by [`remove_temporaries`], and after SIGKILL by a later run.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::fs::{AtFlags, CWD, OFlags, linkat};

use crate::error::{Error, Result};

/// Age, since the last write, from which on the writer of a temporary file must be dead. Process ids do not
/// decide it: the writer may run on another host.
const STALE: Duration = Duration::from_secs(24 * 3600);

/// Hidden names of this process. They are created under this lock only.
static NAMES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn names() -> MutexGuard<'static, Vec<PathBuf>> {
    NAMES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Blocks the creation of temporary files while it lives: see [`remove_temporaries`].
#[derive(Debug)]
pub struct Removed {
    _names: MutexGuard<'static, Vec<PathBuf>>,
}

/// Removes the temporary files of all reports that this process is writing, before it ends by a signal.
/// Published reports stay. As long as the returned guard lives, other threads block before they create
/// further temporary files. The removal takes as long as the file system does.
pub fn remove_temporaries() -> Removed {
    let mut names = names();
    for name in names.drain(..) {
        let _ = fs::remove_file(name);
    }
    Removed { _names: names }
}

/// The hidden name of a file, removed on drop.
#[derive(Debug)]
struct HiddenName(PathBuf);

impl HiddenName {
    /// Calls `make` to create a file under a new name in the directory of `path`.
    fn new<T>(path: &Path, make: impl Fn(&Path) -> io::Result<T>) -> io::Result<(HiddenName, T)> {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let last = path.file_name().unwrap_or_default().to_string_lossy();
        let mut names = names();
        loop {
            let number = COUNTER.fetch_add(1, Ordering::Relaxed);
            let name = path.with_file_name(format!(".{last}.{}-{number}", std::process::id()));
            match make(&name) {
                Ok(made) => {
                    names.push(name.clone());
                    return Ok((HiddenName(name), made));
                }
                // The name is taken by a process with our id that was killed, or that runs on another host.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Renames the file to `path`, replacing what is there.
    fn rename(self, path: &Path) -> io::Result<()> {
        fs::rename(&self.0, path)?;
        names().retain(|name| *name != self.0);
        // The name does not exist any more: nothing to remove.
        std::mem::forget(self);
        Ok(())
    }
}

impl Drop for HiddenName {
    fn drop(&mut self) {
        let mut names = names();
        let _ = fs::remove_file(&self.0);
        names.retain(|name| *name != self.0);
    }
}

/// A file under construction, published under its path when it is complete.
#[derive(Debug)]
pub(crate) struct Temporary {
    path: PathBuf,
    /// Hidden name; `None` for a file without a name.
    name: Option<HiddenName>,
}

impl Temporary {
    /// Creates a file in the directory of `path`.
    pub(crate) fn beside(path: &Path) -> Result<(Temporary, File)> {
        remove_stale(path);
        match without_name(path) {
            Some(file) => Ok((Temporary { path: path.to_owned(), name: None }, file)),
            None => Temporary::with_name(path).map_err(|error| Error::io("create the report", error)),
        }
    }

    fn with_name(path: &Path) -> io::Result<(Temporary, File)> {
        let create = |name: &Path| OpenOptions::new().write(true).create_new(true).open(name);
        let (name, file) = HiddenName::new(path, create)?;
        Ok((Temporary { path: path.to_owned(), name: Some(name) }, file))
    }

    /// Syncs the complete file to disk.
    pub(crate) fn store(self, file: File) -> Result<Stored> {
        file.sync_all().map_err(|error| Error::io("store the report", error))?;
        let hidden = match self.name {
            Some(name) => Hidden::Named(name),
            None => Hidden::Nameless(file),
        };
        Ok(Stored { path: self.path, hidden })
    }
}

/// Creates a file without a name, if it can be linked to one later.
fn without_name(path: &Path) -> Option<File> {
    let flags = OFlags::TMPFILE.bits().cast_signed();
    let file = OpenOptions::new().write(true).custom_flags(flags).open(directory(path)).ok()?;
    // Linking needs /proc.
    fs::symlink_metadata(handle(&file)).is_ok().then_some(file)
}

/// Path of an open file without a name.
fn handle(file: &File) -> PathBuf {
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

/// A complete file on disk, not published yet.
#[derive(Debug)]
pub(crate) struct Stored {
    path: PathBuf,
    hidden: Hidden,
}

#[derive(Debug)]
enum Hidden {
    Named(HiddenName),
    Nameless(File),
}

impl Stored {
    /// Publishes the file under its path.
    fn place(self) -> io::Result<Published> {
        let Stored { path, hidden } = self;
        let is_new = fs::symlink_metadata(&path).is_err_and(|error| error.kind() == ErrorKind::NotFound);
        // Without hard links, or if this file cannot be linked, the old file cannot be restored.
        let old = (!is_new).then(|| HiddenName::new(&path, |name| fs::hard_link(&path, name)).ok()).flatten();
        let old = old.map(|(name, ())| name);
        let name = match hidden {
            Hidden::Named(name) => name,
            Hidden::Nameless(file) => {
                let link = |to: &Path| {
                    linkat(CWD, handle(&file), CWD, to, AtFlags::SYMLINK_FOLLOW).map_err(io::Error::from)
                };
                if is_new {
                    match link(&path) {
                        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                        done => return done.map(|()| Published { path, old, is_new }),
                    }
                }
                HiddenName::new(&path, link)?.0
            }
        };
        name.rename(&path)?;
        Ok(Published { path, old, is_new })
    }
}

/// A published file.
struct Published {
    path: PathBuf,
    /// The replaced file, kept until all files are published.
    old: Option<HiddenName>,
    is_new: bool,
}

impl Published {
    /// Restores the earlier state, as far as that is possible.
    fn undo(self) {
        let _ = match self.old {
            Some(old) => old.rename(&self.path),
            None if self.is_new => fs::remove_file(&self.path),
            None => Ok(()),
        };
    }
}

/// Publishes files in this order: all, or none of them.
///
/// # Errors
///
/// If one cannot be published. The others are undone then.
pub(crate) fn put_in_place(files: Vec<Stored>) -> Result<()> {
    let mut placed: Vec<Published> = Vec::with_capacity(files.len());
    for file in files {
        let path = file.path.clone();
        match file.place() {
            Ok(file) => placed.push(file),
            Err(error) => {
                placed.into_iter().rev().for_each(Published::undo);
                return Err(Error::io("put the report in place", error).in_file(&path));
            }
        }
    }
    let directories: BTreeSet<PathBuf> = placed.iter().map(|file| directory(&file.path).to_owned()).collect();
    // The replaced files are not needed any more. Their hidden names go at once: SIGKILL may come at any
    // time.
    drop(placed);
    // Makes the new names durable, where the file system can; the contents are synced already.
    for directory in directories {
        let _ = File::open(directory).and_then(|directory| directory.sync_all());
    }
    Ok(())
}

/// Removes temporary files of killed writers of the report at this path. Failures are ignored: the files do
/// no harm.
fn remove_stale(path: &Path) {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_temporary = |found: &str| {
        let numbers = found.strip_prefix('.').and_then(|found| found.strip_prefix(&*name)?.strip_prefix('.'));
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

/// The directory of a file.
fn directory(path: &Path) -> &Path {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::Write;

    use super::*;

    /// Names and contents of all files in a directory.
    fn files(directory: &Path) -> BTreeMap<String, String> {
        let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
        let file = |entry: fs::DirEntry| {
            let text = fs::read_to_string(entry.path()).unwrap_or_else(|_| "a directory".into());
            (entry.file_name().into_string().unwrap(), text)
        };
        entries.map(file).collect()
    }

    fn expected(files: &[(&str, &str)]) -> BTreeMap<String, String> {
        files.iter().map(|&(name, text)| (name.into(), text.into())).collect()
    }

    /// Files `a` and `b` with the text `new`, stored: with hidden names, or without where the file system
    /// can.
    fn stored(directory: &Path, are_named: bool) -> Vec<Stored> {
        let store = |name: &str| {
            let path = directory.join(name);
            let (temporary, mut file) = if are_named {
                Temporary::with_name(&path).unwrap()
            } else {
                Temporary::beside(&path).unwrap()
            };
            file.write_all(b"new").unwrap();
            temporary.store(file).unwrap()
        };
        ["a", "b"].map(store).into()
    }

    #[test]
    fn files_replace_others_or_none_and_leave_no_other_names() {
        for are_named in [false, true] {
            let directory = tempfile::tempdir().unwrap();
            for old in [&[][..], &["a", "b"], &["a"], &["b"]] {
                let path = |name: &&str| directory.path().join(name);
                ["a", "b"].iter().for_each(|name| drop(fs::remove_file(path(name))));
                old.iter().for_each(|name| fs::write(path(name), "old").unwrap());
                put_in_place(stored(directory.path(), are_named)).unwrap();
                assert_eq!(files(directory.path()), expected(&[("a", "new"), ("b", "new")]));
            }
        }
    }

    #[test]
    fn files_that_are_not_put_in_place_are_gone() {
        for are_named in [false, true] {
            let directory = tempfile::tempdir().unwrap();
            fs::write(directory.path().join("a"), "old").unwrap();
            drop(stored(directory.path(), are_named));
            assert_eq!(files(directory.path()), expected(&[("a", "old")]));
        }
    }

    #[test]
    fn second_file_that_has_no_place_takes_the_first_one_back() {
        for are_named in [false, true] {
            for old in [&[][..], &[("a", "old")]] {
                let directory = tempfile::tempdir().unwrap();
                old.iter().for_each(|(name, text)| fs::write(directory.path().join(name), text).unwrap());
                let stored = stored(directory.path(), are_named);
                fs::create_dir(directory.path().join("b")).unwrap();
                let error = put_in_place(stored).unwrap_err().to_string();
                assert!(error.contains("/b: cannot put the report in place"), "{error}");
                let left = [old, &[("b", "a directory")]].concat();
                assert_eq!(files(directory.path()), expected(&left));
            }
        }
    }

    #[test]
    fn file_that_appears_meanwhile_is_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let stored = stored(directory.path(), false);
        fs::write(directory.path().join("b"), "meanwhile").unwrap();
        put_in_place(stored).unwrap();
        assert_eq!(files(directory.path()), expected(&[("a", "new"), ("b", "new")]));
    }
}
