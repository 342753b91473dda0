//! Labels of a trace (`FILE.pcf`): names of types of events, and of their values.
//!
//! ```text
//! EVENT_TYPE
//! 9    50000001    MPI Point-to-point
//! VALUES
//! 1      MPI_Send
//! 0      Outside MPI
//! ```
//!
//! Values are those of all types in front of them. Sections of states, colours and options are not needed.

use std::collections::BTreeMap;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;

use crate::error::{Error, Result};
use crate::regions::MPI;
use crate::text::{Kind, Lines, named};

/// The type of events that only our own exporter writes, and its label.
const OURS: (u64, &str) = (90_000_001, "Wait state");

/// Labels by number.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Labels {
    /// Where they are from, for messages.
    path: PathBuf,
    /// Of types.
    types: FxHashMap<u64, String>,
    /// Of values: the number of their list in `lists`.
    values: FxHashMap<(usize, u64), String>,
    /// The list of values of a type.
    lists: BTreeMap<u64, usize>,
}

/// A section of the file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Types,
    Values,
    Other,
}

impl Labels {
    /// Reads the file.
    ///
    /// Lines that are no labels are skipped, as people change these files by hand.
    pub(crate) fn read(path: &Path, source: impl Read) -> Result<Labels> {
        let mut labels = Labels { path: path.to_owned(), ..Labels::default() };
        let mut lines = Lines::new(Kind::Labels, path, source)?;
        let mut section = Section::Other;
        let mut list = 0;
        while let Some(line) = lines.next()? {
            let line = named(line);
            match line.trim() {
                "EVENT_TYPE" => {
                    section = Section::Types;
                    list += 1;
                }
                "VALUES" if section == Section::Types => section = Section::Values,
                "" if section == Section::Values => section = Section::Other,
                "" => {}
                line if line.starts_with(|first: char| first.is_ascii_digit()) => {
                    labels.add(section, list, line)
                }
                _ => section = Section::Other,
            }
        }
        Ok(labels)
    }

    fn add(&mut self, section: Section, list: usize, line: &str) {
        match section {
            Section::Types => {
                // In front of the type is the number of its colour gradient.
                let Some((number, label)) =
                    line.split_once(char::is_whitespace).and_then(|rest| numbered(rest.1))
                else {
                    return;
                };
                self.types.insert(number, label.to_owned());
                self.lists.insert(number, list);
            }
            Section::Values => {
                if let Some((number, label)) = numbered(line) {
                    self.values.insert((list, number), label.to_owned());
                }
            }
            Section::Other => {}
        }
    }

    /// The label of a type.
    pub(crate) fn of_type(&self, number: u64) -> Option<&str> {
        self.types.get(&number).map(String::as_str)
    }

    /// The label of a value of a type.
    pub(crate) fn of_value(&self, number: u64, value: u64) -> Option<&str> {
        let list = self.lists.get(&number)?;
        self.values.get(&(*list, value)).map(String::as_str)
    }

    /// The label of a value of any of several types, of which those with labels have the same.
    pub(crate) fn of_levels(&self, kinds: &Range<u64>, value: u64) -> Option<&str> {
        self.lists
            .range(kinds.clone())
            .find_map(|(_, &list)| self.values.get(&(list, value)))
            .map(String::as_str)
    }

    /// Whether there is a name for any value of any type.
    pub(crate) fn has_values(&self) -> bool {
        !self.values.is_empty()
    }

    /// Whether there is a function of MPI among the names. Value 0 is the end of a call.
    pub(crate) fn has_mpi(&self) -> bool {
        let is_of_mpi = |list| self.lists.range(MPI).any(|(_, &of_kind)| of_kind == list);
        self.values.keys().any(|&(list, value)| value != 0 && is_of_mpi(list))
    }

    /// The error for labels that are not those of the trace.
    #[cold]
    pub(crate) fn foreign(&self, found: &str) -> Error {
        let message = format_args!(
            "found {found}, expected EVENT_TYPE and VALUES of {} to {}, as \"1 MPI_Send\"; copy the file that lies beside the \
             trace where it was recorded",
            MPI.start(),
            MPI.end()
        );
        Error::file(&self.path, message)
    }

    /// Whether `replay-show export paraver` has written the trace.
    pub(crate) fn is_ours(&self) -> bool {
        self.of_type(OURS.0) == Some(OURS.1)
    }
}

/// A number, and the label behind it.
fn numbered(line: &str) -> Option<(u64, &str)> {
    let (number, label) = line.trim_start().split_once(char::is_whitespace)?;
    Some((number.parse().ok()?, label.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(text: &str) -> Labels {
        Labels::read(Path::new("a.pcf"), text.as_bytes()).unwrap()
    }

    #[test]
    fn types_in_front_of_values_share_them() {
        let read = labels(
            "STATES\n0    Idle\n\nEVENT_TYPE\n9    50000001    MPI Point-to-point\n6  50000002 Other\nVALUES\n1      MPI_Send\n\
             2 MPI_Recv\n\n\nEVENT_TYPE\n7  42000050 PAPI_TOT_INS [Instr completed]\n7  42000059 PAPI_TOT_CYC\n",
        );
        assert_eq!(read.of_value(50_000_001, 1), Some("MPI_Send"));
        assert_eq!(read.of_value(50_000_002, 2), Some("MPI_Recv"));
        assert_eq!(read.of_type(42_000_050), Some("PAPI_TOT_INS [Instr completed]"));
        assert_eq!(read.of_levels(&(50_000_000..50_000_003), 2), Some("MPI_Recv"));
        assert_eq!(read.of_levels(&(50_000_003..60_000_000), 2), None);
        assert_eq!((read.of_value(42_000_050, 1), read.of_value(0, 0)), (None, None));
        assert!(!read.is_ours());
        assert!(labels("EVENT_TYPE\n0    90000001    Wait state\nVALUES\n0      No waiting\n").is_ours());
    }

    #[test]
    fn other_lines_are_skipped() {
        let read = labels(
            "\u{0}\nVALUES\n1 a\nEVENT_TYPE\n7\n7 x y\n9 5 five\n-1 a\nVALUES\n99999999999999999999 b\n3\n",
        );
        assert_eq!(read.of_type(5), Some("five"));
        assert_eq!((read.types.len(), read.values.len()), (1, 0));
        assert!(!read.has_values());
    }

    #[test]
    fn functions_of_mpi_are_values_of_their_types() {
        assert!(labels("EVENT_TYPE\n9 50000003 Other\nVALUES\n1 MPI_Init\n").has_mpi());
        assert!(!labels("EVENT_TYPE\n9 50000003 Other\nVALUES\n0 End\n").has_mpi());
        assert!(!labels("EVENT_TYPE\n9 60000019 Function\nVALUES\n1 MPI_Init\n").has_mpi());
    }
}
