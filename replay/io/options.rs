//! What is asked of the model of file I/O.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::Path;

use io_model::{GAP, Measured, Thresholds, read_ior, read_systems, write_systems};

use super::output::{Format, OutputFile};

/// What is asked of the model of file I/O.
#[derive(Clone, PartialEq, Debug)]
pub struct IoOptions {
    /// Files that get it; without any none is made.
    pub files: Vec<OutputFile>,
    /// Calls that communicate which may lie between two operations of a phase.
    pub gap: u64,
    /// Least share of the run, or of all bytes, of phases that the summary lists.
    pub relevance: f64,
    /// From which numbers on something is inefficient.
    pub thresholds: Thresholds,
    /// What was measured on other systems.
    pub systems: Vec<Measured>,
    /// Whether phases of several operations are estimated by the mean of their bandwidths.
    pub by_mean: bool,
}

impl Default for IoOptions {
    fn default() -> IoOptions {
        IoOptions {
            files: Vec::new(),
            gap: GAP,
            relevance: 0.01,
            thresholds: Thresholds::default(),
            systems: Vec::new(),
            by_mean: false,
        }
    }
}

impl IoOptions {
    /// Whether a model is made.
    pub fn is_wanted(&self) -> bool {
        !self.files.is_empty()
    }

    /// Whether a file shows bytes over time.
    pub(crate) fn shows_heat(&self) -> bool {
        self.files.iter().any(|file| matches!(file.format, Format::Json | Format::Picture))
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

    /// Makes a table of what IOR has written; the system has the name of the file.
    ///
    /// # Errors
    /// What is wrong in it, in words.
    pub fn of_ior(path: &str) -> Result<SystemsTable, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read the file: {error}"))?;
        let system = Path::new(path).file_stem().map_or(path.into(), |stem| stem.to_string_lossy());
        read_ior(path, &text, &system).map(SystemsTable).map_err(|problem| problem.to_string())
    }
}

impl fmt::Display for SystemsTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&write_systems(&self.0))
    }
}

/// Reads from which numbers on something is inefficient.
///
/// # Errors
/// What is wrong in the file, in words.
pub fn read_thresholds(path: &str) -> Result<Thresholds, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read the file: {error}"))?;
    Thresholds::from_json(&text)
}
