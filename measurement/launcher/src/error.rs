//! Errors, as one sentence for the user.

use std::fmt;
use std::io;
use std::path::Path;

/// An error: one sentence for the user.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error(String);

impl Error {
    /// Creates an error with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Error(message.into())
    }

    /// Creates the error of a file operation that the system refused.
    #[cold]
    pub(crate) fn io(path: &Path, tried: &str, cause: io::Error) -> Self {
        Error(format!("{}: cannot {tried}: {cause}", path.display()))
    }

    /// Creates the error of a file with impossible contents at one place.
    #[cold]
    pub(crate) fn at(path: &Path, offset: u64, message: impl fmt::Display) -> Self {
        Error(format!("{}: byte {offset:#x}: {message}", path.display()))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl From<files::Error> for Error {
    fn from(error: files::Error) -> Self {
        Error(error.to_string())
    }
}

impl From<otf2::Error> for Error {
    fn from(error: otf2::Error) -> Self {
        Error(error.to_string())
    }
}
