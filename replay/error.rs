//! Why there is no report.

use std::fmt;

/// An error that ends the analysis, in words for the user: what failed, where, what was expected, what to do.
#[derive(Debug)]
pub struct Error {
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// This worker failed.
    Own(String),
    /// Another worker failed, and has said why.
    Elsewhere(usize),
}

impl Error {
    /// A failure of this worker, with its message.
    #[cold]
    pub fn new(message: impl Into<String>) -> Error {
        Error { kind: Kind::Own(message.into()) }
    }

    /// Worker `worker` has failed; it prints its own message.
    #[cold]
    pub fn worker_failed(worker: usize) -> Error {
        Error { kind: Kind::Elsewhere(worker) }
    }

    /// The worker that has failed, if it is another one.
    pub fn failed_worker(&self) -> Option<usize> {
        match self.kind {
            Kind::Own(_) => None,
            Kind::Elsewhere(worker) => Some(worker),
        }
    }

    /// Whether this worker has to print the message; otherwise another one does.
    pub fn is_own(&self) -> bool {
        matches!(self.kind, Kind::Own(_))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Own(message) => f.write_str(message),
            Kind::Elsewhere(worker) => write!(f, "worker {worker} failed, see its message"),
        }
    }
}

impl std::error::Error for Error {}

impl From<otf2::Error> for Error {
    fn from(error: otf2::Error) -> Error {
        // The reader says what is wrong with a file; what to do about it is ours to say, unless only the reader knows.
        let advice = match std::error::Error::source(&error) {
            _ if error.is_damage() || error.is_not_found() => {
                "; copy the archive again, or record the program again"
            }
            Some(_) => "; it must be a file that can be read",
            None => "",
        };
        Error::new(format!("{error}{advice}"))
    }
}

impl From<cubex::Error> for Error {
    fn from(error: cubex::Error) -> Error {
        Error::new(error.to_string())
    }
}
