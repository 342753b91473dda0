//! Files that get their names when they are complete: written beside, synced and renamed.
//!
//! If anything fails, such as a full disk, what was there before is still there.

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, ErrorKind, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::{Builder, TempDir};

use crate::error::{Error, Result};
use crate::output::{Output, Written};

/// A writer that counts bytes up to a limit, and remembers why it failed.
struct Counted<W> {
    inner: W,
    left: u64,
    written: Written,
    failure: Option<Failure>,
}

/// Why nothing more can be written.
enum Failure {
    Limit,
    Io(ErrorKind, String),
}

impl<W: Write> Counted<W> {
    fn new(inner: W, limit: u64, written: Written) -> Counted<W> {
        Counted { inner, left: limit, written, failure: None }
    }

    fn note(&mut self, error: io::Error) -> io::Error {
        self.failure = Some(Failure::Io(error.kind(), error.to_string()));
        error
    }
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() as u64 > self.left {
            self.failure = Some(Failure::Limit);
            return Err(io::Error::other("the limit is reached"));
        }
        let written = self.inner.write(bytes).map_err(|error| self.note(error))?;
        self.left -= written as u64;
        self.written.add(written);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush().map_err(|error| self.note(error))
    }
}

/// The message of a failure; that of `error` if no writing failed.
fn explained(failure: Option<Failure>, path: &str, error: Error) -> Error {
    match failure {
        Some(Failure::Limit) => Error::new(format!(
            "{path}: the export is larger than 512 MB; --large allows that, and -m, --ranks or --window, \
             where the format takes them, make it smaller"
        )),
        Some(Failure::Io(_, why)) => {
            Error::new(format!("{path}: cannot be written ({why}); what was there before is unchanged"))
        }
        None => error,
    }
}

/// Fills a writer of so many bytes at most; returns how many are left.
fn fill<T>(
    inner: impl Write + Send,
    limit: u64,
    path: &str,
    written: Written,
    write: impl FnOnce(&mut (dyn Write + Send)) -> Result<T>,
) -> Result<(T, u64)> {
    let mut out = BufWriter::with_capacity(1 << 16, Counted::new(inner, limit, written));
    let done = write(&mut out).and_then(|done| Ok(out.flush().map(|()| done)?));
    // What is left in the buffer after a failure must not be written.
    let (counted, _) = out.into_parts();
    match done {
        Ok(done) => Ok((done, counted.left)),
        Err(error) => Err(explained(counted.failure, path, error)),
    }
}

/// Makes a file of at most `limit` bytes; on standard output if there is no path.
///
/// # Errors
/// If `write` fails, or the file cannot be written.
pub(super) fn file<T: Default>(
    path: Option<&Path>,
    limit: u64,
    output: &mut Output<'_>,
    write: impl FnOnce(&mut dyn Write) -> Result<T>,
) -> Result<T> {
    let Some(path) = path else { return to_results(limit, output, write) };
    let name = path.display().to_string();
    let wrong = |error: io::Error| Error::new(format!("{name}: cannot be written ({error})"));
    // A device or a pipe cannot be replaced.
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
        let device = File::options().write(true).open(path).map_err(wrong)?;
        return Ok(fill(device, limit, &name, output.written(), |out| write(out))?.0);
    }
    if path.is_dir() {
        return Err(Error::new(format!("{name}: is a directory, expected the name of a file")));
    }
    if is_report(path) {
        return Err(Error::new(format!(
            "{name}: is a report and stays what it is; name another file with -o"
        )));
    }
    let folder = folder(path);
    let mode = Permissions::from_mode(0o666);
    let file =
        Builder::new().prefix(".replay-show-").permissions(mode).tempfile_in(&folder).map_err(wrong)?;
    let (done, _) = fill(file.as_file(), limit, &name, output.written(), |out| write(out))?;
    file.as_file().sync_all().map_err(wrong)?;
    file.persist(path).map_err(|error| wrong(error.error))?;
    sync_folder(&folder).map_err(wrong)?;
    Ok(done)
}

/// Writes to standard output. A reader that has gone away is no error.
fn to_results<T: Default>(
    limit: u64,
    output: &mut Output<'_>,
    write: impl FnOnce(&mut dyn Write) -> Result<T>,
) -> Result<T> {
    let mut done = Ok(T::default());
    output.write(|results| {
        let mut out = BufWriter::with_capacity(1 << 16, Counted::new(results, limit, Written::default()));
        done = write(&mut out).and_then(|done| Ok(out.flush().map(|()| done)?));
        let (counted, _) = out.into_parts();
        match counted.failure {
            Some(Failure::Io(ErrorKind::BrokenPipe, _)) => done = Ok(T::default()),
            failure => {
                if let Err(error) = &done {
                    done = Err(explained(failure, "standard output", error.clone()));
                }
            }
        }
        Ok(())
    })?;
    done
}

/// Whether a file is a tar archive, as reports are: who names one as the output has mixed up two names.
fn is_report(path: &Path) -> bool {
    // The magic of a header (POSIX.1-2017, pax, ustar Interchange Format).
    let mut header = [0; 262];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut header));
    read.is_ok() && header.ends_with(b"ustar")
}

/// The folder of a path.
fn folder(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Makes a rename last.
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// A directory that gets its name when all its files are complete.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    temporary: TempDir,
    left: u64,
    written: Written,
}

impl Folder {
    /// Begins a directory of files with these extensions and at most `limit` bytes together.
    ///
    /// # Errors
    /// If it cannot be made, or `path` is something else than an export that may be replaced.
    pub(super) fn create(path: &Path, extensions: &[&str], limit: u64, written: Written) -> Result<Folder> {
        let name = path.display();
        let wrong = |error: io::Error| Error::new(format!("{name}: cannot be written ({error})"));
        if fs::symlink_metadata(path).is_ok() {
            let is_ours = |entry: io::Result<fs::DirEntry>| {
                entry.is_ok_and(|entry| {
                    let path = entry.path();
                    path.extension().is_some_and(|it| extensions.iter().any(|extension| it == *extension))
                })
            };
            if !fs::read_dir(path).map_err(wrong)?.all(is_ours) {
                return Err(Error::new(format!(
                    "{name}: has other files than .{}, expected an export to replace, or a new name",
                    extensions.join(", .")
                )));
            }
        }
        let mode = Permissions::from_mode(0o777);
        let temporary = Builder::new().prefix(".replay-show-").permissions(mode).tempdir_in(folder(path));
        Ok(Folder { path: path.to_owned(), temporary: temporary.map_err(wrong)?, left: limit, written })
    }

    /// Makes one of its files.
    ///
    /// # Errors
    /// If `write` fails, or the file cannot be written.
    pub(super) fn file<T>(
        &mut self,
        name: &str,
        write: impl FnOnce(&mut (dyn Write + Send)) -> Result<T>,
    ) -> Result<T> {
        let path = self.temporary.path().join(name);
        let shown = self.path.display().to_string();
        let wrong = |error: io::Error| {
            Error::new(format!("{shown}: cannot be written ({error}); what was there before is unchanged"))
        };
        let file = File::create(&path).map_err(wrong)?;
        let (done, left) = fill(&file, self.left, &shown, self.written.clone(), write)?;
        self.left = left;
        file.sync_all().map_err(wrong)?;
        Ok(done)
    }

    /// Gives the directory its name.
    ///
    /// # Errors
    /// If it cannot be renamed.
    pub(super) fn finish(self) -> Result<()> {
        let Folder { path, temporary, .. } = self;
        let wrong = |error: io::Error| Error::new(format!("{}: cannot be written ({error})", path.display()));
        let parent = folder(&path);
        // Dropped, and with it what was there before, when the new one has its name.
        let before = if fs::symlink_metadata(&path).is_ok() {
            let before = Builder::new().prefix(".replay-show-").tempdir_in(&parent).map_err(wrong)?;
            fs::rename(&path, before.path().join("before")).map_err(wrong)?;
            Some(before)
        } else {
            None
        };
        if let Err(error) = fs::rename(temporary.path(), &path) {
            if let Some(before) = before {
                fs::rename(before.path().join("before"), &path).map_err(wrong)?;
            }
            return Err(wrong(error));
        }
        // It has another name now.
        let _ = temporary.keep();
        sync_folder(&parent).map_err(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::{OutputArgs, Surroundings};

    fn make(path: &Path, limit: u64, bytes: &[u8]) -> Result<()> {
        let (mut results, mut messages) = (Vec::new(), Vec::new());
        let mut output =
            Output::new(&OutputArgs::default(), &Surroundings::default(), &mut results, &mut messages);
        file(Some(path), limit, &mut output, |out| Ok(out.write_all(bytes)?))
    }

    #[test]
    fn failed_exports_leave_what_was_there() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("out");
        make(&path, 10, b"before").unwrap();
        let error = make(&path, 10, &[0; 11]).unwrap_err().to_string();
        assert!(error.contains("--large"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"before");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "no temporary file stays");
        let error = make(Path::new("/dev/full"), 10, b"more").unwrap_err().to_string();
        assert!(error.contains("No space left"), "{error}");
    }

    #[test]
    fn reports_are_not_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("trace.cubex");
        let mut report = vec![0; 512];
        report[257..262].copy_from_slice(b"ustar");
        fs::write(&path, &report).unwrap();
        let error = make(&path, 10, b"page").unwrap_err().to_string();
        assert!(
            error.ends_with("trace.cubex: is a report and stays what it is; name another file with -o"),
            "{error}"
        );
        assert_eq!(fs::read(&path).unwrap(), report);
    }

    #[test]
    fn folders_are_replaced_as_a_whole() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("out");
        let make = |names: &[&str], limit| {
            let mut folder = Folder::create(&path, &["csv"], limit, Written::default())?;
            for name in names {
                folder.file(&format!("{name}.csv"), |out| Ok(out.write_all(b"12345")?))?;
            }
            folder.finish()
        };
        let names = || {
            let names = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name().into_string());
            let mut names: Vec<String> = names.map(std::result::Result::unwrap).collect();
            names.sort();
            names
        };
        make(&["a", "b"], 10).unwrap();
        assert!(make(&["c", "d", "e"], 14).is_err());
        assert_eq!(names(), ["a.csv", "b.csv"]);
        make(&["c"], 14).unwrap();
        assert_eq!(names(), ["c.csv"]);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "no temporary directory stays");
        fs::write(path.join("precious.txt"), b"").unwrap();
        assert!(make(&["c"], 14).unwrap_err().to_string().contains("other files"));
    }
}
