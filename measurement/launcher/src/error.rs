//! What went wrong, as one sentence for the user.

use std::fmt;
use std::io;
use std::path::Path;

/// Why something could not be done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error(String);

impl Error {
    /// An error with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Error(message.into())
    }

    /// The system refused to do something with a file.
    #[cold]
    pub(crate) fn io(path: &Path, tried: &str, cause: io::Error) -> Self {
        Error(format!("{}: cannot {tried}: {cause}", path.display()))
    }

    /// One place of a file makes no sense.
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
