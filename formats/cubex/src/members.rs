//! Members of an archive that stands beside a report.

use std::path::Path;

use crate::container::Archive;
use crate::error::Result;

/// An open archive of members, such as details beside a report.
#[derive(Debug)]
pub struct Members(Archive);

impl Members {
    /// Opens an archive.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is none.
    pub fn open(path: impl AsRef<Path>) -> Result<Members> {
        let path = path.as_ref();
        Archive::open(path).map(Members).map_err(|error| error.in_file(path))
    }

    /// Names of all members, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.names()
    }

    /// Reads the contents of a member; `None` if there is none of this name.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn read(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let contents = self.0.member(name).map(|member| self.0.read_all(member)).transpose();
        contents.map_err(|error| error.in_member(name))
    }
}
