//! Definitions of the archive: nodes, tasks and threads, functions, call paths, counters and communicators.

use model::{GroupType, LocationGroupType, LocationType, Paradigm};
use otf2::{ArchiveWriter, Definition, List, UNDEFINED, ValueType};
use rustc_hash::FxHashMap;

use crate::contexts::place;
use crate::error::Result;
use crate::events::Events;
use crate::header::Header;
use crate::records::Thread;
use crate::regions::LINES;
use crate::row::Names;

/// The group of all tasks; the one before it says which locations they are.
const ALL: u32 = 1;

/// OTF2's numbers of a metric of PAPI, that counts from the begin on, in units of powers of ten.
const PAPI: u8 = 1;
const ACCUMULATED_FROM_START: u8 = 0;
const DECIMAL: u8 = 1;

/// Metrics are recorded at enters and leaves, but not at all of them.
const SYNCHRONOUS: u8 = 1;

/// A thread that was written, with the number of its events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Written {
    pub(crate) thread: Thread,
    /// Position among the threads of all tasks.
    pub(crate) position: usize,
    pub(crate) events: u64,
}

/// What the definitions are made of.
pub(crate) struct Parts<'a> {
    pub(crate) header: &'a Header,
    pub(crate) names: &'a Names,
    pub(crate) events: &'a Events,
    pub(crate) locations: &'a [Written],
    /// The number of communicators of messages.
    pub(crate) layers: u32,
    /// The end of the trace.
    pub(crate) end: u64,
}

/// The reference of a thread: those of a task differ in the upper half, as Score-P's do.
pub(crate) fn location(thread: Thread) -> u64 {
    u64::from(thread.thread) << 32 | u64::from(thread.task)
}

/// Writes all definitions.
pub(crate) fn write(parts: &Parts<'_>, archive: &mut ArchiveWriter) -> Result<()> {
    let mut definitions = Definitions { archive, strings: FxHashMap::default(), groups: 0 };
    definitions.define(Definition::ClockProperties {
        timer_resolution: parts.header.ticks_per_second,
        global_offset: 0,
        trace_length: parts.end,
        realtime_timestamp: u64::MAX,
    })?;
    definitions.string("")?;
    definitions.system(parts)?;
    definitions.regions(parts.events)?;
    definitions.contexts(parts.events)?;
    definitions.counters(parts.events)?;
    definitions.communicators(parts)
}

/// Writer that gives strings and groups their references.
struct Definitions<'a> {
    archive: &'a mut ArchiveWriter,
    strings: FxHashMap<String, u32>,
    groups: u32,
}

impl Definitions<'_> {
    fn define(&mut self, definition: Definition<'_>) -> Result<()> {
        Ok(self.archive.define(definition)?)
    }

    /// The reference of a string.
    fn string(&mut self, text: &str) -> Result<u32> {
        if let Some(&known) = self.strings.get(text) {
            return Ok(known);
        }
        let reference = u32::try_from(self.strings.len()).unwrap_or(u32::MAX);
        self.define(Definition::String { reference, string: text.as_bytes() })?;
        self.strings.insert(text.to_owned(), reference);
        Ok(reference)
    }

    /// The machine with its nodes, their tasks, and their threads.
    fn system(&mut self, parts: &Parts<'_>) -> Result<()> {
        let Parts { header, names, locations, .. } = parts;
        let (machine, node, name) = (self.string("machine")?, self.string("node")?, self.string("machine")?);
        self.define(Definition::SystemTreeNode {
            reference: 0,
            name,
            class_name: machine,
            parent: UNDEFINED,
        })?;
        let mut defined = FxHashMap::default();
        let mut locations = locations.iter().peekable();
        for (rank, task) in (0..).zip(&header.tasks) {
            if let std::collections::hash_map::Entry::Vacant(entry) = defined.entry(task.node) {
                let number = u64::from(task.node) + 1;
                let name = named(&names.nodes, task.node, || format!("node {number}"));
                let name = self.string(&name)?;
                let reference = task.node.saturating_add(1);
                self.define(Definition::SystemTreeNode { reference, name, class_name: node, parent: 0 })?;
                entry.insert(());
            }
            let name = self.string(&named(&names.tasks, rank, || format!("MPI Rank {rank}")))?;
            self.define(Definition::LocationGroup {
                reference: rank,
                name,
                location_group_type: LocationGroupType::PROCESS,
                system_tree_parent: task.node.saturating_add(1),
                creating_location_group: UNDEFINED,
            })?;
            while let Some(written) = locations.next_if(|written| written.thread.task == rank) {
                let number = u64::from(written.thread.thread) + 1;
                let name = names.threads.get(written.position).filter(|name| !name.is_empty()).cloned();
                let name = self.string(&name.unwrap_or_else(|| format!("thread {number}")))?;
                self.define(Definition::Location {
                    reference: location(written.thread),
                    name,
                    location_type: LocationType::CPU_THREAD,
                    number_of_events: written.events,
                    location_group: rank,
                })?;
            }
        }
        Ok(())
    }

    fn regions(&mut self, events: &Events) -> Result<()> {
        for (reference, region) in (0..).zip(events.regions.list()) {
            let name = self.string(&region.name)?;
            self.define(Definition::Region {
                reference,
                name,
                description: 0,
                source_file: 0,
                begin_line_number: 0,
                end_line_number: 0,
                canonical_name: name,
                region_role: region.role,
                paradigm: region.paradigm,
                region_flags: 0,
            })?;
        }
        Ok(())
    }

    /// Call paths with the lines of calls.
    fn contexts(&mut self, events: &Events) -> Result<()> {
        let mut places: FxHashMap<u64, u32> = FxHashMap::default();
        for (reference, node) in (0..).zip(events.contexts.list()) {
            let known = events.labels.of_levels(&LINES, node.line).and_then(place);
            let source_code_location = match (places.get(&node.line), known) {
                (Some(&known), _) => known,
                (None, Some((file, line_number))) => {
                    let file = self.string(file)?;
                    let next = u32::try_from(places.len()).unwrap_or(u32::MAX);
                    self.define(Definition::SourceCodeLocation { reference: next, file, line_number })?;
                    places.insert(node.line, next);
                    next
                }
                (None, None) => UNDEFINED,
            };
            let parent = node.parent.unwrap_or(UNDEFINED);
            let region = node.region;
            self.define(Definition::CallingContext { reference, region, source_code_location, parent })?;
        }
        Ok(())
    }

    /// A class for each counter, as a record may have any of them.
    fn counters(&mut self, events: &Events) -> Result<()> {
        for (reference, (name, about)) in (0..).zip(events.counters.named(&events.labels)) {
            let (name, description, unit) = (self.string(&name)?, self.string(&about)?, self.string("#")?);
            self.define(Definition::MetricMember {
                reference,
                name,
                description,
                metric_type: PAPI,
                metric_mode: ACCUMULATED_FROM_START,
                value_type: ValueType::UINT64,
                base: DECIMAL,
                exponent: 0,
                unit,
            })?;
            self.define(Definition::MetricClass {
                reference,
                metric_members: List::from(&[reference][..]),
                metric_occurrence: SYNCHRONOUS,
                recorder_kind: 0,
            })?;
        }
        Ok(())
    }

    fn communicators(&mut self, parts: &Parts<'_>) -> Result<()> {
        let tasks = u32::try_from(parts.header.tasks.len()).unwrap_or(u32::MAX);
        let masters: Vec<u64> = (0..tasks).map(|task| location(Thread { task, thread: 0 })).collect();
        self.group(GroupType::COMM_LOCATIONS, &masters)?;
        let ranks: Vec<u64> = (0..tasks.into()).collect();
        self.group(GroupType::COMM_GROUP, &ranks)?;
        self.communicator(0, "MPI_COMM_WORLD", ALL)?;
        let known = &parts.events.communicators;
        for (position, group) in (0..).zip(known.list()) {
            let reference = known.reference(position);
            if reference > 0 {
                let members: Vec<u64> = group.members.iter().map(|&task| task.into()).collect();
                let of_members = self.group(GroupType::COMM_GROUP, &members)?;
                self.communicator(reference, &format!("communicator {}", group.number), of_members)?;
            }
        }
        for layer in 1..parts.layers {
            let name = format!("MPI_COMM_WORLD, messages that overtake others {layer}");
            self.communicator(known.reference_of_layer(layer), &name, ALL)?;
        }
        Ok(())
    }

    fn communicator(&mut self, reference: u32, name: &str, group: u32) -> Result<()> {
        let name = self.string(name)?;
        self.define(Definition::Comm { reference, name, group, parent: UNDEFINED, flags: 0 })
    }

    /// Defines a group and returns its reference.
    fn group(&mut self, group_type: GroupType, members: &[u64]) -> Result<u32> {
        let reference = self.groups;
        self.groups += 1;
        let (members, paradigm) = (List::from(members), Paradigm::MPI);
        self.define(Definition::Group { reference, name: 0, members, group_type, paradigm, group_flags: 0 })?;
        Ok(reference)
    }
}

/// The name of the k-th object, or another one if it has none.
fn named(names: &[String], at: u32, other: impl Fn() -> String) -> String {
    let known = usize::try_from(at).ok().and_then(|at| names.get(at));
    known.filter(|name| !name.is_empty()).cloned().unwrap_or_else(other)
}
