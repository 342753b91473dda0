//! The definitions of a trace in the form that the analysis needs: processes, locations, regions,
//! communicators.
//!
//! Everything is numbered once, and on all workers alike: processes by rank, locations by (rank, thread),
//! which is also their order in the report.

mod accelerators;
mod artificial;
mod crowding;
mod events;
mod kinds;
mod names;
mod order;
mod usage;

use std::ops::Range;
use std::sync::Arc;

use model::mpi;
use model::{Definitions, InterruptGenerator, LocationType, Paradigm, Region, Ticks};
use rustc_hash::FxHashMap;

pub use self::accelerators::{AcceleratorPart, Accelerators, streams_of};
pub use self::artificial::Artificial;
pub use self::crowding::Crowding;
pub use self::events::{EventPart, EventRole, Partner, WantedEvents};
use self::kinds::{Context, kind, unify_mpi};
pub use self::kinds::{RegionKind, WindowCall};
use self::order::order;
use crate::call_tree::NO_SITE;
use crate::communicators::{Participants, groups, participants, world};
use crate::error::Error;
use crate::int::{to_u32, truncated};
use crate::options::Semantics;
use crate::thread_numbers::{NO_PLACE, places};
use crate::walk::{KnownAttributes, KnownCounters, KnownSwitches, ReportedCounters, ReportedStates};

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
    /// The counters of processors that the walk reads, if the trace has any.
    pub counters: Option<KnownCounters>,
    /// The counters that the report has, if the trace has any.
    pub reported_counters: Option<ReportedCounters>,
    /// The states that the report has, if the trace has any.
    pub reported_states: Option<ReportedStates>,
    /// Where events tell when threads were off the processor, if they do.
    pub switches: Option<KnownSwitches>,
    /// Streams of accelerators, if there are any and the reference is not followed.
    pub accelerators: Option<Accelerators>,
    /// Call paths whose visits are windows of efficiencies: names in a row with slashes between them, the last of which is that of
    /// the region that is visited.
    pub phase_paths: Vec<String>,
    /// The events that rules are over.
    pub events: WantedEvents,
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

/// The names of a region: its own, that for linkers, and its own without the parameters of its function.
fn names_of(region: &Region) -> [&str; 3] {
    let short = region.name.split('(').next().unwrap_or_default();
    [&region.name, &region.canonical_name, short]
}

/// Whether a region has this name, which may lack the parameters of its function.
pub fn is_named(region: &Region, name: &str) -> bool {
    names_of(region).contains(&name)
}

impl Trace {
    /// Converts the definitions of an archive.
    ///
    /// # Errors
    /// If definitions contradict each other: a rank that no location has, a communicator without its
    /// processes.
    pub fn new(mut definitions: Definitions, semantics: Semantics) -> Result<Trace, Error> {
        definitions.regions.iter_mut().for_each(|region| unify_mpi(region, semantics));
        let attributes = KnownAttributes::find(&definitions, false);
        let counters = KnownCounters::find(&definitions);
        let switches = KnownSwitches::find(&definitions);
        let reported_counters =
            ReportedCounters::find(&definitions).filter(|_| semantics.replays_all_of_mpi());
        let reported_states = ReportedStates::find(&definitions).filter(|_| semantics.replays_all_of_mpi());
        let context = Context { semantics, attributes, has_windows: !definitions.windows.is_empty() };
        let mut kinds: Vec<RegionKind> =
            definitions.regions.iter().map(|region| kind(region, context)).collect();
        let ranks = world(&definitions);
        let places = match semantics.numbers_threads_by_team() {
            true => places(&definitions, &ranks),
            false => vec![NO_PLACE; definitions.locations.len()],
        };
        let (processes, locations, process_of_group) = order(&definitions, &ranks, &places);
        let accelerators =
            Accelerators::find(&definitions, &locations).filter(|_| semantics.analyzes_accelerators());
        if accelerators.is_some() {
            for (region, kind) in definitions.regions.iter().zip(&mut kinds) {
                kind.accelerator = AcceleratorPart::of(region);
            }
        }
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
            artificial: artificial::regions(),
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
            counters,
            reported_counters,
            reported_states,
            switches,
            accelerators,
            phase_paths: Vec::new(),
            events: WantedEvents::default(),
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

    /// Returns the number of events of all locations; `None` if the definitions do not say.
    pub fn events(&self) -> Option<u64> {
        let all = self.definitions.locations.iter().map(|location| location.events);
        self.has_event_counts.then(|| all.fold(0, u64::saturating_add))
    }

    /// Returns a length of time in ticks of the archive, in which users see its times.
    pub fn recorded(&self, ticks: Ticks) -> Ticks {
        ticks / self.fineness
    }

    /// Returns the length of the trace in ticks of the analysis.
    pub fn length(&self) -> u64 {
        self.definitions.clock.length.saturating_mul(self.fineness.cast_unsigned())
    }

    /// Makes visits of the regions of these names phases, by the places of the names; a name may lack the parameters of its function.
    pub fn mark_phases(&mut self, names: &[String]) {
        let mut places: FxHashMap<&str, usize> = FxHashMap::default();
        for (place, name) in names.iter().enumerate() {
            places.entry(name).or_insert(place);
        }
        for (region, kind) in self.definitions.regions.iter().zip(&mut self.kinds) {
            let phase = names_of(region).into_iter().filter_map(|name| places.get(name).copied()).min();
            kind.phase = phase.and_then(|phase| u16::try_from(phase).ok());
        }
    }

    /// Makes visits of these call paths windows of efficiencies.
    pub fn mark_phase_paths(&mut self, paths: &[String]) {
        paths.clone_into(&mut self.phase_paths);
        for at in 0..self.kinds.len() {
            let name = format!("/{}/", self.region_name(to_u32(at)));
            let paths = self.phase_paths.iter().map(|path| format!("/{path}/"));
            // A name may have slashes, too.
            self.kinds[at].ends_phase_path =
                paths.into_iter().any(|path| path.ends_with(&name) || name.ends_with(&path));
        }
    }

    /// Whether each visit of the regions of a name is recorded. Where calling contexts are, a function may be left and entered again
    /// between two of these, and nobody has seen it; but regions that the program names are entered and left.
    pub fn has_visits(&self, name: &str) -> bool {
        let Definitions { regions, calling_contexts, .. } = &self.definitions;
        let mut named = regions.iter().filter(|region| is_named(region, name));
        calling_contexts.is_empty() || named.all(|region| region.paradigm == Paradigm::USER)
    }

    /// Regions of the program, for an example in a message.
    pub fn some_regions(&self) -> String {
        let regions = self.definitions.regions.iter().zip(&self.kinds);
        let names = regions.filter(|(_, kind)| !kind.is_mpi).map(|(region, _)| &*region.name);
        let names: Vec<&str> = names.take(6).collect();
        if names.is_empty() {
            String::new()
        } else {
            format!("; the trace has {} and others", names.join(", "))
        }
    }

    /// Reads attributes of file access, too.
    pub fn read_files(&mut self) {
        self.attributes = KnownAttributes::find(&self.definitions, true);
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
    use model::{Communicator, Group, GroupType, LocationGroupType, Members};

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
        let new = model::Location {
            name: String::new(),
            kind,
            events: 0,
            group,
            resident_bytes: None,
            cores: None,
            lost: None,
            unfinished: None,
        };
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
