//! How many threads of the program share the cores of a node (site.md, 5.1).

use std::collections::BTreeSet;

use super::Trace;
use crate::int::to_u64;

/// Most cores of a node; a greater number is of a damaged trace.
const MOST: u32 = 1 << 16;

/// The threads of the program on a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Crowding {
    /// How many the trace has.
    pub threads: u64,
    /// The cores on which the system let any of them run, at last.
    pub cores: u64,
}

impl Trace {
    /// Returns that of the node of a rank; `None` if the trace does not tell it of each thread there.
    pub fn crowding_of_rank(&self, rank: u32) -> Option<Crowding> {
        let process = self.processes.iter().position(|process| process.rank == Some(rank))?;
        let definitions = &self.definitions;
        let node = |process: usize| {
            let location = &self.locations[self.processes[process].locations.start];
            definitions.location_groups[definitions.locations[location.definition].group].parent
        };
        let own = node(process)?;
        let (mut threads, mut cores) = (0, BTreeSet::new());
        for location in self.locations.iter().filter(|it| it.is_thread() && node(it.process) == Some(own)) {
            threads += 1;
            cores.extend(list(definitions.locations[location.definition].cores.as_deref()?)?);
        }
        Some(Crowding { threads, cores: to_u64(cores.len()) })
    }
}

/// The numbers of a list such as `0-3,8`; `None` if it is none.
fn list(text: &str) -> Option<Vec<u32>> {
    let mut numbers = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        if first > last || last >= MOST {
            return None;
        }
        numbers.extend(first..=last);
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_numbers_and_ranges() {
        assert_eq!(list("0-3,8"), Some(vec![0, 1, 2, 3, 8]));
        assert_eq!(list("5"), Some(vec![5]));
        for text in ["", "3-1", "0-70000", "a", "1,", "-1"] {
            assert_eq!(list(text), None, "{text}");
        }
    }
}
