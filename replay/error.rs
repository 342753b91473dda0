//! The error that ends an analysis: the reason why there is no report.

use std::error::Error as _;
use std::fmt;
use std::io::{self, ErrorKind};

/// An error that ends the analysis, worded for the user: what failed, where, what was expected, what to do.
#[derive(Debug)]
pub struct Error {
    kind: Origin,
}

#[derive(Debug)]
enum Origin {
    /// This worker failed.
    Own(String),
    /// Another worker failed, and has printed why.
    Elsewhere(usize),
}

impl Error {
    /// Makes the failure of this worker, with its message.
    #[cold]
    pub fn new(message: impl Into<String>) -> Error {
        Error { kind: Origin::Own(message.into()) }
    }

    /// Makes the error for a failure of worker `worker`, which prints its own message.
    #[cold]
    pub fn worker_failed(worker: usize) -> Error {
        Error { kind: Origin::Elsewhere(worker) }
    }

    /// Returns the worker that has failed, if it is another one.
    pub fn failed_worker(&self) -> Option<usize> {
        match self.kind {
            Origin::Own(_) => None,
            Origin::Elsewhere(worker) => Some(worker),
        }
    }

    /// Whether this worker has to print the message; otherwise another one does.
    pub fn is_own(&self) -> bool {
        matches!(self.kind, Origin::Own(_))
    }
}

impl From<new_directory::Error> for Error {
    #[cold]
    fn from(error: new_directory::Error) -> Error {
        Error::new(error.to_string())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Origin::Own(message) => f.write_str(message),
            Origin::Elsewhere(worker) => write!(f, "worker {worker} failed, see its message"),
        }
    }
}

impl std::error::Error for Error {}

/// Converts the error of an unreadable archive, and adds what to do.
impl From<otf2::Error> for Error {
    fn from(error: otf2::Error) -> Error {
        let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
        let advice = match cause {
            _ if error.is_damage() || error.is_not_found() => {
                "; copy the archive again, or record the program again"
            }
            None => "",
            Some(cause) if cause.raw_os_error() == Some(TOO_MANY_OPEN_FILES) => {
                "; raise the limit on open files (ulimit -n)"
            }
            Some(cause) => match cause.kind() {
                ErrorKind::PermissionDenied => "; ask its owner for the right to read it",
                ErrorKind::OutOfMemory => {
                    "; raise the limit on memory (ulimit -v), or use more processes on more nodes"
                }
                _ => "; it must be a file that can be read",
            },
        };
        Error::new(format!("{error}{advice}"))
    }
}

/// `EMFILE`, which has no kind of its own.
const TOO_MANY_OPEN_FILES: i32 = 24;

/// Converts the error of a report that cannot be written, and adds what to do.
impl From<cubex::Error> for Error {
    fn from(error: cubex::Error) -> Error {
        let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
        let advice = match cause.map(io::Error::kind) {
            None => "",
            _ if cause.and_then(io::Error::raw_os_error) == Some(TOO_MANY_OPEN_FILES) => {
                "; raise the limit on open files (ulimit -n)"
            }
            Some(ErrorKind::StorageFull | ErrorKind::QuotaExceeded) => {
                "; free some space, or choose another place with -o FILE.cubex"
            }
            Some(ErrorKind::FileTooLarge) => {
                "; raise the limit on the sizes of files (ulimit -f), or choose another place with -o FILE.cubex"
            }
            Some(_) => "; choose a writable place with -o FILE.cubex",
        };
        Error::new(format!("{error}{advice}"))
    }
}
