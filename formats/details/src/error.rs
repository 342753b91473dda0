//! Error type: byte, content and expectation.

use std::fmt::{self, Write};

/// The result of every fallible operation of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Bytes that are no table, or columns that make none. Opaque on purpose: callers print it, and add the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    byte: Option<u64>,
    message: String,
}

impl Error {
    #[cold]
    pub(crate) fn new(message: impl Into<String>) -> Error {
        Error { byte: None, message: message.into() }
    }

    /// Adds the offset in the table.
    pub(crate) fn at(self, byte: u64) -> Error {
        Error { byte: Some(byte), ..self }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(byte) = self.byte {
            write!(f, "byte {byte}: ")?;
        }
        // The message may quote the table, whose control characters must not reach a terminal.
        self.message.chars().try_for_each(|c| match c.is_control() {
            true => write!(f, "{}", c.escape_debug()),
            false => f.write_char(c),
        })
    }
}

impl std::error::Error for Error {}
