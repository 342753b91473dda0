//! Errors: one sentence for the user, and the exit status that Scalasca's scan has in such a case.

use std::fmt;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

/// Exit status: nothing was started, as the command line, the environment or an existing directory does not allow it.
pub(crate) const NOT_STARTED: u8 = 1;

/// Exit status: a file that is needed cannot be read or written, or there is no experiment.
pub(crate) const NO_EXPERIMENT: u8 = 2;

/// Exit status: there is no report of the analysis.
pub(crate) const NO_REPORT: u8 = 4;

/// An error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Error {
    message: String,
    /// The exit status.
    pub(crate) status: u8,
}

pub(crate) type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// The error that keeps anything from being started.
    pub(crate) fn not_started(message: impl Into<String>) -> Error {
        Error { message: message.into(), status: NOT_STARTED }
    }

    /// The error that there is no experiment.
    pub(crate) fn no_experiment(message: impl Into<String>) -> Error {
        Error { message: message.into(), status: NO_EXPERIMENT }
    }

    /// The error that there is no report.
    pub(crate) fn no_report(message: impl Into<String>) -> Error {
        Error { message: message.into(), status: NO_REPORT }
    }

    /// The error of an operation on a file that the system refuses.
    pub(crate) fn io(path: &Path, tried: &str, cause: io::Error) -> Error {
        Error::no_experiment(format!("{}: cannot {tried}: {cause}", path.display()))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Prints a text to standard output.
///
/// # Errors
/// If it cannot be written. A reader that has gone away has seen enough.
pub(crate) fn print(text: &str) -> Result<()> {
    match io::stdout().write_all(text.as_bytes()) {
        Err(cause) if cause.kind() != ErrorKind::BrokenPipe => {
            Err(Error::no_experiment(format!("cannot write to standard output: {cause}")))
        }
        _ => Ok(()),
    }
}

/// Prints a message.
pub(crate) fn say(message: &impl fmt::Display) {
    // Names from a command line must not control the terminal.
    let message = message.to_string().replace(|sign: char| sign.is_control(), "\u{fffd}");
    eprintln!("replay-scan: {message}");
}
