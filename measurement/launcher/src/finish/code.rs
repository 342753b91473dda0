//! Functions at the addresses that paths have: names, files and lines, and the libraries that they lie in.

use super::contexts::{Paths, Region};
use super::journals::Process;
use super::modules::{Modules, Place};
use super::notices::Notices;
use model::{Paradigm, RegionRole};
use recording::paths::{FRAME, Node};
use recording::python::{is_interpreter, is_mpi4py};
use std::collections::HashMap;
use symbols::Frame;

/// What the C library calls before `main`, or before the function of a thread. All paths have it in common.
const BEFORE_MAIN: [&str; 9] = [
    "_start",
    "__libc_start_main",
    "__libc_start_main_impl",
    "__libc_start_call_main",
    "start_thread",
    "clone",
    "clone3",
    "__clone",
    "__clone3",
];

/// What is known of code.
#[derive(Default)]
pub(super) struct Code {
    modules: Modules,
    /// The functions at each place that a path has.
    frames: HashMap<Place, Vec<Frame>>,
}

impl Code {
    /// Looks up the places that paths have: each once, and each file once.
    pub(super) fn new(processes: &[Process], locations: &[Paths], notices: &mut Notices) -> Code {
        let modules = Modules::new(processes);
        let mut wanted: Vec<(Place, u32)> = Vec::new();
        for Paths { process, nodes, .. } in locations {
            let rank = processes.get(*process).map_or(0, |process| process.rank);
            wanted.extend(nodes.iter().filter_map(|node| Some((modules.place(*process, node)?, rank))));
        }
        wanted.sort_unstable();
        wanted.dedup_by_key(|&mut (place, _)| place);
        let mut frames = HashMap::new();
        for of_file in wanted.chunk_by(|((one, _), _), ((other, _), _)| one == other) {
            let Some(&((number, _), rank)) = of_file.first() else { continue };
            let addresses: Vec<u64> = of_file.iter().map(|&((_, address), _)| address).collect();
            let (found, problem) = symbols::resolve(&modules.files[number], &addresses);
            if let Some(problem) = problem {
                notices.note(rank, problem);
            }
            frames.extend(addresses.iter().map(|&address| (number, address)).zip(found));
        }
        Code { modules, frames }
    }

    /// The functions at the address of a node, the outermost first, each with the file and line of the call or sample; none
    /// if they say nothing of the program.
    pub(super) fn functions(
        &self,
        process: usize,
        node: &Node,
        is_outermost: bool,
        in_python: bool,
    ) -> Vec<(Region, Option<(String, u32)>)> {
        let (place, frames) = self.frames(process, node);
        let is_start = is_outermost && node.kind == FRAME && self.is_before_main(place, &frames);
        if is_start || self.is_in_interpreter(place, in_python) {
            return Vec::new();
        }
        let line_and_region = |mut frame: Frame| {
            let line = frame.line.take();
            (self.region(place, frame, Paradigm::SAMPLING), line)
        };
        frames.into_iter().map(line_and_region).collect()
    }

    /// The function at the address of a node that has told of itself.
    pub(super) fn instrumented_function(&self, process: usize, node: &Node) -> Region {
        let (place, frames) = self.frames(process, node);
        let frame = frames.into_iter().next().unwrap_or_else(|| Frame::unknown("unknown"));
        self.region(place, frame, Paradigm::COMPILER)
    }

    fn frames(&self, process: usize, node: &Node) -> (Option<Place>, Vec<Frame>) {
        let place = self.modules.place(process, node);
        let frames = place.and_then(|place| self.frames.get(&place)).cloned();
        (place, frames.unwrap_or_else(|| vec![Frame::unknown("unknown")]))
    }

    fn region(&self, place: Option<Place>, frame: Frame, paradigm: Paradigm) -> Region {
        let library = place.filter(|&(file, _)| !self.modules.is_program(file));
        let Frame { name, canonical_name, file, begin_line, .. } = frame;
        Region {
            name,
            canonical_name,
            file,
            begin_line,
            role: RegionRole::FUNCTION,
            paradigm,
            is_phase: false,
            library: library.map_or(String::new(), |place| self.file_name(Some(place)).into()),
        }
    }

    /// The name of the file that a place is in.
    fn file_name(&self, place: Option<Place>) -> &str {
        place.and_then(|(file, _)| self.modules.files.get(file)).map_or("", |file| file.name())
    }

    /// Whether a place is in the code of Python's interpreter, which says nothing of the program that it runs; nor do the
    /// libraries by which that calls functions in C, nor mpi4py where Python functions have called it.
    fn is_in_interpreter(&self, place: Option<Place>, in_python: bool) -> bool {
        let file = place.and_then(|(file, _)| self.modules.files.get(file));
        file.is_some_and(|file| is_interpreter(&file.path) || (in_python && is_mpi4py(&file.path)))
    }

    /// Whether a root of paths is what the C library does before `main`. Systems without its symbols do not know the
    /// functions' names, but nothing else in the C library calls the program first.
    fn is_before_main(&self, place: Option<Place>, frames: &[Frame]) -> bool {
        let is_c_library = self.file_name(place).starts_with("libc.so");
        frames.iter().all(|frame| {
            (frame.is_unknown && is_c_library) || BEFORE_MAIN.contains(&frame.canonical_name.as_str())
        })
    }
}
