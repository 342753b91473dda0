//! Defects of global definitions: missing, repeated, or contradictory.

use model::{GroupType, LocationType, RegionRole, recording};
use otf2::{Definition, Value};
use replay::findings::Finding::{LostEvents, UndefinedClock, Unfinished};

use super::Make::{Definitions, Script};
use super::Outcome::{Findings, Harmless, Message};
use super::make::{CLOCK, comm, group, location, node, process, region};
use super::{Row, Section};

const FILE: &str = "traces.def";

/// Removes the definitions of some kinds.
fn remove(definitions: &mut Vec<Definition<'static>>, names: &[&str]) {
    definitions.retain(|definition| !names.contains(&definition.name()));
}

/// Gives a location a property that tells why.
fn say(definitions: &mut Vec<Definition<'static>>, property: &'static [u8]) {
    definitions.push(Definition::String { reference: 50, string: property });
    definitions.push(Definition::String { reference: 51, string: b"killed" });
    definitions.push(Definition::LocationProperty { location: 1, name: 50, value: Value::string(51) });
}

pub(super) const SECTION: Section = Section {
    title: "Global definitions",
    about: "`traces.def` says which processes, regions and communicators there are. The analysis needs all of\n\
            it.",
    rows: &[
        Row {
            defect: "the clock is not defined",
            make: Definitions(|definitions| remove(definitions, &["ClockProperties"])),
            outcome: Findings(&[UndefinedClock]),
        },
        Row {
            defect: "the clock is defined twice, the same",
            make: Definitions(|definitions| definitions.push(CLOCK)),
            outcome: Harmless("both say the same"),
        },
        Row {
            defect: "the clock is defined twice, differently",
            make: Definitions(|definitions| {
                let Definition::ClockProperties { global_offset, trace_length, realtime_timestamp, .. } =
                    CLOCK
                else {
                    return;
                };
                definitions.push(Definition::ClockProperties {
                    timer_resolution: 7,
                    global_offset,
                    trace_length,
                    realtime_timestamp,
                });
            }),
            outcome: Message(FILE, "ClockProperties record: differs from an earlier one"),
        },
        Row {
            defect: "the clock has 0 ticks per second",
            make: Definitions(|definitions| {
                definitions[0] = Definition::ClockProperties {
                    timer_resolution: 0,
                    global_offset: 0,
                    trace_length: 0,
                    realtime_timestamp: 0,
                };
            }),
            outcome: Message(FILE, "ClockProperties record: a resolution of 0 ticks per second"),
        },
        Row {
            defect: "there is no definition at all",
            make: Definitions(Vec::clear),
            outcome: Message(FILE, "the archive defines no location"),
        },
        Row {
            defect: "no location is defined",
            make: Definitions(|definitions| {
                remove(definitions, &["Location", "Group", "Comm"]);
            }),
            outcome: Message(FILE, "the archive defines no location"),
        },
        Row {
            defect: "no region is defined",
            make: Definitions(|definitions| remove(definitions, &["Region"])),
            outcome: Harmless("there are no events that need one"),
        },
        Row {
            defect: "no group and no communicator is defined",
            make: Definitions(|definitions| remove(definitions, &["Group", "Comm"])),
            outcome: Harmless("the processes have no rank"),
        },
        Row {
            defect: "no event says which program runs",
            make: Script("rank 0\n 0 > main ; 9 <"),
            outcome: Harmless("the root of the call tree is called PROGRAM"),
        },
        Row {
            defect: "a process has no location",
            make: Definitions(|definitions| definitions.push(process(7, 0))),
            outcome: Harmless("it has no events"),
        },
        Row {
            defect: "the recorder says that it has lost events of a location",
            make: Definitions(|definitions| say(definitions, recording::LOST.as_bytes())),
            outcome: Findings(&[LostEvents]),
        },
        Row {
            defect: "the recorder says that a process has no end",
            make: Definitions(|definitions| say(definitions, recording::UNFINISHED.as_bytes())),
            outcome: Findings(&[Unfinished]),
        },
        Row {
            defect: "a string is defined twice, the same",
            make: Definitions(|definitions| {
                definitions.push(Definition::String { reference: 1, string: b"work" })
            }),
            outcome: Harmless("both say the same"),
        },
        Row {
            defect: "a string is defined twice, differently",
            make: Definitions(|definitions| {
                definitions.push(Definition::String { reference: 1, string: b"rest" })
            }),
            outcome: Message(FILE, "String record: 1 is defined a second time and differently"),
        },
        Row {
            defect: "a region is defined twice, differently",
            make: Definitions(|definitions| definitions.push(region(0, 0))),
            outcome: Message(FILE, "Region record: 0 is defined a second time and differently"),
        },
        Row {
            defect: "a location is defined twice, in two processes",
            make: Definitions(|definitions| definitions.push(location(0, 1))),
            outcome: Message(FILE, "Location record: 0 is defined a second time and differently"),
        },
        Row {
            defect: "the kind of a location is unknown (99)",
            make: Definitions(|definitions| {
                definitions.push(Definition::Location {
                    reference: 9,
                    name: 1,
                    location_type: LocationType(99),
                    number_of_events: 0,
                    location_group: 0,
                });
            }),
            outcome: Harmless("it counts as neither thread nor stream"),
        },
        Row {
            defect: "the role of a region is unknown (200)",
            make: Definitions(|definitions| {
                let mut odd = region(9, 1);
                if let Definition::Region { region_role, .. } = &mut odd {
                    *region_role = RegionRole(200);
                }
                definitions.push(odd);
            }),
            outcome: Harmless("its time is time of the program"),
        },
        Row {
            defect: "a group names a rank that MPI does not have",
            make: Definitions(|definitions| {
                definitions.extend([group(5, GroupType::COMM_GROUP, &[0, 9]), comm(5, 5, 0)]);
            }),
            outcome: Harmless("it is of a process outside of the trace"),
        },
        Row {
            defect: "the list of MPI's ranks names a location that is not defined",
            make: Definitions(|definitions| {
                remove(definitions, &["Group", "Comm"]);
                definitions.extend([
                    group(0, GroupType::COMM_LOCATIONS, &[0, 77]),
                    group(1, GroupType::COMM_GROUP, &[0, 1]),
                    comm(0, 1, u32::MAX),
                ]);
            }),
            outcome: Message(FILE, "its group names location 77, expected one that is defined"),
        },
        Row {
            defect: "no group lists MPI's ranks",
            make: Definitions(|definitions| {
                remove(definitions, &["Group", "Comm"]);
                definitions.extend([group(1, GroupType::COMM_GROUP, &[0, 1]), comm(0, 1, u32::MAX)]);
            }),
            outcome: Message(FILE, "no group lists the locations of MPI's ranks"),
        },
        Row {
            defect: "one location is two ranks",
            make: Definitions(|definitions| {
                remove(definitions, &["Group", "Comm"]);
                definitions.extend([
                    group(0, GroupType::COMM_LOCATIONS, &[0, 0]),
                    group(1, GroupType::COMM_GROUP, &[0, 1]),
                    comm(0, 1, u32::MAX),
                ]);
            }),
            outcome: Harmless("the lower rank counts"),
        },
        Row {
            defect: "a rank is twice in a group",
            make: Definitions(|definitions| {
                definitions.extend([group(5, GroupType::COMM_GROUP, &[0, 0]), comm(5, 5, 0)]);
            }),
            outcome: Harmless("there are no events that use it"),
        },
        Row {
            defect: "names add up to more than 24 times the file",
            make: Definitions(|definitions| {
                static LONG: [u8; 200_000] = [b'x'; 200_000];
                definitions.push(Definition::String { reference: 50, string: &LONG });
                for reference in 10..100 {
                    definitions.push(region(reference, 50));
                }
            }),
            outcome: Message(FILE, "names add up to more than 24 times the file"),
        },
        Row {
            defect: "the system tree has two roots",
            make: Definitions(|definitions| definitions.push(node(8, u32::MAX))),
            outcome: Harmless("the report has both"),
        },
    ],
};
