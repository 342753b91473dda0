//! Table of all definition records, global and local.
//!
//! Fields are named as in OTF2, in snake case, except that a definition's own id is its `reference` and that
//! a type and its value are one [`Value`]. A field named after a kind of definition refers to one; `name`,
//! `description` and `class_name` refer to strings. References may be undefined ([`UNDEFINED`]) where that
//! makes sense.

use crate::bytes::Bytes;
use crate::field::{Body, Field, Timestamp, UNDEFINED};
use crate::legacy;
use crate::list::List;
use crate::mappings::IdMap;
use crate::record::{FileKind, records};
use crate::value::{IoParadigmProperty, Value, ValueType};
use model::{GroupType, LocationGroupType, LocationType, Paradigm, RegionRole};

records! {
    /// A definition record, with references as they are in the file.
    Definition {
        /// Ticks per second, and the trace's place on the clock, in ticks; `realtime_timestamp` is
        /// in nanoseconds since 1970 at `global_offset`, all ones if unknown.
        5 ClockProperties global {
            timer_resolution: u64, global_offset: u64, trace_length: u64; realtime_timestamp: u64 = u64::MAX
        }
        /// Declares that a programming model occurs in the trace.
        6 Paradigm global { paradigm: Paradigm, name: u32, paradigm_class: u8 }
        /// A property of a programming model.
        7 ParadigmProperty global { paradigm: Paradigm, property: u8, value: Value }
        /// Declares that an I/O library occurs in the trace.
        8 IoParadigm global {
            reference: u8, identification: u32, name: u32, io_paradigm_class: u8, io_paradigm_flags: u32,
            properties: List<'a, IoParadigmProperty, u8>,
        }
        /// Mapping from local references of this location to global ones.
        5 MappingTable local { mapping_type: u8, id_map: IdMap<'a> }
        /// At local `time` (ticks) the global clock was ahead by `offset` ticks.
        6 ClockOffset local { time: Timestamp, offset: i64, standard_deviation: f64 }
        /// A string, normally UTF-8.
        10 String both { reference: u32, string: &'a [u8] }
        /// A kind of attribute.
        11 Attribute both { reference: u32, name: u32, value_type: ValueType; description: u32 = UNDEFINED }
        /// A machine, a node, …
        12 SystemTreeNode both { reference: u32, name: u32, class_name: u32, parent: u32 }
        /// A process or an accelerator context.
        13 LocationGroup both {
            reference: u32, name: u32, location_group_type: LocationGroupType, system_tree_parent: u32;
            creating_location_group: u32 = UNDEFINED
        }
        /// A thread, an accelerator stream or a source of metrics.
        14 Location both {
            reference: u64, name: u32, location_type: LocationType, number_of_events: u64, location_group: u32,
        }
        /// A function or another stretch of code; `region_flags` bits: 1 dynamic, 2 phase.
        15 Region both {
            reference: u32, name: u32,
            description: u32 | old_type: u8 = legacy::region_code(region_role, paradigm, region_flags),
            source_file: u32, begin_line_number: u32, end_line_number: u32;
            canonical_name: u32 = name,
            region_role: RegionRole = legacy::region(old_type).0,
            paradigm: Paradigm = legacy::region(old_type).1,
            region_flags: u32 = legacy::region(old_type).2
        }
        /// A call site: where one region calls another. Superseded by calling contexts.
        16 Callsite both {
            reference: u32, source_file: u32, line_number: u32, entered_region: u32, left_region: u32,
        }
        /// A node of a call tree.
        17 Callpath both { reference: u32, parent: u32, region: u32 }
        /// A set of things; `group_flags` bits: 1 ranks in events are global already.
        18 Group both {
            reference: u32, name: u32 | old_type: u8 = legacy::group_code(group_type, paradigm, group_flags),
            members: List<'a, u64>;
            group_type: GroupType = legacy::group(old_type).0,
            paradigm: Paradigm = legacy::group(old_type).1,
            group_flags: u32 = 0
        }
        /// A metric; a value counts `base^exponent` units, base 0 is 2 and base 1 is 10.
        19 MetricMember both {
            reference: u32, name: u32, description: u32, metric_type: u8, metric_mode: u8, value_type: ValueType,
            base: u8, exponent: i64, unit: u32,
        }
        /// Metrics that are recorded together.
        20 MetricClass both {
            reference: u32, metric_members: List<'a, u32, u8>, metric_occurrence: u8; recorder_kind: u8 = 0
        }
        /// A metric class that one location records for something else; shares its references with metric
        /// classes.
        21 MetricInstance both { reference: u32, metric_class: u32, recorder: u64, metric_scope: u8, scope: u64 }
        /// A communicator; `flags` bits: 1 events record its creation and destruction.
        22 Comm both { reference: u32, name: u32, group: u32, parent: u32; flags: u32 = 0 }
        /// A parameter: 0 string, 1 signed, 2 unsigned.
        23 Parameter both { reference: u32, name: u32, parameter_type: u8 }
        /// A window for one-sided communication; `flags` as for communicators.
        24 RmaWin both { reference: u32, name: u32, comm: u32; flags: u32 = 1 }
        /// Declares that a location records a metric class.
        25 MetricClassRecorder both { metric: u32, recorder: u64 }
        /// A property of a system tree node.
        26 SystemTreeNodeProperty both {
            system_tree_node: u32, name: u32 | old_string: u32 = legacy::string(value);
            value: Value = Value::string(old_string)
        }
        /// Domain of a system tree node: 0 machine, 1 shared memory, 2 NUMA, 3 socket, …
        27 SystemTreeNodeDomain both { system_tree_node: u32, system_tree_domain: u8 }
        /// A property of a location group.
        28 LocationGroupProperty both {
            location_group: u32, name: u32 | old_string: u32 = legacy::string(value);
            value: Value = Value::string(old_string)
        }
        /// A property of a location.
        29 LocationProperty both {
            location: u64, name: u32 | old_string: u32 = legacy::string(value);
            value: Value = Value::string(old_string)
        }
        /// A dimension of a Cartesian topology.
        30 CartDimension both { reference: u32, name: u32, size: u32, cart_periodicity: u8 }
        /// A Cartesian topology.
        31 CartTopology both {
            reference: u32, name: u32, communicator: u32, cart_dimensions: List<'a, u32, u8>,
        }
        /// Coordinates of a rank in a topology.
        32 CartCoordinate both { cart_topology: u32, rank: u32, coordinates: List<'a, u32, u8> }
        /// A line of a source file.
        33 SourceCodeLocation both { reference: u32, file: u32, line_number: u32 }
        /// A node of the tree of calling contexts.
        34 CallingContext both { reference: u32, region: u32, source_code_location: u32, parent: u32 }
        /// A property of a calling context.
        35 CallingContextProperty both { calling_context: u32, name: u32, value: Value }
        /// A source of samples: every `period * base^exponent` seconds (mode 0) or events (mode 1).
        36 InterruptGenerator both {
            reference: u32, name: u32, interrupt_generator_mode: u8, base: u8, exponent: i64, period: u64,
        }
        /// A property of a file or directory.
        37 IoFileProperty both { io_file: u32, name: u32, value: Value }
        /// A file; `scope` is a system tree node.
        38 IoRegularFile both { reference: u32, name: u32, scope: u32 }
        /// A directory; shares its references with files.
        39 IoDirectory both { reference: u32, name: u32, scope: u32 }
        /// An open file, socket, …
        40 IoHandle both {
            reference: u32, name: u32, file: u32, io_paradigm: u8, io_handle_flags: u32, comm: u32, parent: u32,
        }
        /// State of a handle that was open before the program started.
        41 IoPreCreatedHandleState both { io_handle: u32, mode: u8, status_flags: u32 }
        /// A parameter of a node of a call tree.
        42 CallpathParameter both { callpath: u32, parameter: u32, value: Value }
        /// An inter-communicator; shares its references with communicators.
        43 InterComm both {
            reference: u32, name: u32, group_a: u32, group_b: u32, common_communicator: u32, flags: u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::ByteOrder;

    fn read(id: u8, body: &[u8]) -> Option<Definition<'_>> {
        let mut bytes = Bytes::new(body, 0, body.len(), ByteOrder::Little);
        Definition::read(id, &mut bytes, FileKind::GlobalDefinitions)
    }

    #[test]
    fn region_without_tail_is_known_by_its_code() {
        let Some(Definition::Region { canonical_name, region_role, paradigm, .. }) =
            read(15, &[1, 9, 1, 4, 0, 23, 0xff, 0, 0])
        else {
            panic!("no region")
        };
        assert_eq!((canonical_name, region_role, paradigm), (4, RegionRole::COLL_ONE2ALL, Paradigm::MPI));
    }

    #[test]
    fn half_a_tail_counts_as_none() {
        let flags = |tail: &[u8]| match read(15, &[&[0, 1, 4, 0, 22, 0xff, 0, 0][..], tail].concat()) {
            Some(Definition::Region { region_role, canonical_name, .. }) => (region_role.0, canonical_name),
            other => panic!("{other:?}"),
        };
        assert_eq!(flags(&[1, 8, 7, 4, 0]), (7, 8));
        assert_eq!(flags(&[1, 8, 7]), (RegionRole::BARRIER.0, 4));
    }

    #[test]
    fn absent_tails_have_the_defaults_of_the_format() {
        let name = 2;
        assert_eq!(
            read(22, &[0, 1, name, 0, 0xff]),
            Some(Definition::Comm { reference: 0, name: 2, group: 0, parent: UNDEFINED, flags: 0 })
        );
        assert_eq!(
            read(24, &[0, 1, name, 0]),
            Some(Definition::RmaWin { reference: 0, name: 2, comm: 0, flags: 1 }),
            "windows of old traces have their events"
        );
        assert_eq!(
            read(28, &[0, 1, name, 1, 7]),
            Some(Definition::LocationGroupProperty { location_group: 0, name: 2, value: Value::string(7) })
        );
    }

    #[test]
    fn numbers_mean_different_records_in_different_files() {
        assert_eq!(Definition::name_of(5, FileKind::GlobalDefinitions), "ClockProperties");
        assert_eq!(Definition::name_of(5, FileKind::LocalDefinitions), "MappingTable");
        assert_eq!(Definition::name_of(7, FileKind::LocalDefinitions), "unknown");
    }
}
