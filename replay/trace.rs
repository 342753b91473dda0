//! The definitions of a trace in the form that the analysis needs: processes, locations, regions,
//! communicators.
//!
//! Everything is numbered once, and on all workers alike: processes by rank, locations by (rank, thread),
//! which is also their order in the report.

use std::ops::Range;
use std::sync::Arc;

use model::mpi::{self, Class};
use model::{
    Definitions, InterruptGenerator, LocationGroupType, LocationType, Paradigm, Region, RegionRole, Ticks,
};
use patterns::matched::{BarrierClass, Completion, LockClass};
use rustc_hash::FxHashMap;

use crate::call_tree::{CallPath, NO_SITE};
use crate::communicators::{Participants, World, groups, participants, world};
use crate::coverage::Fate;
use crate::error::Error;
use crate::findings::cut;
use crate::ids::PathId;
use crate::int::{to_u32, truncated};
use crate::options::Semantics;
use crate::thread_numbers::{NO_PLACE, places};
use crate::walk::KnownAttributes;

/// A trace's definitions in the order and form that the analysis needs.
#[derive(Debug)]
pub struct Trace {
    /// The definitions of the archive; paradigm and source file of regions agree on which belong to MPI.
    pub definitions: Definitions,
    /// The definitions of wait states to follow.
    pub semantics: Semantics,
    /// The processes, by rank; accelerator contexts belong to the process that made them.
    pub processes: Vec<Process>,
    /// All locations, in the order of the report.
    pub locations: Vec<Location>,
    /// The artificial regions: their positions follow those of the archive's regions. Higher positions stand
    /// for programs.
    artificial: Vec<Region>,
    /// The kind of each region of the archive.
    pub kinds: Vec<RegionKind>,
    /// Sets of processes that take part in operations: communicators by position in `definitions.communicators`, behind them
    /// those of [windows](Trace::window) and of [file handles](Trace::file_handle).
    pub communicators: Vec<Participants>,
    /// The processes of groups of MPI that events name, in rising order, by the position of the group; empty unless events name
    /// groups.
    pub groups: FxHashMap<u32, Arc<[u32]>>,
    /// Distinct call sites of calling contexts: file and line.
    pub sites: Vec<(String, u32)>,
    /// By position in `definitions.calling_contexts`: position in `sites`, or [`NO_SITE`].
    pub site_of_context: Vec<u32>,
    /// Ticks of the analysis in one of the archive's.
    pub fineness: Ticks,
    /// Whether definitions have numbers of events of locations: a writer that does not know them puts 0
    /// everywhere.
    has_event_counts: bool,
    has_sides: bool,
    has_sessions: bool,
    /// The attributes of events that the walk reads, if the trace has any.
    pub attributes: Option<KnownAttributes>,
}

/// A process of the traced program with its locations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Process {
    /// Its rank in MPI_COMM_WORLD, if it has one.
    pub rank: Option<u32>,
    /// Its locations: positions in [`Trace::locations`]. The first is the main thread.
    pub locations: Range<usize>,
}

/// A location of the traced program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    /// Position in the archive's definitions.
    pub definition: usize,
    /// The reference that names its files.
    pub reference: u64,
    /// Position in [`Trace::processes`].
    pub process: usize,
    /// Its number in its location group: for threads the number in the team (see [`places`]); other locations
    /// follow.
    pub thread: u32,
    /// Its kind.
    pub kind: LocationType,
}

impl Location {
    /// Whether it is a thread of a program, which works and waits; neither a stream of an accelerator nor a
    /// metric.
    pub fn is_thread(&self) -> bool {
        self.kind == LocationType::CPU_THREAD
    }
}

/// The kind of a region.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RegionKind {
    /// An MPI call, whose operations are analysed.
    pub is_mpi: bool,
    /// `MPI_Init` or `MPI_Init_thread`.
    pub is_init: bool,
    /// `MPI_Finalize`.
    pub is_finalize: bool,
    /// An OpenMP parallel region.
    pub is_parallel: bool,
    /// A barrier of OpenMP.
    pub barrier: Option<BarrierClass>,
    /// The class of lock, if a lock is acquired in it.
    pub lock: Option<LockClass>,
    /// Waits until there is a message, and what it waits for is analysed.
    pub is_probe: bool,
    /// How it looks for something without waiting for it, if it does.
    pub polling: Option<Polling>,
    /// A collective operation among neighbours.
    pub is_neighborhood: bool,
    /// The first half of a collective transfer of a file (`MPI_File_write_all_begin`).
    pub begins_transfer: bool,
    /// What it does with epochs of a window, if its records do not say that.
    pub window_call: Option<WindowCall>,
    /// `MPI_Comm_disconnect`.
    pub is_disconnect: bool,
    /// Connects the process to others that may be outside of the trace.
    pub connects: bool,
    /// How it completes messages.
    pub completion: Completion,
    /// Whether it takes time for more than communication: it makes or frees something, or accesses a file.
    pub has_own_work: bool,
    /// Whether it completes messages and may go on for no other reason than that the other process is outside of MPI.
    pub may_stall: bool,
    /// Whether MPI moves on in it what other processes wait for; in reference semantics nobody asks.
    pub makes_progress: bool,
    /// The coverage of a call in which no operation was recorded.
    pub fate: Fate,
}

/// What a call does with epochs of a window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowCall {
    /// `MPI_Win_start`: begins an access epoch.
    Start,
    /// `MPI_Win_complete`: ends it.
    Complete,
    /// `MPI_Win_post`: begins an exposure epoch.
    Post,
    /// `MPI_Win_wait`: ends it.
    Wait,
    /// `MPI_Win_test`: ends it, if all origins have completed theirs.
    Test,
    /// `MPI_Win_flush` and its relatives: completes accesses.
    Flush,
}

impl WindowCall {
    /// Of the function with this plain name.
    fn of(name: &str) -> Option<WindowCall> {
        match name {
            "win_start" => Some(WindowCall::Start),
            "win_complete" => Some(WindowCall::Complete),
            "win_post" => Some(WindowCall::Post),
            "win_wait" => Some(WindowCall::Wait),
            "win_test" => Some(WindowCall::Test),
            _ if name.starts_with("win_flush") => Some(WindowCall::Flush),
            _ => None,
        }
    }
}

/// How a call looks for something without waiting for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Polling {
    /// `MPI_Test`, `MPI_Testall`: whether all requests are complete.
    All,
    /// `MPI_Testany`, `MPI_Testsome`: whether one is.
    Any,
    /// `MPI_Iprobe`, `MPI_Improbe`: whether there is a message.
    Probe,
}

impl Polling {
    /// Of the function with this plain name.
    fn of(name: &str) -> Option<Polling> {
        match name {
            "test" | "testall" => Some(Polling::All),
            "testany" | "testsome" => Some(Polling::Any),
            "iprobe" | "improbe" => Some(Polling::Probe),
            _ => None,
        }
    }
}

impl RegionKind {
    /// Whether entering or leaving it means more than time in a call, be it of MPI or not.
    #[inline]
    pub fn is_special(&self) -> bool {
        self.is_init
            | self.is_finalize
            | self.connects
            | self.is_parallel
            | self.barrier.is_some()
            | self.is_probe
            | self.polling.is_some()
            | matches!(self.window_call, Some(WindowCall::Flush | WindowCall::Wait))
    }
}

/// Regions that no archive defines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Artificial {
    /// The root above several programs, or where the trace does not name its program.
    Program,
    /// The recorder was switched off.
    MeasurementOff,
    /// The recorder wrote out its buffer.
    BufferFlush,
    /// The root above threads that no parallel region started.
    Threads,
    /// The root above accelerator streams.
    Kernels,
    /// The root above tasks, in the reference.
    Tasks,
}

/// The most calls shown at each end of a path's name. Recursion may be so deep that all names would fill a
/// book.
const NAMED: usize = 32;

/// The most bytes of a region's name in the name of a path.
const LONGEST_NAME: usize = 200;

const ARTIFICIAL: [(&str, RegionRole); 6] = [
    ("PROGRAM", RegionRole::ARTIFICIAL),
    ("MEASUREMENT OFF", RegionRole::ARTIFICIAL),
    ("TRACE BUFFER FLUSH", RegionRole::ARTIFICIAL),
    ("THREADS", RegionRole::ARTIFICIAL),
    ("KERNELS", RegionRole::ARTIFICIAL),
    ("TASKS", RegionRole::ARTIFICIAL),
];

impl Trace {
    /// Converts the definitions of an archive.
    ///
    /// # Errors
    /// If definitions contradict each other: a rank that no location has, a communicator without its
    /// processes.
    pub fn new(mut definitions: Definitions, semantics: Semantics) -> Result<Trace, Error> {
        definitions.regions.iter_mut().for_each(|region| unify_mpi(region, semantics));
        let attributes = KnownAttributes::find(&definitions);
        let context = Context { semantics, attributes, has_windows: !definitions.windows.is_empty() };
        let kinds = definitions.regions.iter().map(|region| kind(region, context)).collect();
        let artificial = ARTIFICIAL.map(|(name, role)| Region {
            name: name.into(),
            canonical_name: name.into(),
            role,
            paradigm: Paradigm::MEASUREMENT_SYSTEM,
            ..Region::default()
        });
        let ranks = world(&definitions);
        let places = match semantics.numbers_threads_by_team() {
            true => places(&definitions, &ranks),
            false => vec![NO_PLACE; definitions.locations.len()],
        };
        let (processes, locations, process_of_group) = order(&definitions, &ranks, &places);
        let may_reach_out = semantics.replays_all_of_mpi();
        let mut communicators = participants(&definitions, &process_of_group, may_reach_out)?;
        let (sites, site_of_context) = sites(&definitions, semantics);
        let has_event_counts = definitions.locations.iter().any(|location| location.events > 0);
        let tells_neighbors = attributes.is_some_and(|known| known.tells_neighbors());
        let groups = match tells_neighbors || !definitions.windows.is_empty() {
            true => groups(&definitions, &process_of_group),
            false => FxHashMap::default(),
        };
        let has_sessions = semantics.replays_all_of_mpi()
            && definitions.regions.iter().any(|region| mpi::plain(&region.name) == "session_init");
        let has_sides = communicators.iter().any(|it| matches!(it, Participants::Sides(..)));
        let of_windows = definitions.windows.iter().map(|window| communicators[window.communicator].clone());
        let of_handles = definitions.file_handles.iter().map(|handle| match handle.communicator {
            Some(communicator) => communicators[communicator].clone(),
            None => Participants::NotMpi,
        });
        let others: Vec<Participants> = of_windows.chain(of_handles).collect();
        communicators.extend(others);
        Ok(Trace {
            definitions,
            semantics,
            processes,
            locations,
            artificial: artificial.into(),
            kinds,
            has_sides,
            has_sessions,
            communicators,
            groups,
            sites,
            site_of_context,
            fineness: 1,
            has_event_counts,
            attributes,
        })
    }

    /// Returns the number of the window at a position among the sets of processes.
    pub fn window(&self, position: usize) -> u32 {
        to_u32(self.definitions.communicators.len() + position)
    }

    /// Returns the number of the file handle at a position among the sets of processes.
    pub fn file_handle(&self, position: usize) -> u32 {
        to_u32(self.definitions.communicators.len() + self.definitions.windows.len() + position)
    }

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

    /// Whether there are inter-communicators.
    pub fn has_sides(&self) -> bool {
        self.has_sides
    }

    /// Whether the program starts MPI by sessions: then `MPI_Init` and `MPI_Finalize` need not wait for anybody, as MPI may have
    /// been started before, and go on behind (rest of MPI 10).
    pub fn has_sessions(&self) -> bool {
        self.has_sessions
    }

    /// Whether the definitions say that a location has no events.
    pub fn has_no_events(&self, location: &Location) -> bool {
        self.has_event_counts && self.definitions.locations[location.definition].events == 0
    }

    /// Returns a length of time in ticks of the archive, in which users see its times.
    pub fn recorded(&self, ticks: Ticks) -> Ticks {
        ticks / self.fineness
    }

    /// Returns the length of the trace in ticks of the analysis.
    pub fn length(&self) -> u64 {
        self.definitions.clock.length.saturating_mul(self.fineness.cast_unsigned())
    }

    /// Makes ticks of the analysis finer than those of the archive.
    pub fn refine_clock(&mut self, fineness: u32) {
        let resolution = &mut self.definitions.clock.resolution;
        *resolution = resolution.saturating_mul(fineness.into());
        self.fineness = fineness.into();
    }

    /// Returns the shortest rest of a call without a known reason for which that is looked for, in ticks (rest of MPI 6.5).
    pub fn shortest_rest(&self) -> Ticks {
        const SECONDS: f64 = 20e-6;
        truncated(SECONDS * self.definitions.clock.resolution as f64).max(1)
    }

    /// Returns the longest time from one sample of a thread to the next while it computes, in ticks;
    /// [`Ticks::MAX`] if that is not known. Timers of processor time expire at a tick of the system's
    /// scheduler, and these may be 10 ms apart.
    pub fn longest_gap(&self) -> Ticks {
        const SCHEDULER: f64 = 0.01;
        let periods = self.definitions.interrupt_generators.iter().map(InterruptGenerator::seconds);
        let longest = periods.map(|period| period.unwrap_or(f64::INFINITY)).fold(0.0, f64::max);
        match longest > 0.0 {
            true => truncated((2.0 * longest + SCHEDULER) * self.definitions.clock.resolution as f64),
            false => Ticks::MAX,
        }
    }

    /// Returns the properties of the region at a position; all programs have those of
    /// [`Artificial::Program`].
    pub fn region(&self, position: u32) -> &Region {
        let position =
            if self.is_program(position) { self.artificial(Artificial::Program) } else { position };
        self.defined_or_artificial(position)
    }

    /// Returns the name of the region at a position; for a program the last part of its path.
    pub fn region_name(&self, position: u32) -> &str {
        if self.is_program(position) {
            let name = position as usize - self.region_count();
            return base_name(&self.definitions.strings[name]);
        }
        &self.defined_or_artificial(position).name
    }

    fn defined_or_artificial(&self, position: u32) -> &Region {
        let position = position as usize;
        let defined = &self.definitions.regions;
        defined.get(position).unwrap_or_else(|| &self.artificial[position - defined.len()])
    }

    /// Returns the number of positions of regions that are not programs.
    pub fn region_count(&self) -> usize {
        self.kinds.len() + self.artificial.len()
    }

    /// Returns the position of an artificial region.
    pub fn artificial(&self, region: Artificial) -> u32 {
        to_u32(self.kinds.len() + region as usize)
    }

    /// Returns the position that stands for the program named by a string: two paths with the same last part
    /// are one program. Searches all strings.
    pub fn program(&self, name: usize) -> u32 {
        let wanted = base_name(&self.definitions.strings[name]);
        let strings = &self.definitions.strings;
        let first = strings.iter().position(|string| base_name(string) == wanted).unwrap_or(name);
        to_u32(self.region_count() + first)
    }

    /// Whether the region at a position stands for a program.
    pub fn is_program(&self, region: u32) -> bool {
        region as usize >= self.region_count()
    }

    /// Whether the region at a position belongs to MPI.
    pub fn is_mpi(&self, region: u32) -> bool {
        self.kinds.get(region as usize).is_some_and(|kind| kind.is_mpi)
    }

    /// Whether the region at a position is time that the recorder used for itself.
    pub fn is_of_recorder(&self, region: u32) -> bool {
        region == self.artificial(Artificial::BufferFlush)
    }

    /// Whether the region at a position is a function of a runtime library of a language or the system.
    /// Recordings of `replay-record` have the library of a function in the description of its region.
    pub fn is_of_runtime_library(&self, region: u32) -> bool {
        let region = self.definitions.regions.get(region as usize);
        region.is_some_and(|region| {
            region.paradigm == Paradigm::SAMPLING && is_runtime_library(&region.description)
        })
    }

    /// Returns the number of processes that MPI counts.
    pub fn world_size(&self) -> usize {
        self.processes.iter().filter(|process| process.rank.is_some()).count()
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

    /// Returns the name of a location for messages: `rank 3`, or `rank 3 thread 1`.
    pub fn location_name(&self, location: usize) -> String {
        let location = &self.locations[location];
        let name = match self.processes[location.process].rank {
            Some(rank) => format!("rank {rank}"),
            None => format!("process {}", location.process),
        };
        match (location.kind, location.thread) {
            (LocationType::CPU_THREAD, 0) => name,
            (LocationType::CPU_THREAD, thread) => format!("{name} thread {thread}"),
            _ => format!("{name} location {}", location.reference),
        }
    }
}

/// Whether a file, by its name, is a library that programs get from their language or the system: the C
/// library and the kernel's shared page, mathematics, threads, and the libraries of C++, Fortran and OpenMP.
fn is_runtime_library(file: &str) -> bool {
    const LIBRARIES: [&str; 16] = [
        "[vdso]",
        "linux-vdso",
        "ld-linux",
        "ld-musl",
        "libc",
        "libm",
        "libmvec",
        "libpthread",
        "librt",
        "libdl",
        "libgcc_s",
        "libstdc++",
        "libgfortran",
        "libquadmath",
        "libgomp",
        "libatomic",
    ];
    LIBRARIES.iter().any(|library| {
        let rest = file.strip_prefix(library);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-']))
    })
}

/// Returns the last part of a path.
fn base_name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}

/// Makes paradigm and source file agree on MPI: patterns use the file, and classes of time the paradigm.
fn unify_mpi(region: &mut Region, semantics: Semantics) {
    let either = region.source_file == "MPI" || region.paradigm == Paradigm::MPI;
    if either && semantics.unifies_mpi() {
        region.source_file = "MPI".into();
        region.paradigm = Paradigm::MPI;
    }
}

fn barrier_class(region: &Region) -> Option<BarrierClass> {
    match (region.paradigm, region.role) {
        (Paradigm::OPENMP, RegionRole::BARRIER) => Some(BarrierClass::Explicit),
        (Paradigm::OPENMP, RegionRole::IMPLICIT_BARRIER) => Some(BarrierClass::Implicit),
        _ => None,
    }
}

/// Returns the class of lock of a region. Metrics of OpenMP are for regions of OpenMP only
/// (specification 3.3), where everything but critical sections counts as the lock API (specification 11.3).
fn lock_class(region: &Region) -> Option<LockClass> {
    match (region.paradigm, region.role) {
        (Paradigm::OPENMP, RegionRole::CRITICAL | RegionRole::CRITICAL_SBLOCK) => Some(LockClass::Critical),
        (Paradigm::OPENMP, _) => Some(LockClass::OpenMp),
        (Paradigm::PTHREAD, _) => match region.name.strip_prefix("pthread_")? {
            "mutex_lock" | "mutex_trylock" => Some(LockClass::Mutex),
            name if name.starts_with("cond_") => Some(LockClass::Condition),
            _ => None,
        },
        _ => None,
    }
}

/// What the kinds of regions depend on, besides their properties.
#[derive(Clone, Copy, Debug)]
struct Context {
    semantics: Semantics,
    attributes: Option<KnownAttributes>,
    /// Whether one-sided communication has records.
    has_windows: bool,
}

fn kind(region: &Region, context: Context) -> RegionKind {
    let Context { semantics, .. } = context;
    // Where paradigm and role do not decide, the names given by instrumenters do, as in the reference.
    let is_openmp = region.paradigm == Paradigm::OPENMP || region.source_file == "OMP";
    let is_parallel =
        (is_openmp && region.role == RegionRole::PARALLEL) || region.name.starts_with("!$omp parallel");
    if region.source_file != "MPI" {
        let (barrier, lock) = (barrier_class(region), lock_class(region));
        return RegionKind { is_parallel, barrier, lock, ..RegionKind::default() };
    }
    let name = if region.canonical_name.is_empty() { &region.name } else { &region.canonical_name };
    let name = mpi::plain(name);
    let class = mpi::class_of_plain(&name);
    RegionKind {
        is_mpi: true,
        is_init: class == Class::Init,
        is_finalize: class == Class::Finalize,
        is_parallel,
        barrier: None,
        lock: None,
        has_own_work: has_own_work(class),
        may_stall: completes_messages(&name, class) && semantics.replays_all_of_mpi(),
        makes_progress: mpi::makes_progress(&name) && semantics.replays_all_of_mpi(),
        is_probe: class == Class::Probe && semantics.replays_all_of_mpi(),
        polling: Polling::of(&name).filter(|_| semantics.replays_all_of_mpi()),
        is_neighborhood: name.starts_with("neighbor_") || name.starts_with("ineighbor_"),
        begins_transfer: name.starts_with("file_") && name.ends_with("_begin"),
        window_call: WindowCall::of(&name).filter(|_| semantics.replays_all_of_mpi()),
        is_disconnect: name == "comm_disconnect",
        connects: connects(&name) && semantics.replays_all_of_mpi(),
        fate: match semantics.replays_all_of_mpi() {
            true => fate_beyond_reference(&name, (region.role, class), context),
            false => None,
        }
        .unwrap_or_else(|| fate(region.role, &name, class)),
        completion: match class {
            Class::BlockingSend => Completion::BlockingSend,
            Class::WaitOne => Completion::WaitOne,
            Class::WaitMany => Completion::WaitMany,
            Class::Test => Completion::Test,
            Class::SendReceive if semantics.replays_all_of_mpi() => Completion::SendReceive,
            _ if name.starts_with("file_") && name.ends_with("_end") => Completion::SplitTransfer,
            _ => Completion::Other,
        },
    }
}

/// Whether a function sends or receives messages, or completes requests, and does not return before (MPI 4.1, 3.4 and 3.7).
fn completes_messages(name: &str, class: Class) -> bool {
    matches!(class, Class::BlockingSend | Class::SendReceive | Class::WaitOne | Class::WaitMany)
        || matches!(name, "recv" | "recv_c" | "mrecv" | "mrecv_c")
}

/// Returns the fate of the time of an MPI call that recorded no operation: calls that cannot wait for others
/// count as analysed. Names of functions on windows start with `win_`, on files with `file_`, including those
/// of future functions (MPI 4.0, 2.2).
fn fate(role: RegionRole, name: &str, class: Class) -> Fate {
    match (role, class) {
        (RegionRole::RMA, _) => Fate::OneSided,
        _ if name.starts_with("win_") => Fate::OneSided,
        (RegionRole::FILE_IO | RegionRole::FILE_IO_METADATA, _) => Fate::FileAccess,
        _ if name.starts_with("file_") => Fate::FileAccess,
        (
            RegionRole::BARRIER
            | RegionRole::COLL_ONE2ALL
            | RegionRole::COLL_ALL2ONE
            | RegionRole::COLL_ALL2ALL
            | RegionRole::COLL_OTHER,
            _,
        ) => Fate::OtherCollective,
        (_, Class::Probe) => Fate::Probe,
        (_, Class::CommunicatorTogether) => Fate::OtherCollective,
        // Score-P gives accumulate and its relatives OTF2's role for atomic operations.
        (RegionRole::ATOMIC, _) => Fate::OneSided,
        _ => Fate::Analysed,
    }
}

/// The same for calls of which the reference replays nothing; `None` for others.
fn fate_beyond_reference(name: &str, (role, class): (RegionRole, Class), context: Context) -> Option<Fate> {
    let Context { attributes, has_windows, .. } = context;
    let is_persistent = (name.ends_with("_init") || name.ends_with("_init_c"))
        && COLLECTIVES.iter().any(|it| name.starts_with(it));
    match class {
        Class::Probe => Some(Fate::Analysed),
        _ if has_windows && fate(role, name, class) == Fate::OneSided => Some(Fate::Analysed),
        _ if name.starts_with("file_") && is_of_one_process(name, class) => Some(Fate::Analysed),
        _ if connects(name) => Some(Fate::OutsideProcesses),
        // To initialize them may block by the standard, but the trace says nothing of that (rest of MPI 7.1).
        _ if is_persistent && attributes.is_some_and(|known| known.tells_persistent_operations()) => {
            Some(Fate::Analysed)
        }
        _ if is_persistent => Some(Fate::PersistentCollective),
        _ if name.starts_with("neighbor_") || name.starts_with("ineighbor_") => Some(Fate::Neighborhood),
        _ => None,
    }
}

/// Whether a function takes time for more than communication.
fn has_own_work(class: Class) -> bool {
    matches!(
        class,
        Class::CommunicatorAlone
            | Class::CommunicatorTogether
            | Class::Window
            | Class::FileAlone
            | Class::FileTogether
            | Class::FileRead
            | Class::FileWrite
            | Class::FileReadTogether
            | Class::FileWriteTogether
    )
}

/// Whether a function connects the process to others that may be outside of the trace (MPI 4.1, 11.8 and 11.9).
fn connects(name: &str) -> bool {
    ["comm_spawn", "comm_accept", "comm_connect", "comm_join"].iter().any(|it| name.starts_with(it))
}

/// Whether a process calls a function on a file by itself, and the function returns when it is done: nobody else can hold it up
/// (MPI 4.1, 14.4). Processes take turns with shared pointers.
fn is_of_one_process(name: &str, class: Class) -> bool {
    let is_started = name.starts_with("file_iread") || name.starts_with("file_iwrite");
    match class {
        Class::FileRead | Class::FileWrite => !is_started && !name.contains("_shared"),
        _ => name.starts_with("file_get_") || name == "file_seek" || name == "file_delete",
    }
}

/// Beginnings of the names of collective operations that can be persistent (MPI 4.1, section 6.13).
const COLLECTIVES: [&str; 10] = [
    "allgather",
    "allreduce",
    "alltoall",
    "barrier",
    "bcast",
    "exscan",
    "gather",
    "neighbor_",
    "reduce",
    "sca",
];

/// Sorts location groups by (rank of the process, accelerators after their process, definition), and
/// locations by (group, place in teams, main thread first, reference). `process_of_group` is by definition.
fn order(
    definitions: &Definitions,
    ranks: &World,
    places: &[u32],
) -> (Vec<Process>, Vec<Location>, Vec<u32>) {
    let groups = &definitions.location_groups;
    // An accelerator context belongs to its creator, which is a process; a creator of the creator is ignored.
    let owner = |group: usize| match &groups[group] {
        g if g.kind == LocationGroupType::ACCELERATOR => g.creator.unwrap_or(group),
        _ => group,
    };
    let mut order: Vec<usize> = (0..groups.len()).collect();
    let rank = |group: usize| ranks.rank_of_group.get(&group).copied();
    order.sort_by_key(|&group| {
        let owner = owner(group);
        (rank(owner).is_none(), rank(owner), owner, owner != group, group)
    });
    let mut locations_of: Vec<Vec<usize>> = vec![Vec::new(); groups.len()];
    for (at, location) in definitions.locations.iter().enumerate() {
        locations_of[location.group].push(at);
    }
    let mut processes: Vec<Process> = Vec::new();
    let mut locations: Vec<Location> = Vec::new();
    let mut process_of_group = vec![u32::MAX; groups.len()];
    let mut last_owner = None;
    for group in order {
        let owner = owner(group);
        if last_owner != Some(owner) {
            let start = locations.len();
            processes.push(Process { rank: rank(owner), locations: start..start });
            last_owner = Some(owner);
        }
        let process = processes.len() - 1;
        process_of_group[group] = to_u32(process);
        let members = &mut locations_of[group];
        members.sort_by_key(|&at| {
            let reference = definitions.locations.reference(at);
            let kind = definitions.locations[at].kind;
            let is_main = ranks.main_threads.contains_key(&reference);
            (kind != LocationType::CPU_THREAD, places[at], !is_main, reference)
        });
        // Threads without a place get the following numbers, and so do other locations.
        let mut next = 0;
        for &definition in members.iter() {
            let thread = if places[definition] == NO_PLACE { next } else { places[definition] };
            next = thread + 1;
            locations.push(Location {
                definition,
                reference: definitions.locations.reference(definition),
                process,
                thread,
                kind: definitions.locations[definition].kind,
            });
        }
        processes[process].locations.end = locations.len();
    }
    (processes, locations, process_of_group)
}

/// Returns the distinct call sites, and the site of each calling context.
fn sites(definitions: &Definitions, semantics: Semantics) -> (Vec<(String, u32)>, Vec<u32>) {
    if !semantics.tells_call_sites_apart() {
        return (Vec::new(), vec![NO_SITE; definitions.calling_contexts.len()]);
    }
    let mut sites: Vec<(String, u32)> = Vec::new();
    let mut known: FxHashMap<(&str, u32), u32> = FxHashMap::default();
    let of_context = definitions
        .calling_contexts
        .iter()
        .map(|context| match &context.source {
            None => NO_SITE,
            Some((file, line)) => *known.entry((file, *line)).or_insert_with(|| {
                sites.push((file.clone(), *line));
                to_u32(sites.len() - 1)
            }),
        })
        .collect();
    (sites, of_context)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use model::{CallingContext, Communicator, Group, GroupType, Members};

    /// Makes definitions of processes with one thread each: rank r is location `references[r]`, in a group of
    /// its own. The communicators are the world, and every process by itself.
    pub(crate) fn world(references: &[u64]) -> Definitions {
        let mut definitions = Definitions::default();
        for &reference in references {
            let group = definitions.location_groups.len();
            let kind = LocationGroupType::PROCESS;
            let new = model::LocationGroup { name: String::new(), kind, parent: None, creator: None };
            definitions.location_groups.push(reference, new).unwrap();
            add_location(&mut definitions, reference, group, LocationType::CPU_THREAD);
        }
        let group = |kind, members: Vec<u64>| Group {
            name: String::new(),
            kind,
            paradigm: Paradigm::MPI,
            flags: 0,
            members,
        };
        let ranks = (0..references.len() as u64).collect();
        for (at, new) in [
            group(GroupType::COMM_LOCATIONS, references.to_vec()),
            group(GroupType::COMM_GROUP, ranks),
            group(GroupType::COMM_SELF, Vec::new()),
        ]
        .into_iter()
        .enumerate()
        {
            definitions.groups.push(at as u64, new).unwrap();
        }
        for (at, group) in [1, 2].into_iter().enumerate() {
            let members = Members::Group(group);
            let new = Communicator { name: String::new(), members, parent: None };
            definitions.communicators.push(at as u64, new).unwrap();
        }
        definitions
    }

    pub(crate) fn add_location(
        definitions: &mut Definitions,
        reference: u64,
        group: usize,
        kind: LocationType,
    ) {
        let new = model::Location { name: String::new(), kind, events: 0, group };
        definitions.locations.push(reference, new).unwrap();
    }

    fn references(definitions: Definitions) -> Vec<u64> {
        let trace = Trace::new(definitions, Semantics::Corrected).unwrap();
        trace.locations.iter().map(|location| location.reference).collect()
    }

    #[test]
    fn locations_are_ordered_by_rank_then_thread_whatever_their_references() {
        let mut definitions = world(&[7, 3]);
        add_location(&mut definitions, 1, 0, LocationType::CPU_THREAD);
        add_location(&mut definitions, 2, 1, LocationType::METRIC);
        assert_eq!(references(definitions), [7, 1, 3, 2]);
    }

    #[test]
    fn threads_have_the_numbers_of_their_places_in_teams_and_others_follow() {
        let mut definitions = world(&[7]);
        for (reference, kind) in [(1, LocationType::METRIC), (2, LocationType::CPU_THREAD)] {
            add_location(&mut definitions, reference, 0, kind);
        }
        (3..6).for_each(|it| add_location(&mut definitions, it, 0, LocationType::CPU_THREAD));
        let members =
            [(GroupType::COMM_LOCATIONS, vec![2, 3, 4, 5, 7]), (GroupType::COMM_GROUP, vec![4, 3, 9, 1])];
        for (at, (kind, members)) in (3..).zip(members) {
            let (name, paradigm, flags) = (String::new(), Paradigm::OPENMP, 0);
            definitions.groups.push(at, Group { name, kind, paradigm, flags, members }).unwrap();
        }
        let members = Members::Group(4);
        definitions
            .communicators
            .push(2, Communicator { name: String::new(), members, parent: None })
            .unwrap();
        let numbers = |semantics| -> Vec<(u64, u32)> {
            let trace = Trace::new(definitions.clone(), semantics).unwrap();
            trace.locations.iter().map(|location| (location.reference, location.thread)).collect()
        };
        assert_eq!(numbers(Semantics::Corrected), [(7, 0), (5, 1), (3, 3), (2, 4), (4, 5), (1, 6)]);
        assert_eq!(numbers(Semantics::Reference), [(7, 0), (2, 1), (3, 2), (4, 3), (5, 4), (1, 5)]);
    }

    #[test]
    fn accelerator_stands_behind_the_process_that_made_it() {
        let mut definitions = world(&[1, 2]);
        let kind = LocationGroupType::ACCELERATOR;
        let new = model::LocationGroup { name: String::new(), kind, parent: None, creator: Some(0) };
        definitions.location_groups.push(9, new).unwrap();
        add_location(&mut definitions, 9, 2, LocationType::ACCELERATOR_STREAM);
        let trace = Trace::new(definitions, Semantics::Corrected).unwrap();
        assert_eq!(
            trace.locations.iter().map(|l| (l.reference, l.process)).collect::<Vec<_>>(),
            [(1, 0), (9, 0), (2, 1)]
        );
        assert_eq!(trace.world_size(), 2);
    }

    #[test]
    fn rank_that_no_location_has_is_of_a_process_outside_of_the_trace() {
        let mut definitions = world(&[1, 2]);
        definitions.groups.get_mut(1).unwrap().members = vec![0, 5];
        let trace = Trace::new(definitions.clone(), Semantics::Corrected).unwrap();
        assert_eq!(trace.communicators[0], Participants::Outside);
        let error = Trace::new(definitions, Semantics::Reference).unwrap_err().to_string();
        assert!(error.contains("rank 5, expected less than 2"), "{error}");
    }

    #[test]
    fn region_is_of_mpi_by_paradigm_or_file_unless_the_reference_is_followed() {
        let region = Region { name: "MPI_Wait".into(), paradigm: Paradigm::MPI, ..Region::default() };
        let is_mpi = |semantics| {
            let mut region = Region { canonical_name: region.name.clone(), ..region.clone() };
            unify_mpi(&mut region, semantics);
            kind(&region, Context { semantics, attributes: None, has_windows: false }).is_mpi
        };
        assert!(is_mpi(Semantics::Corrected));
        assert!(!is_mpi(Semantics::Reference));
    }

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

    #[test]
    fn two_paths_to_one_program_are_one_region() {
        let mut definitions = world(&[1]);
        for (at, name) in ["/a/app", "/b/app", "/a/other"].into_iter().enumerate() {
            definitions.strings.push(at as u64, name.into()).unwrap();
        }
        let trace = Trace::new(definitions, Semantics::Corrected).unwrap();
        assert_eq!(trace.program(1), trace.program(0));
        assert_ne!(trace.program(2), trace.program(0));
        assert_eq!(trace.region_name(trace.program(1)), "app");
    }
}
