//! Symbolization of the addresses on call paths: functions, files and lines, and the libraries that they
//! belong to.

use super::contexts::{Paths, Region};
use super::journals::Process;
use super::modules::{CodeAddress, Modules};
use super::notices::Notices;
use model::{Paradigm, RegionRole};
use recording::openmp::{Construct, Target};
use recording::paths::{FRAME, PathNode};
use recording::python::{is_interpreter, is_mpi4py};
use std::collections::HashMap;
use std::env;
use std::path::Path;
use symbols::Frame;

/// Functions that the C library calls before `main`, or before the function of a thread. All paths have them
/// in common.
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

/// Prefixes of the names of files of the C library and of OpenMP's runtime, of which users need no debug information.
const SYSTEM: [&str; 10] = [
    "libc.so",
    "libc-",
    "libc.musl",
    "libm.so",
    "libm-",
    "libpthread",
    "ld-linux",
    "ld-musl",
    "ld-2.",
    "libgomp.",
];

/// The source file of the functions of OpenMP's runtime, as in Score-P's traces.
const RUNTIME: &str = "OMP";

/// Begin of the recorder's file name.
const RECORDER: &str = "libreplay_recorder";

/// A function on a path, and the file and line of the call or sample in it. A call without debug information
/// has the line 0 in a file with a name that ends with the return address.
pub(super) type PathFunction = (Region, Option<(String, u32)>);

/// The functions at the addresses of a run's call paths.
#[derive(Default)]
pub(super) struct Symbolizer {
    modules: Modules,
    /// By file: its debug information, if it could be opened.
    found: Vec<Option<FileSymbols>>,
    /// The functions at each place that a path has.
    frames: HashMap<CodeAddress, Vec<Frame>>,
}

/// The debug information of a file.
#[derive(Clone, Copy)]
struct FileSymbols {
    has_lines: bool,
    /// Entry point of the program.
    entry: Option<u64>,
    /// Whether functions of it are on paths, and some of them without a name.
    is_used: bool,
    lacks_names: bool,
}

impl Symbolizer {
    /// Looks up the addresses that paths have: each once, and each file once.
    pub(super) fn new(processes: &[Process], locations: &[Paths], notices: &mut Notices) -> Symbolizer {
        let modules = Modules::new(processes);
        let mut wanted: Vec<(CodeAddress, u32)> = Vec::new();
        for Paths { process, nodes, .. } in locations {
            let rank = processes.get(*process).map_or(0, |process| process.rank);
            wanted.extend(nodes.iter().filter_map(|node| Some((modules.place(*process, node)?, rank))));
        }
        wanted.sort_unstable();
        wanted.dedup_by_key(|&mut (place, _)| place);
        let mut found = vec![None; modules.files.len()];
        let mut frames = HashMap::new();
        for of_file in wanted.chunk_by(|((one, _), _), ((other, _), _)| one == other) {
            let Some(&((number, _), rank)) = of_file.first() else { continue };
            let addresses: Vec<u64> = of_file.iter().map(|&((_, address), _)| address).collect();
            let resolved = symbols::resolve(&modules.files[number], &addresses);
            let (has_lines, entry) = (resolved.has_lines, resolved.entry);
            match resolved.problem {
                Some(problem) => notices.note(rank, problem),
                None => {
                    found[number] = Some(FileSymbols { has_lines, entry, is_used: false, lacks_names: false })
                }
            }
            frames.extend(addresses.iter().map(|&address| (number, address)).zip(resolved.frames));
        }
        Symbolizer { modules, found, frames }
    }

    /// Returns the functions at the address of a node, the outermost first; none if they are no part of the
    /// program.
    pub(super) fn functions(
        &mut self,
        process: usize,
        node: &PathNode,
        is_outermost: bool,
        in_python: bool,
    ) -> Vec<PathFunction> {
        let place = self.modules.place(process, node);
        let mut frames = self.frames(place);
        let is_start = is_outermost && node.kind == FRAME && self.is_before_main(place, &frames);
        if is_start || self.is_in_interpreter(place, in_python) {
            return Vec::new();
        }
        self.note_use(place, &frames);
        // An address is that of the last byte of the call.
        let returns_to = place.filter(|_| node.kind == FRAME).and_then(|(file, address)| {
            let file = self.modules.files.get(file).filter(|file| file.path.starts_with('/'));
            Some(file?.at(address.wrapping_add(1)))
        });
        if let (Some(frame), Some(returns_to)) = (frames.last_mut(), returns_to)
            && frame.line.is_none()
        {
            frame.line = Some((returns_to, 0));
        }
        let function = |mut frame: Frame| {
            let line = frame.line.take();
            let name = line.as_ref().map(|(file, _)| file.clone());
            (self.region(place, frame, name, Paradigm::SAMPLING), line)
        };
        frames.into_iter().map(function).collect()
    }

    /// Returns the region of the instrumented function at the address of a node.
    pub(super) fn instrumented_function(&mut self, process: usize, node: &PathNode) -> Region {
        let place = self.modules.place(process, node);
        let frames = self.frames(place);
        self.note_use(place, &frames);
        let frame = frames.into_iter().next().unwrap_or_else(|| Frame::unknown("unknown"));
        self.region(place, frame, None, Paradigm::COMPILER)
    }

    /// Returns the region of a construct or function of OpenMP. A construct has its file and line in its name, as
    /// with Score-P; if they are not known, the function that it is in.
    pub(super) fn construct(
        &mut self,
        process: usize,
        (node, parent): (&PathNode, Option<&PathNode>),
        of: &Construct,
    ) -> Region {
        let named = |name: String, file: Option<String>, begin_line| Region {
            canonical_name: name.clone(),
            name,
            file,
            begin_line,
            role: of.role,
            paradigm: Paradigm::OPENMP,
            is_phase: false,
            library: String::new(),
        };
        if of.target == Target::Nothing {
            return named(of.name.into(), Some(RUNTIME.into()), 0);
        }
        let mut place = self.modules.place(process, node);
        if self.file_name(place).starts_with(RECORDER) {
            // The last call of a body is a jump, which returns to the recorder: it is in that body.
            place = parent.and_then(|parent| self.modules.place(process, parent));
        }
        let mut frames = self.frames(place);
        self.note_use(place, &frames);
        let frame = frames.pop().unwrap_or_else(|| Frame::unknown("unknown"));
        let Some((file, line)) = frame.line.clone() else {
            let function = self.region(place, frame, None, Paradigm::OPENMP);
            return named(format!("{} @{}", of.name, function.name), function.file, 0);
        };
        let base = file.rsplit('/').next().unwrap_or(&file);
        named(format!("{} @{base}:{line}", of.name), Some(file.clone()), line)
    }

    /// Reports the files that lack debug information or symbols which paths need, once each.
    pub(super) fn report_missing(&self, notices: &mut Notices) {
        // Of a self-test that is the program; nobody has to build it anew.
        let own = env::current_exe().ok();
        for (file, found) in self.modules.files.iter().zip(&self.found) {
            let Some(FileSymbols { has_lines: false, is_used: true, lacks_names, .. }) = *found else {
                continue;
            };
            let is_own = own.as_deref() == Some(Path::new(&file.path));
            if is_own || SYSTEM.iter().any(|begin| file.name().starts_with(begin)) {
                continue;
            }
            let names = if lacks_names { "functions are named by their addresses and " } else { "" };
            notices.remark(format!(
                "{} has no debug information: {names}calls have no lines; compile it with -g, or install its symbols (Debian: \
                 package <name>-dbgsym)",
                file.path
            ));
        }
    }

    fn frames(&self, place: Option<CodeAddress>) -> Vec<Frame> {
        let frames = place.and_then(|place| self.frames.get(&place)).cloned();
        frames.unwrap_or_else(|| vec![Frame::unknown("unknown")])
    }

    /// Notes that functions of a file are on a path.
    fn note_use(&mut self, place: Option<CodeAddress>, frames: &[Frame]) {
        let found = place.and_then(|(file, _)| self.found.get_mut(file)?.as_mut());
        if let Some(found) = found {
            found.is_used = true;
            found.lacks_names |= frames.iter().any(|frame| frame.is_unknown);
        }
    }

    /// Returns the region of a function. One without a name is named by its start, or else by the return
    /// address.
    fn region(
        &self,
        place: Option<CodeAddress>,
        frame: Frame,
        returns_to: Option<String>,
        paradigm: Paradigm,
    ) -> Region {
        let library = place.filter(|&(file, _)| !self.modules.is_program(file));
        let Frame { mut name, mut canonical_name, file, begin_line, is_unknown, start, .. } = frame;
        if is_unknown {
            let code = place.and_then(|(file, _)| self.modules.files.get(file));
            let starts_at = code.zip(start).map(|(code, start)| code.at(start));
            name = starts_at.or(returns_to).unwrap_or(name);
            canonical_name.clone_from(&name);
        }
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

    /// Returns the name of the file that an address belongs to.
    fn file_name(&self, place: Option<CodeAddress>) -> &str {
        place.and_then(|(file, _)| self.modules.files.get(file)).map_or("", |file| file.name())
    }

    /// Whether an address is in Python's interpreter, which is no part of the program that it runs; nor are
    /// the libraries by which it calls functions in C, nor mpi4py where Python functions have called it.
    fn is_in_interpreter(&self, place: Option<CodeAddress>, in_python: bool) -> bool {
        let file = place.and_then(|(file, _)| self.modules.files.get(file));
        file.is_some_and(|file| is_interpreter(&file.path) || (in_python && is_mpi4py(&file.path)))
    }

    /// Whether a root of paths is code of the C library before `main`. Systems without its symbols do not
    /// have the functions' names, but nothing else in the C library calls the program first; a program
    /// without symbols starts at its entry point.
    fn is_before_main(&self, place: Option<CodeAddress>, frames: &[Frame]) -> bool {
        let is_c_library = self.file_name(place).starts_with("libc.so");
        let program = place.map(|(file, _)| file).filter(|&file| self.modules.is_program(file));
        let entry = program.and_then(|file| self.found.get(file)?.as_ref()?.entry);
        frames.iter().all(|frame| match frame.is_unknown {
            true => is_c_library || (entry.is_some() && frame.start == entry),
            false => BEFORE_MAIN.contains(&frame.canonical_name.as_str()),
        })
    }
}
