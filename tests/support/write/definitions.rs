//! Global and local definitions of an archive.

use std::collections::{BTreeMap, BTreeSet};

use model::{GroupType, LocationGroupType, LocationType, Paradigm};
use otf2::{ArchiveWriter, Definition, IdMap, List, MappingType, Timestamp, UNDEFINED, Value, ValueType};

use super::attributes::{ATTRIBUTES, FIRST_ATTRIBUTE, kind};
use super::names::{CUDA_WINDOW, Names};
use super::{SELF, TEAM, WORLD, Written, define, processes, team_of};
use crate::support::regions::properties;
use crate::support::trace::{Members, MetricClass, Stream, StreamKind, Trace};

/// Interfaces of files.
const PARADIGMS: [&str; 3] = ["MPI-IO", "POSIX", "ISOC"];

impl Names {
    pub(super) fn define(&self, archive: &mut ArchiveWriter, trace: &Trace, streams: &[Vec<Written>]) {
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
        let names: BTreeSet<&String> =
            trace.streams.iter().filter_map(|stream| stream.node.as_ref()).collect();
        for (reference, name) in (2..).zip(&names) {
            define(archive, node(reference, name, "node", 0));
        }
        let node_of = |rank: u32| {
            let of_rank = trace.streams.iter().find(|stream| stream.rank == rank)?.node.as_ref()?;
            Some(2 + names.iter().position(|name| *name == of_rank)? as u32)
        };
        for rank in 0..processes(trace) {
            define(
                archive,
                Definition::LocationGroup {
                    reference: rank,
                    name: string(&format!("MPI Rank {rank}")),
                    location_group_type: LocationGroupType::PROCESS,
                    system_tree_parent: node_of(rank).unwrap_or(1),
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
        self.define_windows(archive, trace);
        self.define_files(archive, trace);
        self.define_file_properties(archive, trace);
    }

    fn define_locations(&self, archive: &mut ArchiveWriter, trace: &Trace, streams: &[Vec<Written>]) {
        let mut groups = processes(trace);
        let mut devices = BTreeMap::new();
        for (stream, events) in trace.streams.iter().zip(streams) {
            let mut group = stream.rank;
            if stream.kind == StreamKind::Accelerator {
                group = *devices.entry((stream.rank, stream.device)).or_insert_with(|| {
                    let reference = groups;
                    define(
                        archive,
                        Definition::LocationGroup {
                            reference,
                            name: self.string_of["stream"],
                            location_group_type: LocationGroupType::ACCELERATOR,
                            system_tree_parent: 1,
                            creating_location_group: stream.rank,
                        },
                    );
                    groups += 1;
                    reference
                });
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
        for &name in &self.parameters {
            define(archive, Definition::Parameter { reference: name, name, parameter_type: 2 });
        }
        for (reference, &class) in (0..).zip(trace.metric_classes()) {
            let [name, unit] = class.name_and_unit();
            let (metric_mode, base, exponent) = class.mode_and_scale();
            let member = Definition::MetricMember {
                reference,
                name: self.string_of[name],
                description: 0,
                metric_type: 0,
                metric_mode,
                value_type: if class == MetricClass::Joules { ValueType::DOUBLE } else { ValueType::UINT64 },
                base,
                exponent,
                unit: self.string_of[unit],
            };
            define(archive, member);
            let members = [reference];
            let metric_members = members.as_slice().into();
            let class =
                Definition::MetricClass { reference, metric_members, metric_occurrence: 0, recorder_kind: 2 };
            define(archive, class);
        }
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
                    begin_line_number: is.line,
                    end_line_number: 0,
                    canonical_name: self.string_of[name],
                    region_role: is.role,
                    paradigm: is.paradigm,
                    region_flags: is.flags,
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
        if self.has_copies {
            let streams = copying(trace);
            let references: Vec<u64> = streams.iter().map(|stream| stream.reference()).collect();
            group(archive, GroupType::COMM_LOCATIONS, Paradigm::CUDA, &references);
            let all: Vec<u64> = (0..).zip(&streams).map(|(at, _)| at).collect();
            let all = group(archive, GroupType::COMM_GROUP, Paradigm::CUDA, &all);
            let reference = communicators(trace);
            define(archive, comm(reference, all, UNDEFINED));
            let (name, window) = (self.string_of[CUDA_WINDOW], trace.windows.len() as u32);
            define(archive, Definition::RmaWin { reference: window, name, comm: reference, flags: 0 });
        }
    }

    fn define_windows(&self, archive: &mut ArchiveWriter, trace: &Trace) {
        for (name, communicator) in &trace.windows {
            let (reference, comm) = (self.windows[name], self.communicators[communicator]);
            define(archive, Definition::RmaWin { reference, name: self.string_of[name], comm, flags: 0 });
        }
    }

    fn define_files(&self, archive: &mut ArchiveWriter, trace: &Trace) {
        let paradigms = if trace.files.is_empty() { &[][..] } else { &PARADIGMS[..] };
        for (reference, identification) in (0..).zip(paradigms) {
            let name = self.string_of[*identification];
            define(
                archive,
                Definition::IoParadigm {
                    reference,
                    identification: name,
                    name,
                    io_paradigm_class: u8::from(reference == 0),
                    io_paradigm_flags: 0,
                    properties: List::EMPTY,
                },
            );
        }
        for (name, communicator) in &trace.files {
            let (reference, name) = (self.files[name], self.string_of[name]);
            define(archive, Definition::IoRegularFile { reference, name, scope: UNDEFINED });
            // In place of a communicator may stand another interface.
            let other = (0..).zip(PARADIGMS).find(|(_, it)| communicator.as_deref() == Some(it));
            let named = communicator.as_ref().filter(|_| other.is_none());
            let comm = named.map_or(UNDEFINED, |name| self.communicators[name]);
            define(
                archive,
                Definition::IoHandle {
                    reference,
                    name,
                    file: reference,
                    io_paradigm: other.map_or(0, |(at, _)| at),
                    io_handle_flags: 0,
                    comm,
                    parent: UNDEFINED,
                },
            );
        }
    }

    /// Writes what is known of files: stripes as text, as Score-P does, and blocks as numbers.
    fn define_file_properties(&self, archive: &mut ArchiveWriter, trace: &Trace) {
        for (file, property, bytes) in &trace.file_properties {
            let value = match *property {
                "Stripe Size" => Value::new(ValueType::STRING, self.string_of[&bytes.to_string()].into()),
                _ => Value::new(ValueType::UINT64, *bytes),
            };
            let (io_file, name) = (self.files[file], self.string_of[*property]);
            define(archive, Definition::IoFileProperty { io_file, name, value });
        }
    }

    /// Writes the mapping tables and clock offsets of a location.
    pub(super) fn define_locally(&self, archive: &ArchiveWriter, trace: &Trace, stream: &Stream) {
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
    pub(super) fn mapped(&self, trace: &Trace) -> Vec<(MappingType, u32)> {
        let communicators = communicators(trace);
        [
            (MappingType::String, self.strings.len() as u32),
            (MappingType::Region, self.regions.len() as u32),
            (MappingType::Comm, communicators),
            (MappingType::RmaWin, trace.windows.len() as u32),
            (MappingType::IoHandle, trace.files.len() as u32),
            (MappingType::CallingContext, trace.contexts.len() as u32),
        ]
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .collect()
    }
}

/// The number of communicators, without that of copies on streams.
fn communicators(trace: &Trace) -> u32 {
    team_of(trace, processes(trace).max(1) - 1).max(TEAM + trace.communicators.len() as u32) + 1
}

/// The main threads and streams between which copies are, in the order of their ranks in the window.
pub(super) fn copying(trace: &Trace) -> Vec<&Stream> {
    let is_one = |stream: &&Stream| match stream.kind {
        StreamKind::Thread => stream.thread == 0,
        StreamKind::Accelerator => true,
        StreamKind::Metric => false,
    };
    trace.streams.iter().filter(is_one).collect()
}
