//! Why a file has no bytes.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// The system did not let a file be read.
#[derive(Debug)]
pub struct Error {
    /// The file.
    pub path: PathBuf,
    /// What the system says.
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
