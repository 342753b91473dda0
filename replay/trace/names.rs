//! Names of call paths, locations, and sets of processes, for messages and reports.

use model::{Definitions, LocationType};

use super::Trace;
use crate::call_tree::{CallPath, NO_SITE};
use crate::findings::cut;
use crate::ids::PathId;

/// The most calls shown at each end of a path's name. Recursion may be so deep that all names would fill a
/// book.
const NAMED: usize = 32;

/// The most bytes of a region's name in the name of a path.
const LONGEST_NAME: usize = 200;

impl Trace {
    /// Returns what a set of processes is, and its reference: `communicator 3`, `window 0`, `file handle 7`.
    pub fn set_name(&self, number: u32) -> String {
        let Definitions { communicators, windows, file_handles, .. } = &self.definitions;
        let number = number as usize;
        let of_windows = number.checked_sub(communicators.len());
        let of_handles = of_windows.and_then(|position| position.checked_sub(windows.len()));
        match (of_windows, of_handles) {
            (_, Some(position)) => format!("file handle {}", file_handles.reference(position)),
            (Some(position), _) => format!("window {}", windows.reference(position)),
            _ => format!("communicator {}", communicators.reference(number)),
        }
    }

    /// Returns the name that the program has given to a set of processes, the path of a file; often empty.
    pub fn set_label(&self, number: usize) -> String {
        let Definitions { communicators, windows, file_handles, files, .. } = &self.definitions;
        if let Some(communicator) = communicators.get(number) {
            return communicator.name.clone();
        }
        let position = number - communicators.len();
        if let Some(window) = windows.get(position) {
            return window.name.clone();
        }
        let handle = file_handles.get(position - windows.len());
        let file = handle.and_then(|handle| files.get(handle.file?));
        file.cloned().unwrap_or_default()
    }

    /// Returns the names of the regions along a call path, separated by slashes. A region that calls itself
    /// comes once, with the number of its calls; a very deep path has only the names at both ends. If the
    /// trace has the call site of the innermost region, or of the call around it, file and line follow, or
    /// the file alone if there are no lines.
    pub fn path_name(&self, paths: &[CallPath], path: PathId) -> String {
        // Innermost first, each with the number of its calls in direct succession.
        let mut names: Vec<(&str, usize)> = Vec::new();
        let mut at = path;
        let mut site = NO_SITE;
        let mut calls = 0;
        while at != PathId::NONE {
            let call_path = paths[at.index()];
            // A call of MPI has no call site of its own; its caller has it.
            if calls < 2 && site == NO_SITE {
                site = call_path.site;
            }
            calls += 1;
            let name = self.region_name(call_path.region);
            match names.last_mut() {
                Some((last, times)) if *last == name => *times += 1,
                _ => names.push((name, 1)),
            }
            at = call_path.parent;
        }
        names.reverse();
        let join = |names: &[(&str, usize)]| {
            let names = names.iter().map(|&(name, times)| {
                let name = cut(name.to_owned(), LONGEST_NAME);
                if times == 1 { name } else { format!("{name} ({times} times)") }
            });
            names.collect::<Vec<_>>().join("/")
        };
        let name = match names.len().checked_sub(2 * NAMED).filter(|&others| others > 0) {
            Some(others) => {
                let (begin, rest) = names.split_at(NAMED);
                let (others, end) = rest.split_at(others);
                let others: usize = others.iter().map(|(_, times)| times).sum();
                format!("{}/({others} more)/{}", join(begin), join(end))
            }
            None => join(&names),
        };
        match self.sites.get(site as usize) {
            Some((file, line)) => {
                let file = cut(file.rsplit('/').next().unwrap_or(file).to_owned(), LONGEST_NAME);
                let line = if *line > 0 { format!(":{line}") } else { String::new() };
                format!("{name} ({file}{line})")
            }
            None => name,
        }
    }

    /// Returns the name of a location for messages: `rank 3`, `rank 3 thread 1`, or, with the trace's name of the stream, `rank 3
    /// CUDA[0:7]`.
    pub fn location_name(&self, location: usize) -> String {
        let location = &self.locations[location];
        let own = &self.definitions.locations[location.definition].name;
        let name = match self.processes[location.process].rank {
            Some(rank) => format!("rank {rank}"),
            None => format!("process {}", location.process),
        };
        match (location.kind, location.thread) {
            (LocationType::CPU_THREAD, 0) => name,
            (LocationType::CPU_THREAD, thread) => format!("{name} thread {thread}"),
            (LocationType::ACCELERATOR_STREAM, _) if !own.is_empty() => {
                format!("{name} {}", cut(own.clone(), LONGEST_NAME))
            }
            _ => format!("{name} location {}", location.reference),
        }
    }
}

#[cfg(test)]
mod tests {
    use model::{CallingContext, Region};

    use super::*;
    use crate::options::Semantics;
    use crate::trace::tests::world;

    /// Returns the name of a path through regions that are named by letters; the innermost call but one has a
    /// call site.
    fn name_of(regions: &str, site: (&str, u32)) -> String {
        let mut definitions = world(&[1]);
        let letters = (0u8..26).map(|at| char::from(b'a' + at).to_string());
        for (at, name) in (0..).zip(letters) {
            definitions.regions.push(at, Region { name, ..Region::default() }).unwrap();
        }
        let source = Some((site.0.to_string(), site.1));
        definitions.calling_contexts.push(0, CallingContext { region: 0, source, parent: None }).unwrap();
        let trace = Trace::new(definitions, Semantics::Corrected).unwrap();
        let paths: Vec<CallPath> = (0..)
            .zip(regions.bytes())
            .map(|(at, letter)| CallPath {
                parent: if at == 0 { PathId::NONE } else { PathId::new(at - 1) },
                region: u32::from(letter - b'a'),
                site: if at + 2 == regions.len() { 0 } else { NO_SITE },
            })
            .collect();
        trace.path_name(&paths, PathId::new(paths.len() - 1))
    }

    #[test]
    fn region_that_calls_itself_comes_once_with_the_number_of_its_calls() {
        assert_eq!(name_of("abbbcb", ("/x/y.c", 3)), "a/b (3 times)/c/b (y.c:3)");
        assert_eq!(name_of("aa", ("/x/y.c", 3)), "a (2 times) (y.c:3)");
        let long = format!("{}{}{}", "ab".repeat(20), "c".repeat(50), "de".repeat(30));
        let name = name_of(&long, ("y", 3));
        assert!(name.contains("/a/b/(86 more)/d/e/"), "{name}");
    }

    #[test]
    fn call_without_a_line_is_named_by_its_file_alone() {
        assert_eq!(name_of("abc", ("/x/app+0x12a7", 0)), "a/b/c (app+0x12a7)");
    }
}
