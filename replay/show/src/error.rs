//! Error type: a message that says what was found, what was expected and what to do.

use std::fmt;
use std::path::Path;

/// The result of everything that can fail in this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Failure of a command. Opaque on purpose: it is printed, and nobody branches on it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    message: String,
    obstacle: Option<&'static str>,
    excerpt: Option<(String, usize)>,
}

impl Error {
    /// An error with this message: file, what was found, what was expected, what to do.
    pub fn new(message: impl Into<String>) -> Error {
        Error { message: message.into(), obstacle: None, excerpt: None }
    }

    /// A metric whose values cannot be computed, and what is printed in their place.
    pub(crate) fn obstacle(metric: &str, obstacle: &'static str) -> Error {
        Error { obstacle: Some(obstacle), ..Error::new(format!("metric {metric}: {obstacle}")) }
    }

    /// Adds the text of the user that is wrong, and where in it, in bytes.
    #[must_use]
    pub fn with_excerpt(self, text: impl Into<String>, at: usize) -> Error {
        Error { excerpt: Some((text.into(), at)), ..self }
    }

    /// The text of the user that is wrong, and where in it, in bytes.
    pub fn excerpt(&self) -> Option<(&str, usize)> {
        self.excerpt.as_ref().map(|(text, at)| (text.as_str(), *at))
    }

    /// Adds the number of a line to the front of the message.
    #[must_use]
    pub fn in_line(self, line: usize) -> Error {
        Error { message: format!("line {line}: {}", self.message), ..self }
    }

    /// Adds the file to the front of the message.
    #[must_use]
    pub fn in_file(self, path: &Path) -> Error {
        Error { message: format!("{}: {}", path.display(), self.message), ..self }
    }
}

/// Splits results of metrics: values, or what to print in their place, such as `n/a (derived)`.
///
/// # Errors
/// All others.
pub fn or_obstacle<T>(result: Result<T>) -> Result<std::result::Result<T, &'static str>> {
    match result {
        Ok(values) => Ok(Ok(values)),
        Err(Error { obstacle: Some(obstacle), .. }) => Ok(Err(obstacle)),
        Err(error) => Err(error),
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<cubex::Error> for Error {
    fn from(error: cubex::Error) -> Error {
        Error::new(error.to_string())
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Error {
        Error::new(format!("cannot write: {error}"))
    }
}
