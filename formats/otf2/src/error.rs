//! Error type: file, byte offset, what was found and what was expected.
//!
//! One opaque type for reading and writing. It is one pointer wide, so that results of the hot decoding loop
//! stay small; its constructors are cold and named after the failure.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Failure to read or write an archive.
///
/// Prints as `traces/3.evt: byte 0x1f40: MpiSend record: …`.
pub struct Error(Box<Failure>);

struct Failure {
    path: PathBuf,
    offset: Option<u64>,
    kind: ErrorKind,
}

enum ErrorKind {
    /// The operating system failed an operation; the text names the operation.
    Io(&'static str, io::Error),
    /// The bytes are not what any writer wrote.
    Damage(String),
    /// The bytes are valid but not usable here, or the request is invalid.
    Message(String),
}

impl Error {
    /// The file or directory that the error is about.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Offset of the error in the file, where it is known.
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }

    /// Whether the file does not exist.
    pub fn is_not_found(&self) -> bool {
        matches!(&self.0.kind, ErrorKind::Io(_, cause) if cause.kind() == io::ErrorKind::NotFound)
    }

    /// Whether the file is damaged: an intact copy of it could be read.
    pub fn is_damage(&self) -> bool {
        matches!(&self.0.kind, ErrorKind::Damage(_))
    }

    #[cold]
    pub(crate) fn io(path: &Path, tried: &'static str, cause: io::Error) -> Self {
        Error::new(path, None, ErrorKind::Io(tried, cause))
    }

    /// An error about the file as a whole.
    #[cold]
    pub(crate) fn file(path: &Path, message: impl Into<String>) -> Self {
        Error::new(path, None, ErrorKind::Message(message.into()))
    }

    /// An error at an offset of the file.
    #[cold]
    pub(crate) fn at(path: &Path, offset: u64, message: impl Into<String>) -> Self {
        Error::new(path, Some(offset), ErrorKind::Message(message.into()))
    }

    /// Damage at an offset of the file.
    #[cold]
    pub(crate) fn damaged(path: &Path, offset: u64, message: impl Into<String>) -> Self {
        Error::new(path, Some(offset), ErrorKind::Damage(message.into()))
    }

    #[cold]
    pub(crate) fn truncated(path: &Path, offset: u64, within: &str) -> Self {
        let message =
            format!("the file ends within {within}: it is incomplete, its writer probably did not finish");
        Error::damaged(path, offset, message)
    }

    fn new(path: &Path, offset: Option<u64>, kind: ErrorKind) -> Self {
        Error(Box::new(Failure { path: path.to_owned(), offset, kind }))
    }
}

impl From<files::Error> for Error {
    #[cold]
    fn from(error: files::Error) -> Self {
        Error::io(&error.path, "read the file", error.cause)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.0.path.display())?;
        if let Some(offset) = self.0.offset {
            write!(f, "byte {offset:#x}: ")?;
        }
        match &self.0.kind {
            ErrorKind::Io(tried, cause) => write!(f, "cannot {tried}: {cause}"),
            ErrorKind::Damage(message) | ErrorKind::Message(message) => f.write_str(message),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error({self})")
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.kind {
            ErrorKind::Io(_, cause) => Some(cause),
            ErrorKind::Damage(_) | ErrorKind::Message(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_says_file_byte_and_problem() {
        let error = Error::damaged(Path::new("traces/3.evt"), 0x1f40, "MpiSend record: length 7");
        assert_eq!(error.to_string(), "traces/3.evt: byte 0x1f40: MpiSend record: length 7");
        assert_eq!((error.path(), error.offset()), (Path::new("traces/3.evt"), Some(0x1f40)));
        assert!(error.is_damage() && !Error::at(Path::new("a"), 0, "no").is_damage());
    }

    #[test]
    fn refusal_of_the_system_is_in_the_message_and_is_the_source() {
        let error =
            Error::io(Path::new("a.evt"), "read the file", io::Error::from(io::ErrorKind::PermissionDenied));
        assert_eq!(error.to_string(), "a.evt: cannot read the file: permission denied");
        let source = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<io::Error>());
        assert_eq!(source.map(io::Error::kind), Some(io::ErrorKind::PermissionDenied));
        assert!(std::error::Error::source(&Error::file(Path::new("a"), "no")).is_none());
    }

    #[test]
    fn error_that_is_unwrapped_shows_its_message() {
        let error = Error::at(Path::new("a.evt"), 16, "no");
        assert_eq!(format!("{error:?}"), "Error(a.evt: byte 0x10: no)");
    }

    #[test]
    fn only_missing_file_is_not_found() {
        let missing = |kind| Error::io(Path::new("a"), "open", io::Error::from(kind)).is_not_found();
        assert!(missing(io::ErrorKind::NotFound));
        assert!(!missing(io::ErrorKind::PermissionDenied));
        assert!(!Error::file(Path::new("a"), "no").is_not_found());
    }

    #[test]
    fn error_is_one_pointer() {
        assert_eq!(size_of::<Result<(), Error>>(), size_of::<usize>());
    }
}
