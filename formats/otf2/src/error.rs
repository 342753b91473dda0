//! What went wrong with an archive: which file, which byte, what was found and what was expected.
//!
//! One opaque type for reading and writing. It is one pointer wide, so that results of the hot decoding loop stay
//! small; its constructors are cold and named after the failure.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why an archive could not be read or written.
///
/// Prints as `traces/3.evt: byte 0x1f40: MpiSend record: …`.
pub struct Error(Box<Failure>);

struct Failure {
    path: PathBuf,
    offset: Option<u64>,
    kind: Kind,
}

enum Kind {
    /// The operating system refused; the text says what was tried.
    Io(&'static str, io::Error),
    /// The bytes or the request make no sense.
    Message(String),
}

impl Error {
    /// The file or directory that it is about.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// The byte of the file, counted from its begin, where it is known.
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }

    /// Whether the file is just not there.
    pub fn is_not_found(&self) -> bool {
        matches!(&self.0.kind, Kind::Io(_, cause) if cause.kind() == io::ErrorKind::NotFound)
    }

    #[cold]
    pub(crate) fn io(path: &Path, tried: &'static str, cause: io::Error) -> Self {
        Error::new(path, None, Kind::Io(tried, cause))
    }

    /// Something about the file as a whole.
    #[cold]
    pub(crate) fn file(path: &Path, message: impl Into<String>) -> Self {
        Error::new(path, None, Kind::Message(message.into()))
    }

    /// Something about one place of the file.
    #[cold]
    pub(crate) fn at(path: &Path, offset: u64, message: impl Into<String>) -> Self {
        Error::new(path, Some(offset), Kind::Message(message.into()))
    }

    #[cold]
    pub(crate) fn truncated(path: &Path, offset: u64, within: &str) -> Self {
        let message =
            format!("the file ends within {within}: it is incomplete, its writer probably did not finish");
        Error::at(path, offset, message)
    }

    fn new(path: &Path, offset: Option<u64>, kind: Kind) -> Self {
        Error(Box::new(Failure { path: path.to_owned(), offset, kind }))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.0.path.display())?;
        if let Some(offset) = self.0.offset {
            write!(f, "byte {offset:#x}: ")?;
        }
        match &self.0.kind {
            Kind::Io(tried, cause) => write!(f, "cannot {tried}: {cause}{}", advice(cause)),
            Kind::Message(message) => f.write_str(message),
        }
    }
}

/// What to do where the operating system refuses, if that is not plain.
fn advice(cause: &io::Error) -> &'static str {
    if cause.raw_os_error() == Some(libc::EMFILE) {
        return "; raise the limit on open files (ulimit -n)";
    }
    match cause.kind() {
        io::ErrorKind::PermissionDenied => "; ask its owner for the right to",
        io::ErrorKind::OutOfMemory => "; raise the limit on memory (ulimit -v), or use more processes",
        _ => "",
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
            Kind::Io(_, cause) => Some(cause),
            Kind::Message(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_says_file_byte_and_problem() {
        let error = Error::at(Path::new("traces/3.evt"), 0x1f40, "MpiSend record: length 7");
        assert_eq!(error.to_string(), "traces/3.evt: byte 0x1f40: MpiSend record: length 7");
        assert_eq!((error.path(), error.offset()), (Path::new("traces/3.evt"), Some(0x1f40)));
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
