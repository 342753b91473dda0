//! MPI libraries in words.

use std::fmt;
use std::path::PathBuf;

/// An MPI library.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Library {
    /// What it says of itself, as `MPI_Get_library_version` returns it.
    pub version: String,
    /// Where it is; `None` if this program is linked with it.
    pub path: Option<PathBuf>,
}

impl Library {
    /// Whether it is Open MPI, not MPICH or one of its relatives.
    pub fn is_open_mpi(&self) -> bool {
        self.version.contains("Open MPI")
    }

    /// Name and version: what it says of itself, which may go on for lines, up to the first comma.
    pub fn name(&self) -> String {
        let line = self.version.lines().next().unwrap_or_default();
        let words = line.split(',').next().unwrap_or_default().split_whitespace();
        words.collect::<Vec<_>>().join(" ")
    }
}

/// Name, version and path.
impl fmt::Display for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())?;
        self.path.as_ref().map_or(Ok(()), |path| write!(f, " ({})", path.display()))
    }
}
