//! Writes the definitions of an archive with complete event files, and the anchor last.
//!
//! Conventions are Score-P's wherever it has some: numbers of locations, names of processes, templates for
//! names of communicators, paradigms, groups without names.

use super::clock::TraceClock;
use super::communicators::{LocalNumbers, Numbers, SharedObjects};
use super::contexts::{Contexts, NO_CONTEXT};
use super::counters;
use super::energy::{self, Energy};
use super::files::{FileAccess, Files};
use super::members;
use super::off_cpu;
use super::strings::Strings;
use super::teams::Teams;
use crate::Error;
use model::recording::{LOST, UNFINISHED};
use model::{GroupType, LocationGroupType, LocationType, Paradigm, RegionRole};
use otf2::{
    Anchor, ArchiveWriter, Definition, IdMap, IdPair, List, MappingType, Timestamp, UNDEFINED, Value,
    ValueType,
};
use recording::attributes::ATTRIBUTES;
use recording::counters::CLASS;
use recording::journal::{CounterDefinition, ThreadUsage, WasOpen};
use recording::layout;
use std::collections::HashSet;
use std::path::Path;

/// OTF2's `CommFlag` and `RmaWinFlag` for communicators and windows with events of their creation and
/// destruction.
const CREATE_DESTROY_EVENTS: u32 = 1;

/// OTF2's `RegionFlag` of phases.
const PHASE: u32 = 2;

/// The definition of a location.
#[derive(Clone, Debug)]
pub(crate) struct LocationDefinition {
    pub(crate) reference: u64,
    pub(crate) name: String,
    pub(crate) events: u64,
    /// Whether its events tell when the thread was off the processor.
    pub(crate) has_switches: bool,
    /// Whether its events have values of counters.
    pub(crate) has_counters: bool,
    /// What the thread has used of the machine, if that is known.
    pub(crate) usage: Option<ThreadUsage>,
    /// What is lost of its events.
    pub(crate) lost: Option<String>,
    /// Why its process has no end.
    pub(crate) unfinished: Option<String>,
}

/// The contents of the definitions.
#[derive(Debug)]
pub(crate) struct Content<'a> {
    pub(crate) anchor: Anchor,
    pub(crate) clock: &'a TraceClock,
    /// Names of the hosts, and the position of the host of each rank that is known to have one.
    pub(crate) hosts: &'a [String],
    pub(crate) host_of: &'a [Option<u32>],
    /// The energy that the run has taken, by host.
    pub(crate) energy: &'a [Option<Energy>],
    /// The counters of threads, in the order of values.
    pub(crate) counters: &'a [CounterDefinition],
    pub(crate) locations: &'a [LocationDefinition],
    /// Position of the process of each location, if it left a journal.
    pub(crate) process_of: &'a [Option<usize>],
    /// Program and arguments by process.
    pub(crate) programs: &'a [Vec<String>],
    /// Further strings that events refer to, by process.
    pub(crate) texts: &'a [Vec<String>],
    pub(crate) shared: &'a SharedObjects,
    pub(crate) contexts: &'a Contexts,
    /// Whether events refer to calling contexts.
    pub(crate) has_contexts: bool,
    /// Samples for a second of a thread's processor time.
    pub(crate) sample: u32,
}

/// Writes the archive's definitions and its anchor.
///
/// # Errors
/// If the disk refuses, or a number is too large for the format.
pub(crate) fn write(directory: &Path, mut content: Content<'_>) -> Result<(), Error> {
    // The largest record must fit into a chunk: a table with a number for each path of a thread, or a group.
    let strings =
        content.programs.iter().zip(content.texts).map(|(program, texts)| program.len() + texts.len());
    let lists = content.contexts.of.iter().map(Vec::len).chain(strings);
    let longest = lists.max().unwrap_or(0).max(content.host_of.len());
    let least = (longest as u64 * 5 + 1024).next_power_of_two();
    content.anchor.definition_chunk_size = least.clamp(*otf2::CHUNK_SIZES.start(), *otf2::CHUNK_SIZES.end());
    let mut archive = ArchiveWriter::complete(directory.join(layout::ANCHOR), content.anchor.clone())?;
    let mut strings = Strings::default();
    let mut records = Vec::new();
    define(&content, &mut strings, &mut DefinitionList { list: &mut records });
    let numbers: Vec<Vec<u64>> = content
        .programs
        .iter()
        .zip(content.texts)
        .map(|(program, texts)| program.iter().chain(texts).map(|text| strings.number(text).into()).collect())
        .collect();
    let classes = Numbers::from([(CLASS, counters::class(content.locations))]);
    let metrics = sparse_table(MappingType::Metric, &classes);
    for (at, (location, process)) in content.locations.iter().zip(content.process_of).enumerate() {
        let mut local = archive.local_definitions(location.reference)?;
        if let Some(process) = *process {
            let contexts: &[u32] = if content.has_contexts { &content.contexts.of[at] } else { &[] };
            for table in tables(&numbers[process], &content.shared.of[process], contexts) {
                local.write(table.definition())?;
            }
            if let Some(table) = metrics.as_ref().filter(|_| location.has_counters) {
                local.write(table.definition())?;
            }
            for at in &content.clock.offsets[process] {
                local.write(Definition::ClockOffset {
                    time: Timestamp(at.time),
                    offset: at.offset,
                    standard_deviation: at.deviation,
                })?;
            }
        }
        local.finish()?;
    }
    let clock = content.clock;
    archive.define(Definition::ClockProperties {
        timer_resolution: clock.resolution,
        global_offset: clock.begin,
        trace_length: clock.length,
        realtime_timestamp: clock.realtime,
    })?;
    for (reference, string) in (0..).zip(strings.iter()) {
        // No string of OTF2 can hold a NUL; neither can a name that the system knows.
        let string: Vec<u8> = string.bytes().filter(|&byte| byte != 0).collect();
        archive.define(Definition::String { reference, string: &string })?;
    }
    for record in &records {
        archive.define(record.definition())?;
    }
    Ok(archive.finish()?)
}

/// A definition that owns its lists.
#[derive(Debug)]
enum OwnedDefinition {
    Plain(Definition<'static>),
    Group { reference: u32, name: u32, members: Vec<u64>, kind: GroupType, paradigm: Paradigm },
    Topology { reference: u32, communicator: u32, name: u32, dimensions: Vec<u32> },
    Coordinate { topology: u32, rank: u32, coordinates: Vec<u32> },
}

impl OwnedDefinition {
    fn definition(&self) -> Definition<'_> {
        match self {
            OwnedDefinition::Plain(definition) => *definition,
            OwnedDefinition::Group { reference, name, members, kind, paradigm } => Definition::Group {
                reference: *reference,
                name: *name,
                members: List::from(&members[..]),
                group_type: *kind,
                paradigm: *paradigm,
                group_flags: 0,
            },
            OwnedDefinition::Topology { reference, communicator, name, dimensions } => {
                Definition::CartTopology {
                    reference: *reference,
                    name: *name,
                    communicator: *communicator,
                    cart_dimensions: List::from(&dimensions[..]),
                }
            }
            OwnedDefinition::Coordinate { topology, rank, coordinates } => Definition::CartCoordinate {
                cart_topology: *topology,
                rank: *rank,
                coordinates: List::from(&coordinates[..]),
            },
        }
    }
}

/// Definitions in the order in which they are written.
pub(super) struct DefinitionList<'a> {
    list: &'a mut Vec<OwnedDefinition>,
}

impl DefinitionList<'_> {
    pub(super) fn add(&mut self, definition: Definition<'static>) {
        self.list.push(OwnedDefinition::Plain(definition));
    }
}

/// Adds all definitions but the clock and the strings, each behind those that it refers to.
fn define(content: &Content<'_>, strings: &mut Strings, records: &mut DefinitionList<'_>) {
    // String 0 is empty: the name of what has none.
    strings.number("");
    let has_teams = !content.shared.teams.teams.is_empty();
    paradigms(has_teams, strings, records);
    system_tree(content, strings, records);
    locations(content, strings, records);
    regions(content, strings, records);
    groups(content, strings, records);
    communicators(content.shared, strings, records);
    topologies(content.shared, strings, records);
    files(content, strings, records);
    attributes(strings, records);
    off_cpu::define(content.locations, strings, records);
    counters::define(content.counters, content.locations, strings, records);
    if content.has_contexts {
        contexts(content.contexts, content.sample, strings, records);
    }
}

fn paradigms(has_teams: bool, strings: &mut Strings, records: &mut DefinitionList<'_>) {
    const PROCESS: u8 = 0;
    const THREAD_FORK_JOIN: u8 = 1;
    const COMMUNICATORS: u8 = 0;
    const WINDOWS: u8 = 1;
    let mpi = (Paradigm::MPI, "MPI", PROCESS, &[(COMMUNICATORS, "Comm ${id}"), (WINDOWS, "Win ${id}")][..]);
    let openmp = (Paradigm::OPENMP, "OpenMP", THREAD_FORK_JOIN, &[(COMMUNICATORS, "Thread team ${id}")][..]);
    for (paradigm, name, paradigm_class, templates) in std::iter::once(mpi).chain(has_teams.then_some(openmp))
    {
        records.add(Definition::Paradigm { paradigm, name: strings.number(name), paradigm_class });
        for &(property, template) in templates {
            let value = Value::string(strings.number(template));
            records.add(Definition::ParadigmProperty { paradigm, property, value });
        }
    }
}

fn system_tree(content: &Content<'_>, strings: &mut Strings, records: &mut DefinitionList<'_>) {
    const MACHINE: u8 = 0;
    const SHARED_MEMORY: u8 = 1;
    let nodes = content.hosts.iter().map(|host| (host.as_str(), "node", 0, SHARED_MEMORY));
    let machine = std::iter::once(("Linux", "machine", UNDEFINED, MACHINE));
    for (reference, (name, class, parent, domain)) in (0..).zip(machine.chain(nodes)) {
        let (name, class_name) = (strings.number(name), strings.number(class));
        records.add(Definition::SystemTreeNode { reference, name, class_name, parent });
        records.add(Definition::SystemTreeNodeDomain {
            system_tree_node: reference,
            system_tree_domain: domain,
        });
    }
    energy::define(content.energy, strings, records);
}

/// The reference of the node of the system tree that stands for the machine.
const MACHINE_NODE: u32 = 0;

/// Returns the reference of the node of the system tree that stands for a host, by its position.
pub(super) fn node_of_host(host: u32) -> u32 {
    MACHINE_NODE + 1 + host
}

fn locations(content: &Content<'_>, strings: &mut Strings, records: &mut DefinitionList<'_>) {
    for (rank, host) in (0..).zip(content.host_of) {
        records.add(Definition::LocationGroup {
            reference: rank,
            name: strings.number(&format!("MPI Rank {rank}")),
            location_group_type: LocationGroupType::PROCESS,
            system_tree_parent: host.map_or(MACHINE_NODE, node_of_host),
            creating_location_group: UNDEFINED,
        });
    }
    for location in content.locations {
        records.add(Definition::Location {
            reference: location.reference,
            name: strings.number(&location.name),
            location_type: LocationType::CPU_THREAD,
            number_of_events: location.events,
            location_group: layout::rank_and_thread(location.reference).0,
        });
        for (name, text) in [(LOST, &location.lost), (UNFINISHED, &location.unfinished)] {
            if let Some(text) = text {
                let (name, value) = (strings.number(name), Value::string(strings.number(text)));
                records.add(Definition::LocationProperty { location: location.reference, name, value });
            }
        }
    }
}

fn regions(content: &Content<'_>, strings: &mut Strings, records: &mut DefinitionList<'_>) {
    for (reference, region) in (0..).zip(&content.contexts.regions) {
        records.add(Definition::Region {
            reference,
            name: strings.number(&region.name),
            description: strings.number(&region.library),
            source_file: region.file.as_ref().map_or(UNDEFINED, |file| strings.number(file)),
            begin_line_number: region.begin_line,
            end_line_number: 0,
            canonical_name: strings.number(&region.canonical_name),
            region_role: region.role,
            paradigm: region.paradigm,
            region_flags: if region.is_phase { PHASE } else { 0 },
        });
    }
    programs(content, strings, records);
}

/// Adds a region for each program with its arguments, as Score-P does: Scalasca looks it up by its canonical
/// name at `ProgramBegin`. No event enters it.
fn programs(content: &Content<'_>, strings: &mut Strings, records: &mut DefinitionList<'_>) {
    let mut known = HashSet::new();
    let first = content.contexts.regions.len() as u32;
    for program in content.programs {
        let command = program.join(" ");
        let name = program.first().map_or("", |path| path.rsplit('/').next().unwrap_or(path));
        if !known.insert(command.clone()) {
            continue;
        }
        records.add(Definition::Region {
            reference: first + known.len() as u32 - 1,
            name: strings.number(name),
            description: 0,
            source_file: UNDEFINED,
            begin_line_number: 0,
            end_line_number: 0,
            canonical_name: strings.number(&command),
            region_role: RegionRole::ARTIFICIAL,
            paradigm: Paradigm::MEASUREMENT_SYSTEM,
            region_flags: 0,
        });
    }
}

fn groups(content: &Content<'_>, strings: &mut Strings, records: &mut DefinitionList<'_>) {
    // The first thread of each process stands for its rank; its number is the rank.
    let everybody = (0..content.host_of.len() as u64).collect();
    let mut add = |reference, name, members, kind, paradigm| {
        records.list.push(OwnedDefinition::Group { reference, name, members, kind, paradigm });
    };
    add(members::LOCATIONS, 0, everybody, GroupType::COMM_LOCATIONS, Paradigm::MPI);
    add(members::SELF, 0, Vec::new(), GroupType::COMM_SELF, Paradigm::MPI);
    for (reference, ranks) in content.shared.groups.iter() {
        let ranks = ranks.iter().map(|&rank| rank.into()).collect();
        add(reference, 0, ranks, GroupType::COMM_GROUP, Paradigm::MPI);
    }
    let Teams { everybody, locations, teams } = &content.shared.teams;
    if teams.is_empty() {
        return;
    }
    let name = strings.number("OpenMP");
    add(*everybody, name, locations.clone(), GroupType::COMM_LOCATIONS, Paradigm::OPENMP);
    for team in teams {
        add(team.group, 0, team.members.clone(), GroupType::COMM_GROUP, Paradigm::OPENMP);
    }
}

fn communicators(shared: &SharedObjects, strings: &mut Strings, records: &mut DefinitionList<'_>) {
    let flags = CREATE_DESTROY_EVENTS;
    for (reference, communicator) in (0..).zip(&shared.communicators) {
        let name = strings.number(&communicator.name);
        let (group, parent) = (communicator.group, communicator.parent.unwrap_or(UNDEFINED));
        records.add(match communicator.other {
            None => Definition::Comm { reference, name, group, parent, flags },
            Some(group_b) => Definition::InterComm {
                reference,
                name,
                group_a: group,
                group_b,
                common_communicator: parent,
                flags,
            },
        });
    }
    for team in &shared.teams.teams {
        let (reference, group) = (team.communicator, team.group);
        records.add(Definition::Comm { reference, name: 0, group, parent: UNDEFINED, flags: 0 });
    }
    for (reference, window) in (0..).zip(&shared.windows) {
        let name = strings.number(&window.name);
        records.add(Definition::RmaWin { reference, name, comm: window.communicator, flags });
    }
}

fn topologies(shared: &SharedObjects, strings: &mut Strings, records: &mut DefinitionList<'_>) {
    let mut next = 0;
    for (reference, topology) in (0..).zip(&shared.topologies) {
        let mut dimensions = Vec::new();
        for &(size, is_periodic) in &topology.dimensions {
            let cart_periodicity = is_periodic.into();
            records.add(Definition::CartDimension { reference: next, name: 0, size, cart_periodicity });
            dimensions.push(next);
            next += 1;
        }
        let (communicator, name) = (topology.communicator, strings.number("MPI topology"));
        records.list.push(OwnedDefinition::Topology { reference, communicator, name, dimensions });
        for (&rank, coordinates) in &topology.places {
            let coordinates = coordinates.clone();
            records.list.push(OwnedDefinition::Coordinate { topology: reference, rank, coordinates });
        }
    }
}

/// The references of the paradigms of file access, in events as well.
const MPI_IO: u8 = 0;
const POSIX: u8 = 1;
const ISO_C: u8 = 2;

fn files(content: &Content<'_>, strings: &mut Strings, records: &mut DefinitionList<'_>) {
    let files = &content.shared.files;
    if files.list.is_empty() && files.handles.is_empty() {
        return;
    }
    io_paradigms(files, strings, records);
    for (reference, file) in (0..).zip(&files.list) {
        let name = strings.number(&file.path);
        let host = file.host.as_ref().and_then(|host| content.hosts.iter().position(|known| known == host));
        let scope = host.map_or(UNDEFINED, |host| node_of_host(host as u32));
        records.add(match file.is_directory {
            true => Definition::IoDirectory { reference, name, scope },
            false => Definition::IoRegularFile { reference, name, scope },
        });
        for (name, value) in &file.properties {
            records.add(Definition::IoFileProperty {
                io_file: reference,
                name: strings.number(name),
                value: Value::string(strings.number(value)),
            });
        }
    }
    for (reference, handle) in (0..).zip(&files.handles) {
        /// OTF2's `IoHandleFlag` of a handle of what was open already, and of one that stands for all files.
        const PRE_CREATED: u32 = 1;
        const ALL_PROXY: u32 = 2;
        let flag = |is_set: bool, flag: u32| if is_set { flag } else { 0 };
        records.add(Definition::IoHandle {
            reference,
            name: 0,
            file: handle.file.unwrap_or(UNDEFINED),
            io_paradigm: match handle.access {
                FileAccess::Mpi(_) => MPI_IO,
                FileAccess::Posix => POSIX,
                FileAccess::IsoC => ISO_C,
            },
            io_handle_flags: flag(handle.was_open.is_some(), PRE_CREATED)
                | flag(handle.file.is_none(), ALL_PROXY),
            comm: match handle.access {
                FileAccess::Mpi(communicator) => communicator,
                FileAccess::Posix | FileAccess::IsoC => UNDEFINED,
            },
            parent: handle.parent.unwrap_or(UNDEFINED),
        });
        if let Some(WasOpen { mode, status }) = handle.was_open {
            records.add(Definition::IoPreCreatedHandleState {
                io_handle: reference,
                mode,
                status_flags: status,
            });
        }
    }
}

fn io_paradigms(files: &Files, strings: &mut Strings, records: &mut DefinitionList<'_>) {
    const SERIAL: u8 = 0;
    const PARALLEL: u8 = 1;
    /// OTF2's flag of what the operating system provides.
    const OS: u32 = 1;
    let mut paradigm = |reference, identification, name, io_paradigm_class, io_paradigm_flags| {
        records.add(Definition::IoParadigm {
            reference,
            identification: strings.number(identification),
            name: strings.number(name),
            io_paradigm_class,
            io_paradigm_flags,
            properties: List::EMPTY,
        });
    };
    // Files that MPI has deleted only have its paradigm, too.
    paradigm(MPI_IO, "MPI-IO", "MPI I/O", PARALLEL, 0);
    if files.has_posix {
        paradigm(POSIX, "POSIX", "POSIX I/O", SERIAL, OS);
    }
    if files.handles.iter().any(|handle| handle.access == FileAccess::IsoC) {
        paradigm(ISO_C, "ISOC", "ISO C I/O", SERIAL, 0);
    }
}

fn attributes(strings: &mut Strings, records: &mut DefinitionList<'_>) {
    for (reference, attribute) in (0..).zip(ATTRIBUTES) {
        records.add(Definition::Attribute {
            reference,
            name: strings.number(attribute.name),
            value_type: ValueType(attribute.kind),
            description: strings.number(attribute.description),
        });
    }
}

fn contexts(contexts: &Contexts, sample: u32, strings: &mut Strings, records: &mut DefinitionList<'_>) {
    for (reference, (file, line_number)) in (0..).zip(&contexts.lines) {
        let file = strings.number(file);
        records.add(Definition::SourceCodeLocation { reference, file, line_number: *line_number });
    }
    for (reference, context) in (0..).zip(&contexts.nodes) {
        records.add(Definition::CallingContext {
            reference,
            region: context.region,
            source_code_location: context.line.unwrap_or(UNDEFINED),
            parent: context.parent.unwrap_or(UNDEFINED),
        });
    }
    if contexts.has_samples {
        const TIME: u8 = 0;
        const DECIMAL: u8 = 1;
        records.add(Definition::InterruptGenerator {
            reference: 0,
            name: strings.number("sampling"),
            interrupt_generator_mode: TIME,
            base: DECIMAL,
            exponent: -9,
            period: 1_000_000_000 / u64::from(sample.max(1)),
        });
    }
}

/// A mapping table.
struct MappingTable {
    kind: MappingType,
    pairs: Vec<IdPair>,
    dense: Vec<u64>,
}

impl MappingTable {
    fn definition(&self) -> Definition<'_> {
        let id_map = match self.pairs.is_empty() {
            true => IdMap::Dense(List::from(&self.dense[..])),
            false => IdMap::Sparse(List::from(&self.pairs[..])),
        };
        Definition::MappingTable { mapping_type: self.kind.code(), id_map }
    }
}

/// Returns the mapping tables of a location: those that are not the identity, as in Score-P.
fn tables(texts: &[u64], known: &LocalNumbers, contexts: &[u32]) -> Vec<MappingTable> {
    let mut tables = Vec::new();
    let contexts = contexts.iter().map(|&number| if number == NO_CONTEXT { u64::MAX } else { number.into() });
    for (kind, dense) in
        [(MappingType::String, texts.to_vec()), (MappingType::CallingContext, contexts.collect())]
    {
        if (0..).zip(&dense).any(|(local, &global)| local != global) {
            tables.push(MappingTable { kind, pairs: Vec::new(), dense });
        }
    }
    let sparse = [
        (MappingType::Comm, &known.communicators),
        (MappingType::Group, &known.groups),
        (MappingType::RmaWin, &known.windows),
        (MappingType::IoHandle, &known.handles),
        (MappingType::IoFile, &known.files),
    ];
    for (kind, numbers) in sparse {
        tables.extend(sparse_table(kind, numbers));
    }
    tables
}

fn sparse_table(kind: MappingType, numbers: &Numbers) -> Option<MappingTable> {
    if numbers.iter().all(|(local, global)| local == global) {
        return None;
    }
    // Without gaps a dense table is shorter.
    let is_dense = (0..).zip(numbers.keys()).all(|(at, &local)| at == local);
    let (mut pairs, mut dense) = (Vec::new(), Vec::new());
    for (&local, &global) in numbers {
        if is_dense {
            dense.push(global.into());
        } else {
            pairs.push(IdPair { local: local.into(), global: global.into() });
        }
    }
    Some(MappingTable { kind, pairs, dense })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tables_that_change_something_are_written() {
        let known = LocalNumbers {
            communicators: Numbers::from([(0, 0), (1, 1), (2, 5)]),
            groups: Numbers::from([(3, 3)]),
            windows: Numbers::from([(1, 0)]),
            handles: Numbers::new(),
            files: Numbers::new(),
        };
        let written = tables(&[0, 1], &known, &[0, 1, 4]);
        let kinds: Vec<_> =
            written.iter().map(|table| (table.kind, table.pairs.len(), table.dense.len())).collect();
        let expected =
            [(MappingType::CallingContext, 0, 3), (MappingType::Comm, 0, 3), (MappingType::RmaWin, 1, 0)];
        assert_eq!(kinds, expected);
    }
}
