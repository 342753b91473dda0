//! Names of nodes, tasks and threads (`FILE.row`).
//!
//! ```text
//! LEVEL NODE SIZE 2
//! node1
//! node2
//! ```

use std::io::Read;
use std::path::Path;

use crate::error::Result;
use crate::text::{Kind, Lines, named};

/// Names in the order of numbers; a list is shorter than there are objects if names are missing.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Names {
    pub(crate) nodes: Vec<String>,
    pub(crate) tasks: Vec<String>,
    /// Of the threads of all tasks.
    pub(crate) threads: Vec<String>,
}

impl Names {
    /// Reads the file. Levels that are not known are skipped.
    pub(crate) fn read(path: &Path, source: impl Read) -> Result<Names> {
        let mut names = Names::default();
        let mut lines = Lines::new(Kind::Names, path, source)?;
        let mut list: Option<&mut Vec<String>> = None;
        let mut left: u64 = 0;
        while let Some(line) = lines.next()? {
            let line = named(line);
            if left > 0 {
                left -= 1;
                if let Some(list) = &mut list {
                    list.push(line.trim().to_owned());
                }
                continue;
            }
            let words: Vec<&str> = line.split_whitespace().collect();
            let ["LEVEL", level, "SIZE", size] = words.as_slice() else { continue };
            left = size.parse().unwrap_or(0);
            list = match *level {
                "NODE" => Some(&mut names.nodes),
                "TASK" => Some(&mut names.tasks),
                "THREAD" => Some(&mut names.threads),
                _ => None,
            };
        }
        Ok(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_known_levels() {
        let text = "LEVEL CPU SIZE 2\n1.a\n2.a\n\nLEVEL NODE SIZE 1\na\n\nLEVEL THREAD SIZE 2\nTHREAD 1.1.1\nTHREAD 1.2.1\n";
        let names = Names::read(Path::new("a.row"), text.as_bytes()).unwrap();
        assert_eq!((names.nodes, names.tasks), (vec!["a".to_owned()], vec![]));
        assert_eq!(names.threads, ["THREAD 1.1.1", "THREAD 1.2.1"]);
        let cut = Names::read(Path::new("a.row"), &b"LEVEL TASK SIZE 18446744073709551615\nx"[..]).unwrap();
        assert_eq!(cut.tasks, ["x"]);
    }
}
