//! The tree of calling contexts: the paths of all threads, each once.
//!
//! An address stands for one function or for several, if some are inlined; so a node of a thread's paths may
//! become a chain of contexts, and the innermost is the node's. Numbers are given in the order of ranks,
//! threads and nodes.

use super::code::Symbolizer;
use super::journals::Process;
use super::notices::Notices;
use super::python::PythonFunctions;
use model::{Paradigm, RegionRole};
use recording::file_functions;
use recording::functions;
use recording::openmp;
use recording::paths::{
    FILE_FUNCTION, FRAME, FUNCTION, MPI_FUNCTION, NO_PARENT, PYTHON, PathNode, REGION, SAMPLE,
};
use recording::python::function_and_line;
use std::collections::HashMap;
use std::hash::Hash;

/// The source file of MPI regions, as in Score-P's traces.
const MPI: &str = "MPI";

/// The context of a node for code before `main`.
pub(crate) const NO_CONTEXT: u32 = u32::MAX;

/// Prefixes of the names of functions with which programs in C++ and Fortran name regions.
const NAMING: [&str; 4] = [
    "replay::Region::Region(",
    "replay::Phase::Phase(",
    "replay::replay_region_begin",
    "replay::replay_phase_begin",
];

/// A region of the archive; its number is its position.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Region {
    pub(crate) name: String,
    pub(crate) canonical_name: String,
    pub(crate) file: Option<String>,
    pub(crate) begin_line: u32,
    pub(crate) role: RegionRole,
    pub(crate) paradigm: Paradigm,
    pub(crate) is_phase: bool,
    /// File name of its library; empty for the program's own functions, MPI functions and named regions.
    pub(crate) library: String,
}

/// A calling context; its number is its position.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Context {
    pub(crate) region: u32,
    /// Number of the source code location of the call.
    pub(crate) line: Option<u32>,
    pub(crate) parent: Option<u32>,
}

/// The paths of a location.
#[derive(Clone, Default, Debug)]
pub(crate) struct Paths {
    /// Position of its process.
    pub(crate) process: usize,
    pub(crate) nodes: Vec<PathNode>,
    /// The Python functions that nodes refer to.
    pub(crate) functions: PythonFunctions,
}

/// The tree of calling contexts, with the regions and lines that it refers to.
#[derive(Clone, Default, Debug)]
pub(crate) struct Contexts {
    pub(crate) regions: Vec<Region>,
    /// Files and lines.
    pub(crate) lines: Vec<(String, u32)>,
    pub(crate) nodes: Vec<Context>,
    /// The context of each node, by location: [`NO_CONTEXT`] for some.
    pub(crate) of: Vec<Vec<u32>>,
    /// Whether there are samples.
    pub(crate) has_samples: bool,
}

/// Merges the paths of all locations, which come by rank and thread, into one tree.
pub(crate) fn merge(processes: &[Process], locations: &[Paths], notices: &mut Notices) -> Contexts {
    let code = Symbolizer::new(processes, locations, notices);
    let mut merger = Merger { code, ..Merger::default() };
    for paths in locations {
        let mut own: Vec<u32> = Vec::with_capacity(paths.nodes.len());
        for node in &paths.nodes {
            // Parents have smaller numbers: the reader has checked that.
            let parent = if node.parent == NO_PARENT { None } else { own.get(node.parent as usize).copied() };
            let parent = parent.filter(|&parent| parent != NO_CONTEXT);
            let context = match node.kind {
                PYTHON => merger.python(node, &paths.functions, parent),
                _ => {
                    let caller = paths.nodes.get(node.parent as usize);
                    merger.context((node, caller), (paths.process, processes), parent)
                }
            };
            own.push(context);
        }
        merger.done.of.push(own);
    }
    merger.code.report_missing(notices);
    merger.done
}

/// The tree under construction.
#[derive(Default)]
struct Merger {
    code: Symbolizer,
    regions: HashMap<Region, u32>,
    lines: HashMap<(String, u32), u32>,
    nodes: HashMap<Context, u32>,
    done: Contexts,
}

impl Merger {
    /// Returns the context of a node below a parent; the node of that may be of a Python function.
    fn context(
        &mut self,
        (node, caller): (&PathNode, Option<&PathNode>),
        (process, processes): (usize, &[Process]),
        parent: Option<u32>,
    ) -> u32 {
        match node.kind {
            FRAME | SAMPLE => {
                self.done.has_samples |= node.kind == SAMPLE;
                let in_python = caller.is_some_and(|caller| caller.kind == PYTHON);
                let functions = self.code.functions(process, node, parent.is_none(), in_python);
                let mut innermost = parent;
                for (region, line) in functions {
                    let region = self.region(region);
                    let line = line.map(|line| number(&mut self.lines, &mut self.done.lines, line));
                    innermost = Some(self.node(Context { region, line, parent: innermost }));
                }
                innermost.unwrap_or(NO_CONTEXT)
            }
            FUNCTION => {
                let region = self.code.instrumented_function(process, node);
                let region = self.region(region);
                self.node(Context { region, line: None, parent })
            }
            MPI_FUNCTION => {
                let known = usize::try_from(node.target).ok().and_then(|at| functions::all().get(at));
                let (name, role) =
                    known.map_or(("MPI", RegionRole::FUNCTION), |known| (known.name, known.role));
                let region = self.region(Region { role, ..region(name, Some(MPI), Paradigm::MPI) });
                self.node(Context { region, line: None, parent })
            }
            FILE_FUNCTION => {
                let known =
                    usize::try_from(node.target).ok().and_then(|at| file_functions::FUNCTIONS.get(at));
                let (name, role, source) = known
                    .map_or(("[unknown]", RegionRole::FILE_IO, file_functions::POSIX), |known| {
                        (known.name, known.role, known.source)
                    });
                let region = region(name, Some(source), Paradigm::NONE);
                let region = self.region(Region { role, ..region });
                self.node(Context { region, line: None, parent })
            }
            REGION => {
                let recorded = u32::try_from(node.target).ok();
                let recorded = recorded.and_then(|number| processes.get(process)?.regions.get(&number));
                let region = match recorded {
                    Some(recorded) => Region {
                        begin_line: recorded.line,
                        is_phase: recorded.phase,
                        ..region(&recorded.name, recorded.file.as_deref(), Paradigm::USER)
                    },
                    None => region("[unknown]", None, Paradigm::USER),
                };
                let region = self.region(region);
                let parent = self.naming_function(parent);
                self.node(Context { region, line: None, parent })
            }
            _ => {
                let region = match openmp::construct(node) {
                    Some(construct) => self.code.construct(process, (node, caller), construct),
                    None => region("[unknown]", None, Paradigm::UNKNOWN),
                };
                let region = self.region(region);
                self.node(Context { region, line: None, parent })
            }
        }
    }

    /// Returns the context of a Python function below a parent.
    fn python(&mut self, node: &PathNode, functions: &PythonFunctions, parent: Option<u32>) -> u32 {
        let (function, line) = function_and_line(node.target);
        let Some(function) = functions.get(&function) else {
            let region = self.region(region("[unknown]", None, Paradigm::SAMPLING));
            return self.node(Context { region, line: None, parent });
        };
        if function.names_regions() {
            return parent.unwrap_or(NO_CONTEXT);
        }
        let region = self.region(function.region());
        let place = (line > 0 && !function.file.is_empty()).then(|| (function.file.clone(), line));
        let line = place.map(|place| number(&mut self.lines, &mut self.done.lines, place));
        self.node(Context { region, line, parent })
    }

    fn region(&mut self, region: Region) -> u32 {
        number(&mut self.regions, &mut self.done.regions, region)
    }

    fn node(&mut self, node: Context) -> u32 {
        number(&mut self.nodes, &mut self.done.nodes, node)
    }

    /// Returns the function that names a region, as `replay.h` and `replay.f90` have functions between it and
    /// the recorder.
    fn naming_function(&self, innermost: Option<u32>) -> Option<u32> {
        let mut context = innermost;
        while let Some(node) = context.and_then(|context| self.done.nodes.get(context as usize)) {
            let region = self.done.regions.get(node.region as usize);
            if !region.is_some_and(|region| NAMING.iter().any(|name| region.name.starts_with(name))) {
                break;
            }
            context = node.parent;
        }
        context
    }
}

/// Returns the number of an item, which is appended if it is new.
fn number<T: Clone + Eq + Hash>(known: &mut HashMap<T, u32>, list: &mut Vec<T>, item: T) -> u32 {
    if let Some(&number) = known.get(&item) {
        return number;
    }
    let number = list.len() as u32;
    list.push(item.clone());
    known.insert(item, number);
    number
}

/// Returns a region with equal names.
fn region(name: &str, file: Option<&str>, paradigm: Paradigm) -> Region {
    Region {
        name: name.into(),
        canonical_name: name.into(),
        file: file.map(Into::into),
        begin_line: 0,
        role: RegionRole::FUNCTION,
        paradigm,
        is_phase: false,
        library: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use recording::journal;

    fn node(kind: u32, target: u64, parent: u32) -> PathNode {
        PathNode { target, parent, kind }
    }

    fn mpi(name: &str) -> u64 {
        functions::all().iter().position(|function| function.name == name).unwrap() as u64
    }

    #[test]
    fn same_paths_of_two_threads_are_one() {
        let mut process = Process::default();
        let region = journal::Region {
            region: 3,
            name: "step".into(),
            file: Some("a.c".into()),
            line: 7,
            phase: true,
        };
        process.regions.insert(3, region);
        let (send, receive) = (mpi("MPI_Send"), mpi("MPI_Recv"));
        let one =
            vec![node(REGION, 3, NO_PARENT), node(MPI_FUNCTION, send, 0), node(MPI_FUNCTION, receive, 0)];
        let other = vec![
            node(MPI_FUNCTION, send, NO_PARENT),
            node(REGION, 3, NO_PARENT),
            node(MPI_FUNCTION, receive, 1),
        ];
        let locations =
            [one, other].map(|nodes| Paths { process: 0, nodes, functions: PythonFunctions::new() });
        let contexts = merge(&[process], &locations, &mut Notices::default());
        assert_eq!(contexts.of, [[0, 1, 2], [3, 0, 2]]);
        assert_eq!(contexts.regions.len(), 3);
        let step = &contexts.regions[0];
        assert_eq!((step.name.as_str(), step.begin_line, step.is_phase), ("step", 7, true));
        let send = &contexts.regions[1];
        assert_eq!(
            (send.role, send.paradigm, send.file.as_deref()),
            (RegionRole::POINT2POINT, Paradigm::MPI, Some("MPI"))
        );
        assert_eq!(contexts.nodes[3], Context { region: 1, line: None, parent: None });
    }

    #[test]
    fn constructs_of_openmp_have_the_names_and_roles_of_score_p() {
        let nodes = vec![
            node(openmp::FORK, 0, NO_PARENT),
            node(openmp::PARALLEL, 77, 0),
            node(openmp::BARRIER, 78, 1),
            node(openmp::SET_LOCK, 0, 1),
        ];
        let paths = Paths { process: 0, nodes, functions: PythonFunctions::new() };
        let contexts = merge(&[Process::default()], &[paths], &mut Notices::default());
        let of = |region: &Region| (region.name.clone(), region.role, region.paradigm, region.file.clone());
        let named = |name: &str, role, file: Option<&str>| {
            (name.to_string(), role, Paradigm::OPENMP, file.map(str::to_string))
        };
        assert_eq!(
            contexts.regions.iter().map(of).collect::<Vec<_>>(),
            [
                named("GOMP_parallel", RegionRole::WRAPPER, Some("OMP")),
                named("!$omp parallel @[unknown]", RegionRole::PARALLEL, None),
                named("!$omp barrier @[unknown]", RegionRole::BARRIER, None),
                named("omp_set_lock", RegionRole::WRAPPER, Some("OMP")),
            ]
        );
    }

    #[test]
    fn functions_of_the_c_library_are_below_those_of_mpi_with_the_names_and_roles_of_score_p() {
        let number = file_functions::number("pwrite64").into();
        let nodes =
            vec![node(MPI_FUNCTION, mpi("MPI_File_write"), NO_PARENT), node(FILE_FUNCTION, number, 0)];
        let paths = Paths { process: 0, nodes, functions: PythonFunctions::new() };
        let contexts = merge(&[Process::default()], &[paths], &mut Notices::default());
        let Region { name, role, paradigm, file, .. } = &contexts.regions[1];
        assert_eq!((name.as_str(), *role, *paradigm), ("pwrite64", RegionRole::FILE_IO, Paradigm::NONE));
        assert_eq!((file.as_deref(), contexts.nodes[1].parent), (Some("POSIX I/O"), Some(0)));
    }

    #[test]
    fn unknown_nodes_have_names_all_the_same() {
        let nodes = vec![
            node(FRAME, 77, NO_PARENT),
            node(FUNCTION, 0, 0),
            node(REGION, u64::MAX, 1),
            node(MPI_FUNCTION, u64::MAX, 2),
            node(99, 0, 3),
            node(SAMPLE, 0, 4),
            node(PYTHON, u64::MAX, 5),
            node(FILE_FUNCTION, u64::MAX, 6),
        ];
        let paths = Paths { process: 0, nodes, functions: PythonFunctions::new() };
        let contexts = merge(&[Process::default()], &[paths], &mut Notices::default());
        assert_eq!(contexts.of, [[0, 1, 2, 3, 4, 5, 6, 7]]);
        assert!(contexts.has_samples);
        assert!(contexts.regions.iter().all(|region| region.name == "[unknown]" || region.name == "MPI"));
    }
}
