//! Error type: file, member, byte, what was found and what was expected.
//!
//! Prints as `report.cubex: member 3.index: byte 18: 9 rows, expected at most 4`; unknown parts are left out.
//! Opaque on purpose: callers print it, they do not branch on it.

use std::fmt::{self, Write};
use std::io;
use std::path::{Path, PathBuf};

/// The result of every fallible operation of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Failure to write or read a report.
///
/// The text names the file, the member inside it, the byte inside the member (all where known) and what was
/// found and expected. An error of the operating system is available as
/// [`source`](std::error::Error::source).
pub struct Error(Box<Details>);

struct Details {
    path: Option<PathBuf>,
    member: Option<String>,
    byte: Option<u64>,
    message: String,
    source: Option<io::Error>,
}

impl Error {
    /// An error in the bytes of a file or the arguments of a call.
    #[cold]
    pub(crate) fn invalid(message: impl Into<String>) -> Error {
        let message = message.into();
        Error(Box::new(Details { path: None, member: None, byte: None, message, source: None }))
    }

    /// An error of the operating system; `doing` completes "cannot ...".
    #[cold]
    pub(crate) fn io(doing: &str, source: io::Error) -> Error {
        let mut error = Error::invalid(format!("cannot {doing}: {source}"));
        error.0.source = Some(source);
        error
    }

    /// Adds the file, unless an inner layer did.
    pub(crate) fn in_file(mut self, path: &Path) -> Error {
        self.0.path.get_or_insert_with(|| path.to_path_buf());
        self
    }

    /// Adds the member of the container, unless an inner layer did.
    pub(crate) fn in_member(mut self, name: &str) -> Error {
        self.0.member.get_or_insert_with(|| name.to_owned());
        self
    }

    /// Adds the offset, counted from the start of the member, or of the file if there is no member.
    pub(crate) fn at(mut self, byte: u64) -> Error {
        self.0.byte.get_or_insert(byte);
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.0.path {
            write!(f, "{}: ", path.display())?;
        }
        if let Some(member) = &self.0.member {
            write!(f, "member {}: ", member.escape_debug())?;
        }
        if let Some(byte) = self.0.byte {
            write!(f, "byte {byte}: ")?;
        }
        // The message may quote the file, whose control characters must not reach a terminal.
        self.0.message.chars().try_for_each(|c| match c.is_control() {
            true => write!(f, "{}", c.escape_debug()),
            false => f.write_char(c),
        })
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error({self})")
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|source| source as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_parts_known_prints_file_member_byte() {
        let error = Error::invalid("9 rows, expected at most 4").at(18).in_member("3.index");
        let error = error.at(99).in_file(Path::new("report.cubex"));
        assert_eq!(error.to_string(), "report.cubex: member 3.index: byte 18: 9 rows, expected at most 4");
        assert_eq!(format!("{error:?}"), format!("Error({error})"), "what unwrap shows");
    }

    #[test]
    fn refusal_of_the_system_is_in_the_message_and_is_the_source() {
        let error = Error::io("open", io::ErrorKind::PermissionDenied.into()).in_file(Path::new("x.cubex"));
        assert_eq!(error.to_string(), "x.cubex: cannot open: permission denied");
        let source = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<io::Error>());
        assert_eq!(source.map(io::Error::kind), Some(io::ErrorKind::PermissionDenied));
        assert!(std::error::Error::source(&Error::invalid("no")).is_none());
    }
}
