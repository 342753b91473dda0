//! What is asked of the model of file I/O.

use std::hash::{Hash, Hasher};

use io_model::{GAP, Measured, read_systems};

use super::output::OutputFile;

/// What is asked of the model of file I/O.
#[derive(Clone, PartialEq, Debug)]
pub struct IoOptions {
    /// Files that get it; without any none is made.
    pub files: Vec<OutputFile>,
    /// Calls that communicate which may lie between two operations of a phase.
    pub gap: u64,
    /// What was measured on other systems.
    pub systems: Vec<Measured>,
    /// Whether phases of several operations are estimated by the mean of their bandwidths.
    pub by_mean: bool,
}

impl Default for IoOptions {
    fn default() -> IoOptions {
        IoOptions { files: Vec::new(), gap: GAP, systems: Vec::new(), by_mean: false }
    }
}

impl IoOptions {
    /// Whether a model is made.
    pub fn is_wanted(&self) -> bool {
        !self.files.is_empty()
    }

    /// Hashes what all workers must agree in.
    pub(crate) fn hash_walk(&self, hasher: &mut impl Hasher) {
        (self.is_wanted(), self.gap).hash(hasher);
    }
}

/// A table of what was measured on other systems.
#[derive(Clone, PartialEq, Debug)]
pub struct SystemsTable(pub Vec<Measured>);

impl SystemsTable {
    /// Reads a table.
    ///
    /// # Errors
    /// All that is wrong in it, in words.
    pub fn read(path: &str) -> Result<SystemsTable, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read the file: {error}"))?;
        read_systems(path, &text)
            .map(SystemsTable)
            .map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    }
}
