//! The bytes of a file of the archive. The only file of this crate with unsafe code.
//!
//! Small files are read, large ones mapped: private, read-only, announced as read from front to back. Whoever maps a
//! file relies on nobody shortening it meanwhile; archives are written once and then left alone, and [`FileBytes`]
//! asks its users to keep it so.
#![allow(unsafe_code)]

use crate::Error;
use memmap2::{Advice, Mmap};
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::ops::Deref;
use std::path::{Path, PathBuf};

/// Files below this size are read: a system call costs less than a mapping and its page faults.
const SMALLEST_MAPPED: u64 = 1 << 20;

/// The content of a file, with the file's path for messages.
///
/// Large files are mapped into memory and must not be shortened while this value lives; the operating system kills a
/// process that touches the missing part.
pub struct FileBytes {
    path: PathBuf,
    content: Content,
}

enum Content {
    Read(Vec<u8>),
    Mapped(Mmap),
}

impl FileBytes {
    /// Opens a file and reads or maps all of it.
    ///
    /// # Errors
    /// If the file cannot be opened, read or mapped, or is not a regular file. [`Error::is_not_found`] tells a missing
    /// file from other reasons.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, Error> {
        let path = path.into();
        match content(&path) {
            Ok(content) => Ok(FileBytes { path, content }),
            Err(cause) => Err(Error::io(&path, "read the file", cause)),
        }
    }

    /// The path as it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn content(path: &Path) -> std::io::Result<Content> {
    let mut file = File::open(path)?;
    let status = file.metadata()?;
    if !status.is_file() {
        return Err(std::io::Error::other("it is not a regular file"));
    }
    if status.len() < SMALLEST_MAPPED {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        return Ok(Content::Read(bytes));
    }
    // SAFETY: the mapping is private and read-only, so nothing here writes through it. That no other process changes
    // or shortens a finished archive is what the documentation of `FileBytes` demands of the user.
    let mapped = unsafe { Mmap::map(&file)? };
    // Advice only: decoding works without.
    let _ = mapped.advise(Advice::Sequential);
    Ok(Content::Mapped(mapped))
}

impl Deref for FileBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.content {
            Content::Read(bytes) => bytes,
            Content::Mapped(bytes) => bytes,
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

    #[test]
    fn directory_is_refused_missing_file_is_not_found() {
        assert!(!FileBytes::open(std::env::temp_dir()).unwrap_err().is_not_found());
        assert!(FileBytes::open("no/such/file").unwrap_err().is_not_found());
    }

    #[test]
    fn large_file_is_mapped_and_has_the_same_bytes() {
        let path = std::env::temp_dir().join(format!("otf2-map-{}", std::process::id()));
        for size in [0, 10, 1 << 20, (1 << 20) + 7] {
            let bytes: Vec<u8> = (0..size).map(|at: u32| at.to_le_bytes()[0]).collect();
            std::fs::write(&path, &bytes).unwrap();
            let file = FileBytes::open(&path).unwrap();
            assert_eq!(matches!(file.content, Content::Mapped(_)), size >= 1 << 20);
            assert!(*file == *bytes);
        }
        std::fs::remove_file(path).unwrap();
    }
}
