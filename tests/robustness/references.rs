//! Defects of references: global definitions that refer to undefined ones.

use otf2::{Definition, UNDEFINED};

use super::Make::Definitions;
use super::Outcome::Message;
use super::make::{comm, context, location, node, process, region, topology};
use super::{Row, Section};

const FILE: &str = "traces.def";

/// A reference without definition.
const NOBODY: u32 = 99;

pub(super) const SECTION: Section = Section {
    title: "References between definitions",
    about: "What a definition refers to has to stand before it; so parents precede children, and there are no\n\
            circles.",
    rows: &[
        Row {
            defect: "a region has a name that is not defined",
            make: Definitions(|definitions| definitions.push(region(9, NOBODY))),
            outcome: Message(FILE, "Region record: refers to string 99, which is not defined before it"),
        },
        Row {
            defect: "a node of the system tree has an unknown parent",
            make: Definitions(|definitions| definitions.push(node(9, NOBODY))),
            outcome: Message(FILE, "SystemTreeNode record: refers to parent 99"),
        },
        Row {
            defect: "a node of the system tree is its own parent",
            make: Definitions(|definitions| definitions.push(node(9, 9))),
            outcome: Message(
                FILE,
                "SystemTreeNode record: refers to parent 9, which is not defined before it",
            ),
        },
        Row {
            defect: "two nodes of the system tree are parents of each other",
            make: Definitions(|definitions| definitions.extend([node(8, 9), node(9, 8)])),
            outcome: Message(
                FILE,
                "SystemTreeNode record: refers to parent 9, which is not defined before it",
            ),
        },
        Row {
            defect: "a process is in an unknown node of the system tree",
            make: Definitions(|definitions| definitions.push(process(9, NOBODY))),
            outcome: Message(FILE, "LocationGroup record: refers to system tree node 99"),
        },
        Row {
            defect: "a process was made by an unknown one",
            make: Definitions(|definitions| {
                let mut made = process(9, 0);
                if let Definition::LocationGroup { creating_location_group, .. } = &mut made {
                    *creating_location_group = NOBODY;
                }
                definitions.push(made);
            }),
            outcome: Message(FILE, "LocationGroup record: refers to creating location group 99"),
        },
        Row {
            defect: "a location is in an unknown process",
            make: Definitions(|definitions| definitions.push(location(9, NOBODY))),
            outcome: Message(FILE, "Location record: refers to location group 99"),
        },
        Row {
            defect: "a location is in no process",
            make: Definitions(|definitions| definitions.push(location(9, UNDEFINED))),
            outcome: Message(FILE, "Location record: has no location group, expected one"),
        },
        Row {
            defect: "a communicator has an unknown group",
            make: Definitions(|definitions| definitions.push(comm(9, NOBODY, 0))),
            outcome: Message(FILE, "Comm record: refers to group 99"),
        },
        Row {
            defect: "a communicator has an unknown parent",
            make: Definitions(|definitions| definitions.push(comm(9, 1, NOBODY))),
            outcome: Message(FILE, "Comm record: refers to parent 99"),
        },
        Row {
            defect: "a side of an inter-communicator has an unknown group",
            make: Definitions(|definitions| {
                definitions.push(Definition::InterComm {
                    reference: 9,
                    name: 1,
                    group_a: 1,
                    group_b: NOBODY,
                    common_communicator: 0,
                    flags: 0,
                });
            }),
            outcome: Message(FILE, "InterComm record: refers to group 99"),
        },
        Row {
            defect: "a calling context has an unknown region",
            make: Definitions(|definitions| definitions.push(context(0, NOBODY, UNDEFINED, UNDEFINED))),
            outcome: Message(FILE, "CallingContext record: refers to region 99"),
        },
        Row {
            defect: "a calling context has an unknown line",
            make: Definitions(|definitions| definitions.push(context(0, 0, NOBODY, UNDEFINED))),
            outcome: Message(FILE, "CallingContext record: refers to source code location 99"),
        },
        Row {
            defect: "a calling context has an unknown parent",
            make: Definitions(|definitions| definitions.push(context(0, 0, UNDEFINED, NOBODY))),
            outcome: Message(FILE, "CallingContext record: refers to parent 99"),
        },
        Row {
            defect: "a line is of a file whose name is not defined",
            make: Definitions(|definitions| {
                definitions.push(Definition::SourceCodeLocation {
                    reference: 0,
                    file: NOBODY,
                    line_number: 1,
                });
            }),
            outcome: Message(FILE, "SourceCodeLocation record: refers to string 99"),
        },
        Row {
            defect: "a topology is of an unknown communicator",
            make: Definitions(|definitions| definitions.push(topology(0, NOBODY, &[]))),
            outcome: Message(FILE, "CartTopology record: refers to communicator 99"),
        },
        Row {
            defect: "a topology has an unknown dimension",
            make: Definitions(|definitions| definitions.push(topology(0, 0, &[NOBODY]))),
            outcome: Message(FILE, "CartTopology record: refers to dimension 99"),
        },
        Row {
            defect: "a coordinate is of an unknown topology",
            make: Definitions(|definitions| {
                let coordinates = [0].as_slice().into();
                definitions.push(Definition::CartCoordinate { cart_topology: NOBODY, rank: 0, coordinates });
            }),
            outcome: Message(FILE, "CartCoordinate record: refers to topology 99"),
        },
        Row {
            defect: "a coordinate has more numbers than its topology dimensions",
            make: Definitions(|definitions| {
                let coordinates = [0, 0].as_slice().into();
                definitions.extend([
                    topology(0, 0, &[]),
                    Definition::CartCoordinate { cart_topology: 0, rank: 0, coordinates },
                ]);
            }),
            outcome: Message(FILE, "CartCoordinate record: 2 coordinates, expected 0"),
        },
    ],
};
