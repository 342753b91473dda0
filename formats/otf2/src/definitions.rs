//! Resolves global definition records into the model, with every reference checked.
//!
//! Definitions precede what refers to them, as the format demands; so parents precede children and there are
//! no cycles. An exact repetition of a definition is accepted, one that contradicts an earlier definition is
//! refused. Kinds that no analysis uses (other properties, metrics for other locations, …) are skipped.

use crate::Error;
use crate::definition::Definition;
use crate::definition_cursor::DefinitionCursor;
use crate::field::UNDEFINED;
use crate::metric_values::metric_values;
use crate::value::{Value, ValueType};
use model::{
    CallingContext, CartDimension, CartTopology, ClockProperties, Communicator, Definitions, FileHandle,
    FileProperty, Group, InterruptGenerator, Location, LocationGroup, Members, MetricClass, MetricMember,
    Region, SystemTreeNode, Table, Window, recording, usage,
};

/// Reads all records of the global definitions.
pub(crate) fn resolve(mut cursor: DefinitionCursor<'_>) -> Result<Definitions, Error> {
    let mut resolver =
        Resolver { room: SMALLEST_ROOM + ROOM_PER_BYTE * cursor.file_size(), ..Resolver::default() };
    while let Some(record) = cursor.next()? {
        let definition = record.definition;
        if let Err(problem) = resolver.define(definition) {
            return Err(cursor.error(record.offset, format!("{} record: {problem}", definition.name())));
        }
    }
    Ok(resolver.finish())
}

/// Limit of the text in the model, in bytes per byte of the file: each definition has its own copy of its
/// names. Real files need less than ten; only a file made to exhaust memory needs more. The report has one
/// more copy.
const ROOM_PER_BYTE: usize = 24;

/// Limit of the text in the model of the smallest file, in bytes.
const SMALLEST_ROOM: usize = 1 << 20;

/// The field of a location for a property that is a text.
type TextField = fn(&mut Location) -> &mut Option<String>;

/// Properties of locations that are texts, by their names.
const TEXTS_OF_LOCATIONS: [(&str, TextField); 3] = [
    (usage::CORES, |location| &mut location.cores),
    (recording::LOST, |location| &mut location.lost),
    (recording::UNFINISHED, |location| &mut location.unfinished),
];

/// State of the resolution.
#[derive(Default)]
struct Resolver {
    done: Definitions,
    clock: Option<ClockProperties>,
    source_lines: Table<(String, u32)>,
    dimensions: Table<CartDimension>,
    topologies: Table<CartTopology>,
    /// Positions in the system tree, and energy; a definition that comes again has none of it.
    energy: Vec<(usize, u64)>,
    /// Positions of locations, and memory of their processes.
    memory: Vec<(usize, u64)>,
    /// Likewise texts of properties.
    texts: Vec<(usize, TextField, String)>,
    /// Bytes of text that may still be copied.
    room: usize,
}

/// Description of an error in a record.
type Problem = String;

impl Resolver {
    fn define(&mut self, definition: Definition<'_>) -> Result<(), Problem> {
        match definition {
            Definition::ClockProperties {
                timer_resolution,
                global_offset,
                trace_length,
                realtime_timestamp,
            } => {
                if timer_resolution == 0 {
                    return Err("a resolution of 0 ticks per second, expected at least 1".into());
                }
                let clock = ClockProperties {
                    resolution: timer_resolution,
                    global_offset,
                    length: trace_length,
                    realtime: Some(realtime_timestamp).filter(|&time| time != u64::MAX),
                };
                match self.clock.replace(clock) {
                    Some(earlier) if earlier != clock => {
                        Err("differs from an earlier one, expected only one clock".into())
                    }
                    _ => Ok(()),
                }
            }
            Definition::String { reference, string } => {
                let string = String::from_utf8_lossy(string).into_owned();
                define(&mut self.done.strings, reference, string)
            }
            Definition::Attribute { reference, name, .. } => {
                let name = self.string(name)?;
                define(&mut self.done.attributes, reference, name)
            }
            Definition::Parameter { reference, name, .. } => {
                let name = self.string(name)?;
                define(&mut self.done.parameters, reference, name)
            }
            Definition::SystemTreeNode { reference, name, class_name, parent } => {
                let node = SystemTreeNode {
                    name: self.string(name)?,
                    class: self.string(class_name)?,
                    parent: optional(&self.done.system_tree, parent, "parent")?,
                    microjoules: None,
                };
                define(&mut self.done.system_tree, reference, node)
            }
            Definition::SystemTreeNodeProperty { system_tree_node, name, value } => {
                let number = self.number(usage::MICROJOULES, (name, value));
                self.energy.extend(self.done.system_tree.position(system_tree_node.into()).zip(number));
                Ok(())
            }
            Definition::LocationGroup {
                reference,
                name,
                location_group_type,
                system_tree_parent,
                creating_location_group,
            } => {
                let group = LocationGroup {
                    name: self.string(name)?,
                    kind: location_group_type,
                    parent: optional(&self.done.system_tree, system_tree_parent, "system tree node")?,
                    creator: optional(
                        &self.done.location_groups,
                        creating_location_group,
                        "creating location group",
                    )?,
                };
                define(&mut self.done.location_groups, reference, group)
            }
            Definition::Location { reference, name, location_type, number_of_events, location_group } => {
                let location = Location {
                    name: self.string(name)?,
                    kind: location_type,
                    events: number_of_events,
                    group: required(&self.done.location_groups, location_group, "location group")?,
                    resident_bytes: None,
                    cores: None,
                    lost: None,
                    unfinished: None,
                };
                define(&mut self.done.locations, reference, location)
            }
            Definition::LocationProperty { location, name, value } => {
                let number = self.number(usage::RESIDENT_BYTES, (name, value));
                self.memory.extend(self.done.locations.position(location).zip(number));
                if let Some((at, (of, text))) =
                    self.done.locations.position(location).zip(self.text_of_location(name, value))
                {
                    self.take_room(text.len())?;
                    self.texts.push((at, of, text));
                }
                Ok(())
            }
            Definition::Region {
                reference,
                name,
                description,
                source_file,
                begin_line_number,
                end_line_number,
                canonical_name,
                region_role,
                paradigm,
                region_flags,
            } => {
                let region = Region {
                    name: self.string(name)?,
                    canonical_name: self.string(canonical_name)?,
                    description: self.string(description)?,
                    role: region_role,
                    paradigm,
                    flags: region_flags,
                    source_file: self.string(source_file)?,
                    begin_line: begin_line_number,
                    end_line: end_line_number,
                };
                define(&mut self.done.regions, reference, region)
            }
            Definition::Group { reference, name, members, group_type, paradigm, group_flags } => {
                let group = Group {
                    name: self.string(name)?,
                    kind: group_type,
                    paradigm,
                    flags: group_flags,
                    members: members.iter().collect(),
                };
                define(&mut self.done.groups, reference, group)
            }
            Definition::Comm { reference, name, group, parent, .. } => {
                let members = Members::Group(required(&self.done.groups, group, "group")?);
                self.communicator(reference, name, members, parent)
            }
            Definition::InterComm { reference, name, group_a, group_b, common_communicator, .. } => {
                let side = |group| required(&self.done.groups, group, "group");
                let members = Members::Inter(side(group_a)?, side(group_b)?);
                self.communicator(reference, name, members, common_communicator)
            }
            Definition::RmaWin { reference, name, comm, .. } => {
                let communicator = required(&self.done.communicators, comm, "communicator")?;
                let window = Window { name: self.string(name)?, communicator };
                define(&mut self.done.windows, reference, window)
            }
            Definition::IoRegularFile { reference, name, .. }
            | Definition::IoDirectory { reference, name, .. } => {
                let name = self.string(name)?;
                define(&mut self.done.files, reference, name)
            }
            Definition::IoFileProperty { io_file, name, value } => {
                let property = FileProperty {
                    file: required(&self.done.files, io_file, "file")?,
                    name: self.string(name)?,
                    value: match value.kind {
                        ValueType::STRING => self.string(u32::try_from(value.bits).unwrap_or(UNDEFINED))?,
                        _ => value.bits.to_string(),
                    },
                };
                self.done.file_properties.push(property);
                Ok(())
            }
            Definition::IoParadigm { reference, identification, .. } => {
                let name = self.string(identification)?;
                define(&mut self.done.io_paradigms, reference, name)
            }
            Definition::IoHandle { reference, file, io_paradigm, comm, parent, io_handle_flags, .. } => {
                /// OTF2's `IoHandleFlag` of a handle that was there before.
                const PRE_CREATED: u32 = 1;
                let handle = FileHandle {
                    file: optional(&self.done.files, file, "file")?,
                    communicator: optional(&self.done.communicators, comm, "communicator")?,
                    paradigm: self.done.io_paradigms.position(io_paradigm.into()),
                    parent: self.done.file_handles.position(parent.into()),
                    was_open: (io_handle_flags & PRE_CREATED != 0).then_some(0),
                };
                define(&mut self.done.file_handles, reference, handle)
            }
            Definition::IoPreCreatedHandleState { io_handle, status_flags, .. } => {
                let at = required(&self.done.file_handles, io_handle, "file handle")?;
                let handle = self.done.file_handles.get_mut(at);
                handle.into_iter().for_each(|handle| handle.was_open = Some(status_flags));
                Ok(())
            }
            Definition::SourceCodeLocation { reference, file, line_number } => {
                let line = (self.string(file)?, line_number);
                define(&mut self.source_lines, reference, line)
            }
            Definition::CallingContext { reference, region, source_code_location, parent } => {
                let source = optional(&self.source_lines, source_code_location, "source code location")?;
                let source = source.and_then(|at| self.source_lines.get(at)).cloned();
                self.take_room(source.as_ref().map_or(0, |(file, _)| file.len()))?;
                let context = CallingContext {
                    region: required(&self.done.regions, region, "region")?,
                    source,
                    parent: optional(&self.done.calling_contexts, parent, "parent")?,
                };
                define(&mut self.done.calling_contexts, reference, context)
            }
            Definition::InterruptGenerator {
                reference,
                interrupt_generator_mode,
                base,
                exponent,
                period,
                ..
            } => {
                // OTF2_InterruptGeneratorMode: 0 time, 1 count. OTF2_Base: 0 binary, 1 decimal.
                let (is_of_time, is_decimal) = (interrupt_generator_mode == 0, base == 1);
                let generator = InterruptGenerator { is_of_time, is_decimal, exponent, period };
                define(&mut self.done.interrupt_generators, reference, generator)
            }
            Definition::MetricMember {
                reference,
                name,
                metric_mode,
                value_type,
                base,
                exponent,
                unit,
                ..
            } => {
                let values = metric_values(metric_mode, value_type, base, exponent);
                let member = MetricMember { name: self.string(name)?, unit: self.string(unit)?, values };
                define(&mut self.done.metric_members, reference, member)
            }
            Definition::MetricClass { reference, metric_members, metric_occurrence, recorder_kind } => {
                let members = metric_members.iter();
                let members =
                    members.map(|member| self.done.metric_members.position(member.into())).collect();
                // OTF2_MetricOccurrence: 0 at each enter and leave, 1 at other events of the location, too.
                // OTF2_RecorderKind: 2 processors; archives of OTF2 1.3 and before do not tell it, 0.
                let class = MetricClass {
                    members,
                    is_strict: metric_occurrence == 0,
                    is_of_threads: metric_occurrence <= 1 && matches!(recorder_kind, 0 | 2),
                };
                define(&mut self.done.metric_classes, reference, class)
            }
            Definition::CartDimension { reference, name, size, cart_periodicity } => {
                let dimension =
                    CartDimension { name: self.string(name)?, size, periodic: cart_periodicity != 0 };
                define(&mut self.dimensions, reference, dimension)
            }
            Definition::CartTopology { reference, name, communicator, cart_dimensions } => {
                let mut dimensions = Vec::new();
                for dimension in cart_dimensions {
                    let at = required(&self.dimensions, dimension, "dimension")?;
                    let dimension = self.dimensions.get(at).cloned();
                    self.take_room(dimension.as_ref().map_or(0, |dimension| dimension.name.len()))?;
                    dimensions.extend(dimension);
                }
                let topology = CartTopology {
                    name: self.string(name)?,
                    communicator: required(&self.done.communicators, communicator, "communicator")?,
                    dimensions,
                    coordinates: Vec::new(),
                };
                define(&mut self.topologies, reference, topology)
            }
            Definition::CartCoordinate { cart_topology, rank, coordinates } => {
                let at = required(&self.topologies, cart_topology, "topology")?;
                if let Some(topology) = self.topologies.get_mut(at) {
                    let (found, expected) = (coordinates.len(), topology.dimensions.len());
                    if found != expected {
                        return Err(format!("{found} coordinates, expected {expected}, one per dimension"));
                    }
                    topology.coordinates.push((rank, coordinates.iter().collect()));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn communicator(
        &mut self,
        reference: u32,
        name: u32,
        members: Members,
        parent: u32,
    ) -> Result<(), Problem> {
        let parent = optional(&self.done.communicators, parent, "parent")?;
        let communicator = Communicator { name: self.string(name)?, members, parent };
        define(&mut self.done.communicators, reference, communicator)
    }

    /// The value of a property, if it has this name and is a number.
    fn number(&self, wanted: &str, (name, value): (u32, Value)) -> Option<u64> {
        (self.is_named(name, wanted) && value.kind == ValueType::UINT64).then_some(value.bits)
    }

    /// The value of a property of a location that is a text, and the field that it is for, if there is one.
    fn text_of_location(&self, name: u32, value: Value) -> Option<(TextField, String)> {
        let (_, field) = TEXTS_OF_LOCATIONS.into_iter().find(|(known, _)| self.is_named(name, known))?;
        let text = self.done.strings.find(value.bits).filter(|_| value.kind == ValueType::STRING)?;
        Some((field, text.clone()))
    }

    fn is_named(&self, name: u32, wanted: &str) -> bool {
        self.done.strings.find(name.into()).is_some_and(|name| name == wanted)
    }

    /// The text of a string reference; an undefined reference is the empty text.
    fn string(&mut self, reference: u32) -> Result<String, Problem> {
        let at = optional(&self.done.strings, reference, "string")?;
        let string = at.and_then(|at| self.done.strings.get(at)).cloned().unwrap_or_default();
        self.take_room(string.len())?;
        Ok(string)
    }

    /// Subtracts a copy of a text from the limit: a string is shared on disk but copied here, so that without
    /// a limit a small file could use any amount of memory.
    fn take_room(&mut self, bytes: usize) -> Result<(), Problem> {
        match self.room.checked_sub(bytes) {
            Some(room) => self.room = room,
            None => return Err(format!("names add up to more than {ROOM_PER_BYTE} times the file")),
        }
        Ok(())
    }

    fn finish(self) -> Definitions {
        let mut done = self.done;
        done.is_clock_defined = self.clock.is_some();
        done.clock = self.clock.unwrap_or_default();
        done.topologies = self.topologies.iter().cloned().collect();
        for (at, microjoules) in self.energy {
            done.system_tree.get_mut(at).into_iter().for_each(|it| it.microjoules = Some(microjoules));
        }
        for (at, bytes) in self.memory {
            done.locations.get_mut(at).into_iter().for_each(|it| it.resident_bytes = Some(bytes));
        }
        for (at, field, text) in self.texts {
            done.locations.get_mut(at).into_iter().for_each(|it| *field(it) = Some(text.clone()));
        }
        done
    }
}

/// Adds a definition; an exact repetition is accepted.
fn define<T: PartialEq>(table: &mut Table<T>, reference: impl Into<u64>, item: T) -> Result<(), Problem> {
    let reference = reference.into();
    match table.push(reference, item) {
        Ok(_) => Ok(()),
        Err(again) if table.find(reference) == Some(&again) => Ok(()),
        Err(_) => Err(format!("{reference} is defined a second time and differently")),
    }
}

/// The position of the definition with this reference, or `None` if the reference is the undefined one.
fn optional<T>(table: &Table<T>, reference: u32, what: &str) -> Result<Option<usize>, Problem> {
    if reference == UNDEFINED {
        return Ok(None);
    }
    match table.position(reference.into()) {
        Some(at) => Ok(Some(at)),
        None => Err(format!("refers to {what} {reference}, which is not defined before it")),
    }
}

/// The position of the definition with this reference.
fn required<T>(table: &Table<T>, reference: u32, what: &str) -> Result<usize, Problem> {
    optional(table, reference, what)?.ok_or_else(|| format!("has no {what}, expected one"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Counting, CountsSince, GroupType, LocationGroupType, LocationType, Paradigm, RegionRole};

    fn resolved(definitions: &[Definition<'_>]) -> Result<Definitions, Problem> {
        let mut resolver = Resolver { room: 1000, ..Resolver::default() };
        for &definition in definitions {
            resolver.define(definition)?;
        }
        Ok(resolver.finish())
    }

    const NAME: Definition<'_> = Definition::String { reference: 3, string: b"name" };

    fn node(reference: u32, parent: u32) -> Definition<'static> {
        Definition::SystemTreeNode { reference, name: 3, class_name: UNDEFINED, parent }
    }

    fn region(reference: u32, begin_line_number: u32) -> Definition<'static> {
        Definition::Region {
            reference,
            name: 3,
            description: UNDEFINED,
            source_file: UNDEFINED,
            begin_line_number,
            end_line_number: 0,
            canonical_name: 3,
            region_role: RegionRole::FUNCTION,
            paradigm: Paradigm::USER,
            region_flags: 0,
        }
    }

    #[test]
    fn references_become_positions_and_texts() {
        let trace = resolved(&[NAME, node(9, UNDEFINED), node(4, 9)]).unwrap();
        assert_eq!(trace.system_tree[1].parent, Some(0));
        assert_eq!((trace.system_tree[1].name.as_str(), trace.system_tree[1].class.as_str()), ("name", ""));
    }

    #[test]
    fn same_definition_twice_is_fine_another_is_not() {
        assert_eq!(resolved(&[NAME, region(7, 1), region(7, 1)]).unwrap().regions.len(), 1);
        let problem = resolved(&[NAME, region(7, 1), region(7, 2)]).unwrap_err();
        assert_eq!(problem, "7 is defined a second time and differently");
    }

    #[test]
    fn undefined_parent_is_a_root_unknown_or_own_one_is_refused() {
        assert!(resolved(&[NAME, node(1, UNDEFINED)]).is_ok());
        let problem = resolved(&[NAME, node(1, 1)]).unwrap_err();
        assert_eq!(problem, "refers to parent 1, which is not defined before it");
    }

    #[test]
    fn attributes_are_known_by_name() {
        let attribute = |name| Definition::Attribute {
            reference: 8,
            name,
            value_type: ValueType::UINT64,
            description: UNDEFINED,
        };
        assert_eq!(resolved(&[NAME, attribute(3)]).unwrap().attributes.find(8).unwrap(), "name");
        assert!(resolved(&[attribute(3)]).is_err());
    }

    #[test]
    fn parameters_are_known_by_name() {
        let parameter = |name| Definition::Parameter { reference: 8, name, parameter_type: 2 };
        assert_eq!(resolved(&[NAME, parameter(3)]).unwrap().parameters.find(8).unwrap(), "name");
        assert!(resolved(&[parameter(3)]).is_err());
    }

    #[test]
    fn classes_of_metrics_have_their_members_in_the_order_of_values() {
        let member = |reference, metric_mode| Definition::MetricMember {
            reference,
            name: 3,
            description: UNDEFINED,
            metric_type: 0,
            metric_mode,
            value_type: ValueType::UINT64,
            base: 1,
            exponent: -9,
            unit: UNDEFINED,
        };
        let class = Definition::MetricClass {
            reference: 7,
            metric_members: [2, 9, 0].as_slice().into(),
            metric_occurrence: 0,
            recorder_kind: 1,
        };
        let trace = resolved(&[NAME, member(0, 16), member(1, 18), member(2, 17), class]).unwrap();
        let counts = trace.metric_members.iter().map(|member| member.counts());
        let counting = Counting { since: CountsSince::ValueBefore, exponent: -9 };
        assert_eq!(counts.collect::<Vec<_>>(), [Some(counting), None, None]);
        let class =
            MetricClass { members: vec![Some(2), None, Some(0)], is_strict: true, is_of_threads: false };
        assert_eq!(trace.metric_classes.find(7), Some(&class));
    }

    #[test]
    fn location_without_group_is_refused() {
        let location = |location_group| Definition::Location {
            reference: 1 << 40,
            name: 3,
            location_type: LocationType::CPU_THREAD,
            number_of_events: 0,
            location_group,
        };
        let process = Definition::LocationGroup {
            reference: 0,
            name: 3,
            location_group_type: LocationGroupType::PROCESS,
            system_tree_parent: UNDEFINED,
            creating_location_group: UNDEFINED,
        };
        assert_eq!(resolved(&[NAME, process, location(0)]).unwrap().locations.position(1 << 40), Some(0));
        assert_eq!(
            resolved(&[NAME, location(UNDEFINED)]).unwrap_err(),
            "has no location group, expected one"
        );
    }

    #[test]
    fn clock_without_ticks_and_second_clock_are_refused() {
        let clock = |timer_resolution| Definition::ClockProperties {
            timer_resolution,
            global_offset: 5,
            trace_length: 6,
            realtime_timestamp: u64::MAX,
        };
        assert!(resolved(&[clock(0)]).is_err());
        assert!(resolved(&[clock(1), clock(2)]).is_err());
        assert_eq!(resolved(&[clock(1), clock(1)]).unwrap().clock.realtime, None);
        assert!(resolved(&[clock(1)]).unwrap().is_clock_defined && !resolved(&[]).unwrap().is_clock_defined);
    }

    #[test]
    fn endless_copies_of_a_long_name_are_refused() {
        let long = Definition::String { reference: 3, string: &[b'x'; 300] };
        assert!(resolved(&[long, node(0, UNDEFINED), node(1, 0), node(2, 0)]).is_ok());
        assert!(resolved(&[long, node(0, UNDEFINED), node(1, 0), node(2, 0), node(3, 0)]).is_err());
    }

    #[test]
    fn coordinates_fit_their_topology() {
        let group = Definition::Group {
            reference: 0,
            name: 3,
            members: [0, 1].as_slice().into(),
            group_type: GroupType::COMM_GROUP,
            paradigm: Paradigm::MPI,
            group_flags: 0,
        };
        let comm = Definition::Comm { reference: 0, name: 3, group: 0, parent: UNDEFINED, flags: 0 };
        let dimension = Definition::CartDimension { reference: 0, name: 3, size: 2, cart_periodicity: 1 };
        let cart_dimensions = [0].as_slice().into();
        let topology = Definition::CartTopology { reference: 0, name: 3, communicator: 0, cart_dimensions };
        let at = |coordinates: &'static [u32]| Definition::CartCoordinate {
            cart_topology: 0,
            rank: 1,
            coordinates: coordinates.into(),
        };
        let trace = resolved(&[NAME, group, comm, dimension, topology, at(&[1])]).unwrap();
        assert_eq!(trace.topologies[0].coordinates, [(1, vec![1])]);
        assert!(trace.topologies[0].dimensions[0].periodic);
        assert!(resolved(&[NAME, group, comm, dimension, topology, at(&[1, 1])]).is_err());
    }
}
