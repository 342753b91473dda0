//! A file of which only pieces are wanted: each is read where it is, nothing is mapped.

use crate::Error;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// A file whose bytes are read piece by piece, in any order.
#[derive(Debug)]
pub struct FilePieces {
    path: PathBuf,
    file: File,
    bytes: u64,
}

impl FilePieces {
    /// Opens a file, and reads nothing of it.
    ///
    /// # Errors
    /// If the file cannot be opened, or is not a regular file.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, Error> {
        let path = path.into();
        match crate::regular(&path) {
            Ok((file, bytes)) => Ok(FilePieces { path, file, bytes }),
            Err(cause) => Err(Error { path, cause }),
        }
    }

    /// Size of the file in bytes, when it was opened.
    pub fn size(&self) -> u64 {
        self.bytes
    }

    /// The path as it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Fills `piece` with the bytes from an offset on.
    ///
    /// # Errors
    /// If the file ends before, or cannot be read.
    pub fn read(&self, offset: u64, piece: &mut [u8]) -> Result<(), Error> {
        self.file.read_exact_at(piece, offset).map_err(|cause| Error { path: self.path.clone(), cause })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::ErrorKind;

    #[test]
    fn pieces_are_read_where_they_are_and_not_behind_the_end() {
        let path = std::env::temp_dir().join(format!("files-pieces-{}", std::process::id()));
        std::fs::write(&path, b"abcdefgh").unwrap();
        let file = FilePieces::open(&path).unwrap();
        let mut piece = [0; 3];
        file.read(4, &mut piece).unwrap();
        assert_eq!((&piece, file.size(), file.path()), (b"efg", 8, &*path));
        let error = file.read(6, &mut piece).unwrap_err();
        assert_eq!((error.cause.kind(), &error.path), (ErrorKind::UnexpectedEof, &path));
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn what_is_no_file_is_refused() {
        let kind = |path: &Path| FilePieces::open(path).unwrap_err().cause.kind();
        assert_eq!(kind(Path::new("no/such/file")), ErrorKind::NotFound);
        assert_ne!(kind(&std::env::temp_dir()), ErrorKind::NotFound);
    }
}
