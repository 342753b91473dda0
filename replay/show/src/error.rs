//! Error type: a message that says what was found, what was expected and what to do.

use std::fmt;
use std::path::Path;

/// The result of everything that can fail in this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Failure of a command. Opaque on purpose: it is printed, and nobody branches on it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error(String);

impl Error {
    /// An error with this message: file, what was found, what was expected, what to do.
    pub fn new(message: impl Into<String>) -> Error {
        Error(message.into())
    }

    /// Adds the file to the front of the message.
    #[must_use]
    pub fn in_file(self, path: &Path) -> Error {
        Error(format!("{}: {}", path.display(), self.0))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl From<cubex::Error> for Error {
    fn from(error: cubex::Error) -> Error {
        Error(error.to_string())
    }
}
