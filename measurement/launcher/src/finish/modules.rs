//! Modules: from addresses of processes to addresses in files.
//!
//! The same file is mapped at another address in every process, so an address has a meaning only together
//! with the modules of its process.

use super::journals::Process;
use recording::openmp::{Target, construct};
use recording::paths::{FRAME, FUNCTION, PathNode, SAMPLE};
use std::collections::HashMap;
use symbols::File;

/// An address in a file: the file's number, and the address as in the file's tables.
pub(crate) type CodeAddress = (usize, u64);

/// All files with code, each once, and their mappings in the processes.
#[derive(Default, Debug)]
pub(crate) struct Modules {
    pub(crate) files: Vec<File>,
    /// Which of them are programs of processes, by file.
    programs: Vec<bool>,
    /// By process: start, end, bias, and number of the file of each mapping; by address.
    of: Vec<Vec<(u64, u64, u64, usize)>>,
}

impl Modules {
    /// Collects the modules of all processes.
    pub(crate) fn new(processes: &[Process]) -> Self {
        let mut modules = Modules::default();
        let mut by_path: HashMap<File, usize> = HashMap::new();
        let mut by_id: HashMap<String, usize> = HashMap::new();
        for process in processes {
            let mut own: Vec<(u64, u64, u64, usize)> = Vec::new();
            for module in process.modules.iter().filter(|module| module.begin < module.end) {
                let file = File { path: module.path.clone(), build_id: module.build_id.clone() };
                let known = match &file.build_id {
                    Some(id) => by_id.get(id),
                    None => by_path.get(&file),
                };
                let number = known.copied().unwrap_or_else(|| {
                    modules.files.push(file.clone());
                    modules.programs.push(false);
                    modules.files.len() - 1
                });
                modules.programs[number] |= module.path == process.program;
                by_id.extend(file.build_id.clone().map(|id| (id, number)));
                by_path.insert(file, number);
                // A later mapping has replaced those at the same addresses.
                own.retain(|&(begin, end, ..)| end <= module.begin || module.end <= begin);
                own.push((module.begin, module.end, module.bias, number));
            }
            own.sort_unstable();
            modules.of.push(own);
        }
        modules
    }

    /// Whether a file, by its number, is the program of a process and not a library.
    pub(crate) fn is_program(&self, file: usize) -> bool {
        self.programs.get(file).is_some_and(|&is_program| is_program)
    }

    /// Returns the address in a file of a node of a process (by its position), if it is one in a module.
    ///
    /// A return address is behind the call; the byte before it belongs to the call in any case, also if the
    /// call is the last instruction of a function that does not return.
    pub(crate) fn place(&self, process: usize, node: &PathNode) -> Option<CodeAddress> {
        let address = match (node.kind, construct(node).map(|construct| construct.target)) {
            (FRAME, _) | (_, Some(Target::Call)) => node.target.checked_sub(1)?,
            (FUNCTION | SAMPLE, _) | (_, Some(Target::Body)) => node.target,
            _ => return None,
        };
        let own = self.of.get(process)?;
        let at = own.partition_point(|&(begin, ..)| begin <= address).checked_sub(1)?;
        let &(_, end, bias, file) = own.get(at)?;
        (address < end).then(|| (file, address.wrapping_sub(bias)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use recording::journal;
    use recording::openmp::{BARRIER, PARALLEL, SET_LOCK};

    fn module(begin: u64, end: u64, path: &str, build_id: Option<&str>) -> journal::Module {
        let build_id = build_id.map(Into::into);
        journal::Module { begin, end, bias: begin - 0x10, build_id, path: path.into() }
    }

    fn process(modules: &[journal::Module]) -> Process {
        Process { modules: modules.to_vec(), ..Process::default() }
    }

    fn node(kind: u32, target: u64) -> PathNode {
        PathNode { target, parent: 0, kind }
    }

    #[test]
    fn same_file_at_different_addresses_is_one_place() {
        let modules = Modules::new(&[
            process(&[module(0x1000, 0x2000, "/a", Some("12")), module(0x3000, 0x4000, "/b", None)]),
            process(&[module(0x7000, 0x8000, "/copy/a", Some("12")), module(0x9000, 0xa000, "/b", None)]),
        ]);
        assert_eq!(modules.files.len(), 2);
        assert_eq!(modules.place(0, &node(FRAME, 0x1001)), Some((0, 0x10)));
        assert_eq!(modules.place(1, &node(SAMPLE, 0x7000)), Some((0, 0x10)));
        assert_eq!(modules.place(1, &node(FUNCTION, 0x9000)), modules.place(0, &node(FUNCTION, 0x3000)));
    }

    #[test]
    fn file_is_a_program_if_a_process_says_so_whatever_its_path_elsewhere() {
        let modules = [module(0x1000, 0x2000, "/a", Some("12")), module(0x3000, 0x4000, "/b", None)];
        let one = Process { program: "/a".into(), ..process(&modules) };
        let other = process(&[module(0x1000, 0x2000, "/copy/a", Some("12"))]);
        let modules = Modules::new(&[other, one]);
        assert_eq!([0, 1, 2].map(|file| modules.is_program(file)), [true, false, false]);
    }

    #[test]
    fn address_outside_of_modules_has_no_place() {
        let modules = Modules::new(&[process(&[module(0x1000, 0x2000, "/a", None)])]);
        for outside in [node(FRAME, 0), node(FRAME, 0x1000), node(SAMPLE, 0x2000), node(1, 0x1800)] {
            assert_eq!(modules.place(0, &outside), None);
        }
        assert!(modules.place(0, &node(FRAME, 0x2000)).is_some(), "a call as the last instruction");
        let of = [BARRIER, PARALLEL, SET_LOCK].map(|kind| modules.place(0, &node(kind, 0x2000)).is_some());
        assert_eq!(of, [true, false, false], "a call, a function, and nothing");
        assert_eq!(modules.place(1, &node(SAMPLE, 0x1000)), None);
    }

    #[test]
    fn what_is_mapped_later_counts() {
        let modules = Modules::new(&[process(&[
            module(0x1000, 0x3000, "/a", None),
            module(0x2000, 0x4000, "/b", None),
        ])]);
        assert_eq!(modules.place(0, &node(SAMPLE, 0x2800)).map(|(file, _)| file), Some(1));
        assert_eq!(modules.place(0, &node(SAMPLE, 0x1800)), None);
    }
}
