//! Failure to read a file.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// The system failed to open, read or map a file.
#[derive(Debug)]
pub struct Error {
    /// The file.
    pub path: PathBuf,
    /// The system's error.
    pub cause: io::Error,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: cannot read the file: {}", self.path.display(), self.cause)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.cause)
    }
}
