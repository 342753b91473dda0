//! Error type: file, line and byte, what was found, what was expected, and what to do.

use std::fmt;
use std::io;
use std::path::Path;

/// Failure to read a trace, or to write the archive.
///
/// Prints as `a.prv: line 7, byte 312: …`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error(String);

/// Result of the functions of this crate.
pub(crate) type Result<T> = std::result::Result<T, Error>;

/// What helps if a disk is full or refuses.
pub(crate) const OTHER_PLACE: &str = "choose another place with -o";

impl Error {
    /// An error about a file or directory as a whole.
    #[cold]
    pub(crate) fn file(path: &Path, message: impl fmt::Display) -> Error {
        Error(format!("{}: {message}", path.display()))
    }

    /// An operation in the new directory that the operating system has failed.
    #[cold]
    pub(crate) fn io(path: &Path, tried: &str, cause: &io::Error) -> Error {
        Error::file(path, format_args!("cannot {tried}: {cause}; {OTHER_PLACE}"))
    }

    /// An error at a place of a text.
    #[cold]
    pub(crate) fn at(path: &Path, line: u64, byte: u64, message: impl fmt::Display) -> Error {
        Error::file(path, format_args!("line {line}, byte {byte}: {message}"))
    }
}

impl From<new_directory::Error> for Error {
    #[cold]
    fn from(error: new_directory::Error) -> Error {
        Error(error.to_string())
    }
}

impl From<otf2::Error> for Error {
    #[cold]
    fn from(error: otf2::Error) -> Error {
        // Of the archive there is nothing yet that could be damaged: the disk is full, or refuses.
        match std::error::Error::source(&error) {
            Some(_) => Error(format!("{error}; {OTHER_PLACE}")),
            None => Error(error.to_string()),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

/// What is wrong with a line: the place in it, and the message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Fault {
    /// Byte of the line.
    pub(crate) at: usize,
    pub(crate) message: String,
}

impl Fault {
    #[cold]
    pub(crate) fn new(at: usize, message: impl fmt::Display) -> Fault {
        Fault { at, message: message.to_string() }
    }
}

/// A number of things: `1 node`, `2 nodes`.
pub(crate) fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// A piece of a text in a message: what is behind its first 40 bytes is left out.
pub(crate) fn excerpt(text: &[u8]) -> String {
    const MOST: usize = 40;
    let (shown, rest) = text.split_at(text.len().min(MOST));
    let dots = if rest.is_empty() { "" } else { "…" };
    format!("{:?}{dots}", String::from_utf8_lossy(shown))
}
