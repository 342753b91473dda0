//! Writer of a trace as an OTF2 archive, with the definitions that Score-P writes.

use std::collections::HashMap;
use std::path::Path;

use model::{GroupType, LocationGroupType, LocationType, MeasurementMode, Paradigm, attributes};
use otf2::{
    Anchor, ArchiveWriter, Attribute, ByteOrder, Definition, Event, IdMap, List, MappingType, MetricValue,
    ROOT_NONE, Timestamp, UNDEFINED, Value, ValueType,
};

use super::regions::properties;
use super::trace::{Members, Message, Step, Stream, StreamKind, Trace};

const WORLD: u32 = 0;
const SELF: u32 = 1;
/// The team of rank 0; those of other ranks follow the communicators of the script.
const TEAM: u32 = 2;

/// Attributes of events, with references from 7 on; those of gaps are defined together, in traces that use one of them, the
/// others only if they are used.
const ATTRIBUTES: [&str; 11] = [
    attributes::UNRECORDED,
    attributes::POSTED,
    attributes::DISORDERED,
    attributes::COUNTED,
    attributes::PROBE_SOURCE,
    attributes::PROBE_TAG,
    attributes::PROBE_COMM,
    attributes::NEIGHBORS_IN,
    attributes::NEIGHBORS_OUT,
    attributes::PERSISTENT_OPERATION,
    attributes::PARTITIONED,
];
const GAPS: std::ops::Range<usize> = 0..4;
const FIRST_ATTRIBUTE: u32 = 7;

/// An event with its time and its attributes.
type Written = (u64, Event<'static>, Vec<Attribute>);

/// The anchor of archives that tests write.
pub(crate) fn anchor(big_endian: bool) -> Anchor {
    let byte_order = if big_endian { ByteOrder::Big } else { ByteOrder::Little };
    Anchor { byte_order, creator: "test".into(), ..Anchor::default() }
}

/// Writes the archive `directory/traces.otf2`.
pub(crate) fn write(trace: &Trace, directory: &Path) {
    let mut archive = ArchiveWriter::create(directory.join("traces.otf2"), anchor(trace.big_endian)).unwrap();
    let mut names = Names::default();
    names.collect(trace);
    let streams: Vec<Vec<Written>> = trace.streams.iter().map(|stream| names.events(trace, stream)).collect();

    let length = streams.iter().flatten().map(|event| event.0).max().unwrap_or(0);
    define(
        &mut archive,
        Definition::ClockProperties {
            timer_resolution: trace.resolution,
            global_offset: trace.offset,
            trace_length: length.saturating_sub(trace.offset),
            realtime_timestamp: u64::MAX,
        },
    );
    names.define(&mut archive, trace, &streams);
    for (stream, events) in trace.streams.iter().zip(&streams) {
        let mut writer = archive.events(stream.reference()).unwrap();
        for (time, event, attributes) in events {
            writer.write(*time, *event, attributes.as_slice().into()).unwrap();
        }
        writer.finish().unwrap();
        names.define_locally(&archive, trace, stream);
    }
    archive.finish().unwrap();
    for stream in &trace.streams {
        let path = directory.join(format!("traces/{}.evt", stream.reference()));
        if stream.missing {
            std::fs::remove_file(&path).unwrap();
        } else if stream.cut > 0 {
            let bytes = std::fs::read(&path).unwrap();
            std::fs::write(&path, &bytes[..bytes.len() - stream.cut as usize]).unwrap();
        }
    }
}

fn define(archive: &mut ArchiveWriter, definition: Definition<'_>) {
    archive.define(definition).unwrap();
}

/// References of the definitions, by name.
#[derive(Default)]
struct Names {
    strings: Vec<String>,
    string_of: HashMap<String, u32>,
    regions: Vec<String>,
    region_of: HashMap<String, u32>,
    communicators: HashMap<String, u32>,
    contexts: HashMap<String, u32>,
}

impl Names {
    fn string(&mut self, text: &str) -> u32 {
        if let Some(&known) = self.string_of.get(text) {
            return known;
        }
        let number = self.strings.len() as u32;
        self.strings.push(text.into());
        self.string_of.insert(text.into(), number);
        number
    }

    fn region(&mut self, name: &str) -> u32 {
        if let Some(&known) = self.region_of.get(name) {
            return known;
        }
        let number = self.regions.len() as u32;
        self.regions.push(name.into());
        self.region_of.insert(name.into(), number);
        number
    }

    /// Assigns references to everything that the trace names.
    fn collect(&mut self, trace: &Trace) {
        self.string("");
        self.communicators.extend([("world".into(), WORLD), ("self".into(), SELF)]);
        for (at, (name, _)) in trace.communicators.iter().enumerate() {
            self.communicators.insert(name.clone(), TEAM + 1 + at as u32);
        }
        for (at, context) in trace.contexts.iter().enumerate() {
            self.contexts.insert(context.name.clone(), at as u32);
            self.region(&context.region);
        }
        for stream in &trace.streams {
            for (_, step) in &stream.events {
                match step {
                    Step::Enter(name) | Step::LeaveRegion(name) => _ = self.region(name),
                    Step::WithAttributes(_, used) => {
                        let is_of_gap = |name: &str| ATTRIBUTES[GAPS].contains(&name);
                        let with_gaps = used.iter().any(|(name, _)| is_of_gap(name));
                        let names = ATTRIBUTES.iter().filter(|name| {
                            with_gaps && is_of_gap(name) || used.iter().any(|(used, _)| used == *name)
                        });
                        names.for_each(|name| _ = self.string(name));
                    }
                    _ => {}
                }
            }
            if let Some(program) = stream.program.as_ref().or(trace.program.as_ref()) {
                self.string(program);
            }
        }
        for name in self.regions.clone() {
            self.string(&name);
            let file = trace.regions.get(&name).cloned().unwrap_or_else(|| properties(&name)).file;
            self.string(&file);
        }
        for text in ["machine", "node", "master thread", "worker thread", "stream", "values", "PAPI", "#"] {
            self.string(text);
        }
        for rank in 0..processes(trace) {
            self.string(&format!("MPI Rank {rank}"));
        }
        for (name, _) in &trace.communicators {
            self.string(name);
        }
        self.string("prog.c");
    }

    fn define(&self, archive: &mut ArchiveWriter, trace: &Trace, streams: &[Vec<Written>]) {
        for (reference, string) in self.strings.iter().enumerate() {
            define(archive, Definition::String { reference: reference as u32, string: string.as_bytes() });
        }
        let string = |text: &str| self.string_of[text];
        let node = |reference, name, class_name, parent| Definition::SystemTreeNode {
            reference,
            name: string(name),
            class_name: string(class_name),
            parent,
        };
        define(archive, node(0, "machine", "machine", UNDEFINED));
        define(archive, node(1, "node", "node", 0));
        for rank in 0..processes(trace) {
            define(
                archive,
                Definition::LocationGroup {
                    reference: rank,
                    name: string(&format!("MPI Rank {rank}")),
                    location_group_type: LocationGroupType::PROCESS,
                    system_tree_parent: 1,
                    creating_location_group: UNDEFINED,
                },
            );
        }
        for (reference, name) in (FIRST_ATTRIBUTE..).zip(ATTRIBUTES) {
            if let Some(&name) = self.string_of.get(name) {
                let value_type = kind(self.strings[name as usize].as_str());
                let description = UNDEFINED;
                define(archive, Definition::Attribute { reference, name, value_type, description });
            }
        }
        self.define_locations(archive, trace, streams);
        self.define_regions(archive, trace);
        self.define_communicators(archive, trace);
    }

    fn define_locations(&self, archive: &mut ArchiveWriter, trace: &Trace, streams: &[Vec<Written>]) {
        let mut groups = processes(trace);
        for (stream, events) in trace.streams.iter().zip(streams) {
            let mut group = stream.rank;
            if stream.kind == StreamKind::Accelerator {
                define(
                    archive,
                    Definition::LocationGroup {
                        reference: groups,
                        name: self.string_of["stream"],
                        location_group_type: LocationGroupType::ACCELERATOR,
                        system_tree_parent: 1,
                        creating_location_group: stream.rank,
                    },
                );
                group = groups;
                groups += 1;
            }
            let (name, location_type) = match (stream.kind, stream.thread) {
                (StreamKind::Thread, 0) => ("master thread", LocationType::CPU_THREAD),
                (StreamKind::Thread, _) => ("worker thread", LocationType::CPU_THREAD),
                (StreamKind::Accelerator, _) => ("stream", LocationType::ACCELERATOR_STREAM),
                (StreamKind::Metric, _) => ("values", LocationType::METRIC),
            };
            define(
                archive,
                Definition::Location {
                    reference: stream.reference(),
                    name: self.string_of[name],
                    location_type,
                    number_of_events: if trace.uncounted { 0 } else { events.len() as u64 },
                    location_group: group,
                },
            );
        }
        define(
            archive,
            Definition::MetricMember {
                reference: 0,
                name: self.string_of["PAPI"],
                description: 0,
                metric_type: 0,
                metric_mode: 0,
                value_type: ValueType::UINT64,
                base: 1,
                exponent: 0,
                unit: self.string_of["#"],
            },
        );
        define(
            archive,
            Definition::MetricClass {
                reference: 0,
                metric_members: [0].as_slice().into(),
                metric_occurrence: 1,
                recorder_kind: 1,
            },
        );
    }

    fn define_regions(&self, archive: &mut ArchiveWriter, trace: &Trace) {
        for (reference, name) in self.regions.iter().enumerate() {
            let is = trace.regions.get(name).cloned().unwrap_or_else(|| properties(name));
            define(
                archive,
                Definition::Region {
                    reference: reference as u32,
                    name: self.string_of[name],
                    description: 0,
                    source_file: self.string_of[&is.file],
                    begin_line_number: 0,
                    end_line_number: 0,
                    canonical_name: self.string_of[name],
                    region_role: is.role,
                    paradigm: is.paradigm,
                    region_flags: 0,
                },
            );
        }
        for (reference, context) in trace.contexts.iter().enumerate() {
            let source = context.line.map_or(UNDEFINED, |line_number| {
                let file = self.string_of["prog.c"];
                define(
                    archive,
                    Definition::SourceCodeLocation { reference: reference as u32, file, line_number },
                );
                reference as u32
            });
            define(
                archive,
                Definition::CallingContext {
                    reference: reference as u32,
                    region: self.region_of[&context.region],
                    source_code_location: source,
                    parent: context.parent.as_ref().map_or(UNDEFINED, |parent| self.contexts[parent]),
                },
            );
        }
        define(
            archive,
            Definition::InterruptGenerator {
                reference: 0,
                name: self.string_of["PAPI"],
                interrupt_generator_mode: 0,
                base: 1,
                exponent: -9,
                period: 1000,
            },
        );
    }

    fn define_communicators(&self, archive: &mut ArchiveWriter, trace: &Trace) {
        let mut groups = 0;
        let mut group = |archive: &mut ArchiveWriter, group_type, paradigm, members: &[u64]| {
            define(
                archive,
                Definition::Group {
                    reference: groups,
                    name: 0,
                    members: members.into(),
                    group_type,
                    paradigm,
                    group_flags: 0,
                },
            );
            groups += 1;
            groups - 1
        };
        let ranks: Vec<u64> = (0..processes(trace)).map(u64::from).collect();
        let mut threads: Vec<&Stream> =
            trace.streams.iter().filter(|s| s.kind == StreamKind::Thread).collect();
        threads.sort_by_key(|stream| (stream.rank, stream.reference()));
        let references: Vec<u64> = threads.iter().map(|stream| stream.reference()).collect();
        group(archive, GroupType::COMM_LOCATIONS, Paradigm::MPI, &ranks);
        let world = group(archive, GroupType::COMM_GROUP, Paradigm::MPI, &ranks);
        let alone = group(archive, GroupType::COMM_SELF, Paradigm::MPI, &[]);
        group(archive, GroupType::COMM_LOCATIONS, Paradigm::OPENMP, &references);
        // The members of a team are in the order of their thread numbers.
        let mut numbers: Vec<(u32, u32, u64)> =
            (0..).zip(&threads).map(|(at, stream)| (stream.rank, stream.thread, at)).collect();
        numbers.sort_unstable();
        let mut teams = Vec::new();
        for team in numbers.chunk_by(|a, b| a.0 == b.0) {
            let members: Vec<u64> = team.iter().map(|member| member.2).collect();
            teams.push((team[0].0, group(archive, GroupType::COMM_GROUP, Paradigm::OPENMP, &members)));
        }
        let comm =
            |reference, group, parent| Definition::Comm { reference, name: 0, group, parent, flags: 0 };
        define(archive, comm(WORLD, world, UNDEFINED));
        define(archive, comm(SELF, alone, UNDEFINED));
        let (first, others): (Vec<_>, Vec<_>) = teams.into_iter().partition(|team| team.0 == 0);
        let define_teams = |archive: &mut ArchiveWriter, teams: Vec<(u32, u32)>| {
            for (rank, group) in teams {
                define(archive, comm(team_of(trace, rank), group, UNDEFINED));
            }
        };
        define_teams(archive, first);
        for (name, members) in &trace.communicators {
            let reference = self.communicators[name];
            let mut side = |ranks: &[u64]| group(archive, GroupType::COMM_GROUP, Paradigm::MPI, ranks);
            let definition = match members {
                Members::Ranks(ranks) => comm(reference, side(ranks), WORLD),
                Members::Sides(a, b) => Definition::InterComm {
                    reference,
                    name: self.string_of[name],
                    group_a: side(a),
                    group_b: side(b),
                    common_communicator: WORLD,
                    flags: 0,
                },
            };
            define(archive, definition);
        }
        define_teams(archive, others);
    }

    /// Writes the mapping tables and clock offsets of a location.
    fn define_locally(&self, archive: &ArchiveWriter, trace: &Trace, stream: &Stream) {
        let mut local = archive.local_definitions(stream.reference()).unwrap();
        if stream.mapped {
            for (kind, count) in self.mapped(trace) {
                let globals: Vec<u64> = (0..count).rev().map(u64::from).collect();
                let id_map = IdMap::Dense(globals.as_slice().into());
                let mapping_type = kind.code();
                local.write(Definition::MappingTable { mapping_type, id_map }).unwrap();
            }
        }
        for &(time, offset) in &stream.clock {
            let time = Timestamp(trace.offset + time);
            local.write(Definition::ClockOffset { time, offset, standard_deviation: 0.0 }).unwrap();
        }
        local.finish().unwrap();
    }

    /// The kinds of references that a mapped stream numbers backwards, with the number of definitions.
    fn mapped(&self, trace: &Trace) -> Vec<(MappingType, u32)> {
        let communicators =
            team_of(trace, processes(trace).max(1) - 1).max(TEAM + trace.communicators.len() as u32) + 1;
        [
            (MappingType::String, self.strings.len() as u32),
            (MappingType::Region, self.regions.len() as u32),
            (MappingType::Comm, communicators),
            (MappingType::CallingContext, trace.contexts.len() as u32),
        ]
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .collect()
    }

    /// The events of a stream with references for names, within the events of the program.
    fn events(&self, trace: &Trace, stream: &Stream) -> Vec<Written> {
        let mapped = self.mapped(trace);
        let local = |kind: MappingType, global: u32| match mapped.iter().find(|it| it.0 == kind) {
            Some((_, count)) if stream.mapped && global < *count => count - 1 - global,
            _ => global,
        };
        let region = |name: &str| local(MappingType::Region, self.region_of[name]);
        let comm = |name: &str| {
            let team = (name == "team").then(|| team_of(trace, stream.rank));
            let known = team.or_else(|| self.communicators.get(name).copied());
            local(MappingType::Comm, known.unwrap_or_else(|| panic!("no communicator {name:?}")))
        };
        let context = |name: &str| {
            let known = self.contexts.get(name);
            local(MappingType::CallingContext, *known.unwrap_or_else(|| panic!("no context {name:?}")))
        };
        let mut stack: Vec<&str> = Vec::new();
        let mut events = Vec::new();
        let is_main = stream.kind == StreamKind::Thread && stream.thread == 0;
        let program = stream.program.as_ref().or(trace.program.as_ref()).filter(|_| is_main);
        let times = stream.events.first().zip(stream.events.last()).map(|(a, b)| (a.0, b.0));
        if let (Some(program), Some((first, _))) = (program, times) {
            let program_name = local(MappingType::String, self.string_of[program]);
            let event = Event::ProgramBegin { program_name, program_arguments: List::EMPTY };
            events.push((first, event, Vec::new()));
        }
        for (time, step) in &stream.events {
            let (step, attributes) = match step {
                Step::WithAttributes(step, attributes) => (&**step, attributes.as_slice()),
                step => (step, &[][..]),
            };
            let event = match step {
                Step::Enter(name) => {
                    stack.push(name);
                    Event::Enter { region: region(name) }
                }
                Step::Leave => {
                    let name = stack.pop().unwrap_or_else(|| panic!("{time} <: nothing is open"));
                    Event::Leave { region: region(name) }
                }
                Step::LeaveRegion(name) => {
                    if stack.last() == Some(&name.as_str()) {
                        stack.pop();
                    }
                    Event::Leave { region: region(name) }
                }
                Step::ContextEnter(name, unwind_distance) => Event::CallingContextEnter {
                    calling_context: context(name),
                    unwind_distance: *unwind_distance,
                },
                Step::ContextLeave(name) => Event::CallingContextLeave { calling_context: context(name) },
                Step::Sample(name, unwind_distance) => Event::CallingContextSample {
                    calling_context: context(name),
                    unwind_distance: *unwind_distance,
                    interrupt_generator: 0,
                },
                Step::Flush { until } => Event::BufferFlush { stop_time: Timestamp(trace.offset + until) },
                _ => communication(step, &comm).or_else(|| threading(step, &comm)).expect("every step"),
            };
            events.push((
                *time,
                event,
                attributes.iter().map(|attributes| attribute(trace, attributes)).collect(),
            ));
        }
        if let (Some(_), Some((_, last))) = (program, times) {
            events.push((last, Event::ProgramEnd { exit_status: 0 }, Vec::new()));
        }
        events.into_iter().map(|(time, event, attributes)| (trace.offset + time, event, attributes)).collect()
    }
}

fn attribute(trace: &Trace, &(name, value): &(&str, u64)) -> Attribute {
    let at = ATTRIBUTES.iter().position(|known| *known == name).expect("a known attribute") as u32;
    let bits = match name {
        attributes::POSTED => trace.offset + value,
        // Those of the script follow the world, that of a process alone, and the team of rank 0.
        attributes::PROBE_COMM if value > 1 => value + 1,
        attributes::NEIGHBORS_IN | attributes::NEIGHBORS_OUT => group_of(trace, value),
        _ => value,
    };
    Attribute { attribute: FIRST_ATTRIBUTE + at, value: Value { kind: kind(name), bits } }
}

/// Type of the values of an attribute.
fn kind(name: &str) -> ValueType {
    match name {
        attributes::PROBE_SOURCE | attributes::PROBE_TAG => ValueType::UINT32,
        attributes::PROBE_COMM => ValueType::COMM,
        attributes::NEIGHBORS_IN | attributes::NEIGHBORS_OUT => ValueType::GROUP,
        _ => ValueType::UINT64,
    }
}

/// The group of a communicator, which attributes number behind the world and that of a process alone.
fn group_of(trace: &Trace, communicator: u64) -> u64 {
    let Some(at) = communicator.checked_sub(2) else { return communicator + 1 };
    let groups = |(_, members): &(String, Members)| if matches!(members, Members::Ranks(_)) { 1 } else { 2 };
    let threads = trace.streams.iter().filter(|stream| stream.kind == StreamKind::Thread);
    let teams = threads.map(|stream| stream.rank).collect::<std::collections::BTreeSet<_>>().len() as u64;
    4 + teams + trace.communicators[..at as usize].iter().map(groups).sum::<u64>()
}

fn processes(trace: &Trace) -> u32 {
    trace.streams.iter().map(|stream| stream.rank + 1).max().unwrap_or(0)
}

/// The communicator of a rank's team.
fn team_of(trace: &Trace, rank: u32) -> u32 {
    if rank == 0 { TEAM } else { TEAM + trace.communicators.len() as u32 + rank }
}

fn communication(step: &Step, comm: &dyn Fn(&str) -> u32) -> Option<Event<'static>> {
    let parts = |m: &Message| (m.peer, comm(&m.communicator), m.tag, m.bytes);
    Some(match step {
        Step::Send(message) => {
            let (receiver, communicator, msg_tag, msg_length) = parts(message);
            Event::MpiSend { receiver, communicator, msg_tag, msg_length }
        }
        Step::Isend(message, request_id) => {
            let (receiver, communicator, msg_tag, msg_length) = parts(message);
            Event::MpiIsend { receiver, communicator, msg_tag, msg_length, request_id: *request_id }
        }
        Step::Recv(message) => {
            let (sender, communicator, msg_tag, msg_length) = parts(message);
            Event::MpiRecv { sender, communicator, msg_tag, msg_length }
        }
        Step::Irecv(message, request_id) => {
            let (sender, communicator, msg_tag, msg_length) = parts(message);
            Event::MpiIrecv { sender, communicator, msg_tag, msg_length, request_id: *request_id }
        }
        Step::Probe(message, message_id) => {
            let (sender, communicator, tag, _) = parts(message);
            Event::MpiProbe { sender, communicator, tag, message_id: *message_id }
        }
        Step::IsendComplete(request_id) => Event::MpiIsendComplete { request_id: *request_id },
        Step::IrecvRequest(request_id) => Event::MpiIrecvRequest { request_id: *request_id },
        Step::Test(request_id) => Event::MpiRequestTest { request_id: *request_id },
        Step::Cancel(request_id) => Event::MpiRequestCancelled { request_id: *request_id },
        Step::Mrecv { message, bytes } => Event::MpiMrecv { message_id: *message, msg_length: *bytes },
        Step::ImrecvRequest { message, request } => {
            Event::MpiImrecvRequest { message_id: *message, request_id: *request }
        }
        Step::Imrecv { request, bytes } => Event::MpiImrecv { request_id: *request, msg_length: *bytes },
        Step::CommCreate(communicator) => Event::CommCreate { communicator: comm(communicator) },
        Step::CollectiveBegin => Event::MpiCollectiveBegin {},
        Step::CollectiveEnd { operation, root, sent, received, communicator } => Event::MpiCollectiveEnd {
            collective_op: *operation,
            communicator: comm(communicator),
            root: root.unwrap_or(ROOT_NONE),
            size_sent: *sent,
            size_received: *received,
        },
        Step::NonBlockingRequest(request_id) => {
            Event::NonBlockingCollectiveRequest { request_id: *request_id }
        }
        Step::NonBlockingComplete { operation, root, sent, received, communicator, request } => {
            Event::NonBlockingCollectiveComplete {
                collective_op: *operation,
                communicator: comm(communicator),
                root: root.unwrap_or(ROOT_NONE),
                size_sent: *sent,
                size_received: *received,
                request_id: *request,
            }
        }
        _ => return None,
    })
}

/// The metric values that a script can record; an event borrows its list.
static VALUES: [[MetricValue; 1]; 3] = [
    [MetricValue { kind: ValueType::UINT64, bits: 0 }],
    [MetricValue { kind: ValueType::UINT64, bits: 1 }],
    [MetricValue { kind: ValueType::UINT64, bits: 2 }],
];

fn threading(step: &Step, comm: &dyn Fn(&str) -> u32) -> Option<Event<'static>> {
    let model = Paradigm::OPENMP;
    Some(match step {
        Step::Fork => Event::ThreadFork { model, number_of_requested_threads: 2 },
        Step::Join => Event::ThreadJoin { model },
        Step::TeamBegin => Event::ThreadTeamBegin { thread_team: comm("team") },
        Step::TeamEnd => Event::ThreadTeamEnd { thread_team: comm("team") },
        &Step::TaskCreate(creating_thread, generation_number) => {
            Event::ThreadTaskCreate { thread_team: comm("team"), creating_thread, generation_number }
        }
        &Step::TaskSwitch(creating_thread, generation_number) => {
            Event::ThreadTaskSwitch { thread_team: comm("team"), creating_thread, generation_number }
        }
        &Step::TaskComplete(creating_thread, generation_number) => {
            Event::ThreadTaskComplete { thread_team: comm("team"), creating_thread, generation_number }
        }
        &Step::Acquire { model, lock, order } => {
            Event::ThreadAcquireLock { model, lock_id: lock, acquisition_order: order }
        }
        &Step::Release { model, lock, order } => {
            Event::ThreadReleaseLock { model, lock_id: lock, acquisition_order: order }
        }
        Step::Recording(on) => Event::MeasurementOnOff {
            measurement_mode: if *on { MeasurementMode::ON } else { MeasurementMode::OFF },
        },
        Step::Metric(value) => {
            let values = VALUES.get(*value as usize).expect("a metric value below 3");
            Event::Metric { metric: 0, metric_values: values.as_slice().into() }
        }
        _ => return None,
    })
}
