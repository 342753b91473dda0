//! File content, read or mapped.
//!
//! Small files are read, large ones mapped: private, read-only, advised as sequential. Another process can
//! shorten a mapped file while it is read, on a parallel file system also a failing server. The kernel then
//! sends SIGBUS to the thread that touches the missing part, which would end a whole parallel job; a handler
//! maps zeros there instead, and readers report that the file ends too early.
//!
//! # The handler belongs to the process
//!
//! Signals belong to a process, not to a library: the first large file that is opened with [`Io::Map`]
//! installs a handler of SIGBUS for the whole process, until its end.
//!
//! * An earlier handler is replaced and no longer called, for other causes of SIGBUS either: those end the
//!   process, as by default.
//! * If the program later installs a handler of its own, nothing maps zeros any more, and that handler has to
//!   deal with files that are shortened.
//!
//! A program that cannot accept that, such as one that embeds this library, opens with [`Io::Read`], which
//! touches no signals.
//!
//! Deliberately absent: writing, and the interpretation of the bytes.
#![allow(unsafe_code)]

mod error;
mod guard;
mod pieces;

pub use error::Error;
pub use pieces::FilePieces;

use memmap2::{Advice, Mmap};
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::ops::Deref;
use std::path::{Path, PathBuf};

/// Files below this size are read: a system call costs less than a mapping and its page faults.
const SMALLEST_MAPPED: u64 = 1 << 20;

/// Smallest range, in bytes, that Linux reads ahead on request; it silently ignores the rest of a longer
/// range.
const READ_AHEAD: usize = 128 << 10;

/// Way of loading large files into memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Io {
    /// Mapped: memory that the system can take back. The first file installs a SIGBUS [handler](crate) for
    /// the whole process.
    #[default]
    Map,
    /// Read in one piece: for file systems on which mappings are slow, as on parallel ones, and for processes
    /// that handle signals themselves. Takes the file's size in memory while the file is open.
    Read,
}

/// The content of a file, with the file's path for messages.
///
/// If a large file is shortened while this value lives, the missing bytes read as zeros.
pub struct FileBytes {
    path: PathBuf,
    content: Content,
}

enum Content {
    Read(Vec<u8>),
    Mapped(Mapped),
}

impl FileBytes {
    /// Opens a file and reads all of it, or maps it if it is large: [`Io::Map`], with a SIGBUS
    /// [handler](crate).
    ///
    /// # Errors
    /// If the file cannot be opened, read or mapped, or is not a regular file.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, Error> {
        Self::open_by(path, Io::Map)
    }

    /// Opens a file with the given way of loading it.
    ///
    /// # Errors
    /// As for [`open`](FileBytes::open).
    pub fn open_by(path: impl Into<PathBuf>, io: Io) -> Result<Self, Error> {
        let path = path.into();
        match content(&path, io) {
            Ok(content) => Ok(FileBytes { path, content }),
            Err(cause) => Err(Error { path, cause }),
        }
    }

    /// The content of a file that is put together from pieces of other files, in memory; `path` is for
    /// messages.
    pub fn gathered(path: impl Into<PathBuf>, bytes: Vec<u8>) -> Self {
        FileBytes { path: path.into(), content: Content::Read(bytes) }
    }

    /// Advises the system that bytes from an offset on will be needed soon, so that it reads ahead.
    pub fn expect(&self, from: usize, bytes: usize) {
        if let Content::Mapped(mapped) = &self.content {
            let end = from.saturating_add(bytes).min(self.len());
            for piece in (from..end).step_by(READ_AHEAD) {
                // Advice only.
                let _ = mapped.bytes.advise_range(Advice::WillNeed, piece, READ_AHEAD.min(end - piece));
            }
        }
    }

    /// The path as it was opened, or given.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Opens a regular file, and returns its size in bytes.
fn regular(path: &Path) -> std::io::Result<(File, u64)> {
    // Checked before opening: opening a pipe would wait for a writer.
    let status = std::fs::metadata(path)?;
    if !status.is_file() {
        return Err(std::io::Error::other("it is not a regular file"));
    }
    Ok((File::open(path)?, status.len()))
}

fn content(path: &Path, io: Io) -> std::io::Result<Content> {
    let (mut file, size) = regular(path)?;
    if io == Io::Map
        && size >= SMALLEST_MAPPED
        && let Some(slot) = guard::free_slot()
    {
        return Ok(Content::Mapped(Mapped::new(&file, slot)?));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(Content::Read(bytes))
}

/// A mapping that the handler guards. Fields are dropped in this order: the handler forgets the memory before
/// it is unmapped.
struct Mapped {
    _slot: guard::Slot,
    bytes: Mmap,
}

impl Mapped {
    fn new(file: &File, slot: guard::Slot) -> std::io::Result<Self> {
        // SAFETY: the mapping is private and read-only, so nothing here writes through it. Others may write
        // to the file or shorten it. Readers of these bytes trust nothing in them and check every bound
        // against the length of the mapping, which does not change; what goes missing is replaced by zeros
        // (see `guard`), never unmapped.
        let bytes = unsafe { Mmap::map(file)? };
        slot.guard(&bytes);
        // Advice only: decoding works without.
        let _ = bytes.advise(Advice::Sequential);
        Ok(Mapped { _slot: slot, bytes })
    }
}

impl Deref for FileBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.content {
            Content::Read(bytes) => bytes,
            Content::Mapped(mapped) => &mapped.bytes,
        }
    }
}

impl fmt::Debug for FileBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FileBytes({}, {} bytes)", self.path.display(), self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::ErrorKind;

    #[test]
    fn directory_is_refused_missing_file_is_not_found() {
        let error = |path: &Path| FileBytes::open(path).unwrap_err();
        assert_ne!(error(&std::env::temp_dir()).cause.kind(), ErrorKind::NotFound);
        assert_eq!(error(Path::new("no/such/file")).cause.kind(), ErrorKind::NotFound);
    }

    #[test]
    fn what_is_shown_of_a_file_is_its_path_and_size() {
        let path = std::env::temp_dir().join(format!("files-shown-{}", std::process::id()));
        std::fs::write(&path, [7; 1000]).unwrap();
        let shown = format!("{:?}", FileBytes::open(&path).unwrap());
        assert_eq!(shown, format!("FileBytes({}, 1000 bytes)", path.display()));
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn large_file_is_mapped_and_has_the_same_bytes() {
        let path = std::env::temp_dir().join(format!("files-map-{}", std::process::id()));
        for size in [0, 10, 1 << 20, (1 << 20) + 7] {
            let bytes: Vec<u8> = (0..size).map(|at: u32| at.to_le_bytes()[0]).collect();
            std::fs::write(&path, &bytes).unwrap();
            let file = FileBytes::open(&path).unwrap();
            assert_eq!(matches!(file.content, Content::Mapped(_)), size >= 1 << 20);
            assert!(*file == *bytes);
            file.expect(5, 1 << 30);
            file.expect(bytes.len(), 1);
            let read = FileBytes::open_by(&path, Io::Read).unwrap();
            assert!(*read == *bytes && matches!(read.content, Content::Read(_)));
        }
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn file_that_is_shortened_while_mapped_ends_in_zeros() {
        let path = std::env::temp_dir().join(format!("files-shrink-{}", std::process::id()));
        std::fs::write(&path, vec![7; 3 << 20]).unwrap();
        let file = FileBytes::open(&path).unwrap();
        std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(1 << 20).unwrap();
        let zeros = file.iter().filter(|&&byte| byte == 0).count();
        assert_eq!((zeros, file.len()), (2 << 20, 3 << 20));
        std::fs::remove_file(path).unwrap();
    }
}
