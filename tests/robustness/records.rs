//! Defects of single records, byte by byte.

use std::path::Path;

use replay::findings::Finding::{DamagedEvents, UnreadableMapping};

use super::Make::{Bytes, Directory};
use super::Outcome::{Findings, Harmless, Message};
use super::make::{SMALL_CHUNK, patch, splice, two_chunks};
use super::{Row, Section, make};

const FILE: &str = "traces.def";

/// Encodes a length in the long form.
fn long(length: u64) -> Vec<u8> {
    [&[0xff][..], &length.to_le_bytes()].concat()
}

/// Encodes a number of eight bytes as a field.
fn number(value: u64) -> Vec<u8> {
    [&[8][..], &value.to_le_bytes()].concat()
}

/// Inserts a record before the one at an offset.
fn insert(file: &mut Vec<u8>, at: usize, record: &[u8]) {
    splice(file, at, 0, record);
}

/// Writes an archive whose last record of a chunk claims to be longer than the rest of the chunk.
fn longer_than_chunk(directory: &Path) {
    two_chunks(directory, |events| {
        let mut offsets = make::events(events, SMALL_CHUNK as u64).into_iter().map(|event| event.1);
        let last = offsets.rfind(|&offset| offset < SMALL_CHUNK).unwrap();
        patch(events, last, &[200, 100]);
    });
}

pub(super) const SECTION: Section = Section {
    title: "Records",
    about: "A record has a number that says its kind, for most kinds its length, and fields. Definition files\n\
            and event files are read by the same rules.",
    rows: &[
        Row {
            defect: "the kind is unknown (200), global definitions",
            make: Bytes(|files| {
                let at = files.definition("Region");
                insert(&mut files.definitions, at, &[200, 3, 1, 2, 3]);
            }),
            outcome: Harmless("records of later versions are passed over"),
        },
        Row {
            defect: "the kind is unknown (200), events",
            make: Bytes(|files| {
                // Replaces an event, so that the number of events stays as announced.
                let at = files.event("MpiCollectiveBegin");
                patch(&mut files.events, at, &[200]);
            }),
            outcome: Harmless("records of later versions are passed over"),
        },
        Row {
            defect: "the number is that of a chunk header (3)",
            make: Bytes(|files| {
                let at = files.definition("Region");
                patch(&mut files.definitions, at, &[3]);
            }),
            outcome: Message(FILE, "a record cannot have the number 3"),
        },
        Row {
            defect: "the number is that of the end of a buffer (1)",
            make: Bytes(|files| {
                let at = files.event("MpiRecv");
                patch(&mut files.events, at, &[1]);
            }),
            outcome: Findings(&[DamagedEvents]),
        },
        Row {
            defect: "the length is too short for the fields, global definitions",
            make: Bytes(|files| {
                let at = files.definition("Location");
                patch(&mut files.definitions, at + 1, &[2]);
            }),
            outcome: Message(FILE, "Location record: the field at byte"),
        },
        Row {
            defect: "the length is too short for the fields, local definitions",
            make: Bytes(|files| {
                let at = files.local_definition("MappingTable");
                patch(&mut files.local, at + 1, &[2]);
            }),
            outcome: Findings(&[UnreadableMapping]),
        },
        Row {
            defect: "the length is too short for the fields, events",
            make: Bytes(|files| {
                let at = files.event("MpiRecv");
                patch(&mut files.events, at + 1, &[1]);
            }),
            outcome: Findings(&[DamagedEvents]),
        },
        Row {
            defect: "the length is larger than the fields, and bytes follow",
            make: Bytes(|files| {
                let at = files.event("MpiRecv");
                let length = files.events[at + 1];
                splice(&mut files.events, at + 1, 1, &[length + 2]);
                splice(&mut files.events, at + 2 + usize::from(length), 0, &[7, 7]);
            }),
            outcome: Harmless("fields of later versions are passed over"),
        },
        Row {
            defect: "the length takes in the records behind it",
            make: Bytes(|files| {
                let at = files.event("MpiRecv");
                files.events[at + 1] += 4;
            }),
            outcome: Findings(&[DamagedEvents]),
        },
        Row {
            defect: "the length goes beyond the end of the file",
            make: Bytes(|files| {
                let at = files.event("MpiRecv");
                patch(&mut files.events, at + 1, &[254]);
            }),
            outcome: Findings(&[DamagedEvents]),
        },
        Row {
            defect: "the length goes beyond the end of the chunk",
            make: Directory(longer_than_chunk),
            outcome: Findings(&[DamagedEvents]),
        },
        Row {
            defect: "the length is 2⁶³",
            make: Bytes(|files| {
                let at = files.definition("Region");
                splice(&mut files.definitions, at + 1, 1, &long(1 << 63));
            }),
            outcome: Message(FILE, "the file ends within a record (Region)"),
        },
        Row {
            defect: "the length is a long one (FF), and its eight bytes are cut",
            make: Bytes(|files| {
                let at = files.definition("Comm");
                files.definitions.truncate(at + 1);
                files.definitions.extend([0xff, 1, 0]);
            }),
            outcome: Message(FILE, "the file ends within a record (Comm)"),
        },
        Row {
            defect: "a number of four bytes has a size of five",
            make: Bytes(|files| {
                let at = files.event("Enter");
                splice(&mut files.events, at + 1, 1, &[5]);
            }),
            outcome: Findings(&[DamagedEvents]),
        },
        Row {
            defect: "a number is larger than what is left of its record",
            make: Bytes(|files| {
                let at = files.definition("SystemTreeNode");
                let last = at + 1 + usize::from(files.definitions[at + 1]);
                patch(&mut files.definitions, last, &[4]);
            }),
            outcome: Message(FILE, "SystemTreeNode record: the field at byte"),
        },
        Row {
            defect: "a string has no end",
            make: Bytes(|files| {
                let at = files.definition("String");
                let last = at + 1 + usize::from(files.definitions[at + 1]);
                patch(&mut files.definitions, last, b"x");
            }),
            outcome: Message(FILE, "String record: the field at byte"),
        },
        Row {
            defect: "a string is not UTF-8",
            make: Bytes(|files| {
                let at = files.definition("Region");
                insert(&mut files.definitions, at, &[10, 5, 1, 99, 0xff, 0xfe, 0]);
            }),
            outcome: Harmless("what cannot be read is shown as \u{fffd}"),
        },
        Row {
            defect: "a group counts 2⁶³ members",
            make: Bytes(|files| {
                let at = files.definition("Region");
                let body = [&[1, 99, 0, 1][..], &number(1 << 63), &[0; 8]].concat();
                insert(&mut files.definitions, at, &[&[18, body.len() as u8][..], &body].concat());
            }),
            outcome: Message(FILE, "Group record: the field at byte"),
        },
        Row {
            defect: "a mapping table counts 2⁶⁴ − 1 pairs",
            make: Bytes(|files| {
                let at = files.local_definition("MappingTable");
                insert(&mut files.local, at, &[5, 4, 3, 0xff, 0, 0]);
            }),
            outcome: Findings(&[UnreadableMapping]),
        },
        Row {
            defect: "an attribute list counts 200 attributes",
            make: Bytes(|files| {
                let at = files.event("MpiRecv");
                insert(&mut files.events, at, &[6, 3, 1, 200, 0]);
            }),
            outcome: Findings(&[DamagedEvents]),
        },
        Row {
            defect: "a metric counts 255 values",
            make: Bytes(|files| {
                let at = files.event("MpiRecv");
                insert(&mut files.events, at, &[31, 3, 0, 255, 0]);
            }),
            outcome: Findings(&[DamagedEvents]),
        },
        Row {
            defect: "a program counts 2³² − 2 arguments",
            make: Bytes(|files| {
                let at = files.event("MpiRecv");
                insert(&mut files.events, at, &[83, 7, 1, 1, 4, 0xfe, 0xff, 0xff, 0xff]);
            }),
            outcome: Findings(&[DamagedEvents]),
        },
        Row {
            defect: "a time stamp is cut",
            make: Bytes(|files| {
                let at = files.event("MpiRecv");
                files.events.truncate(at);
                files.events.extend([5, 1, 2, 3]);
            }),
            outcome: Findings(&[DamagedEvents]),
        },
        Row {
            defect: "there are two time stamps, one behind the other",
            make: Bytes(|files| {
                let at = files.event("MpiRecv") - 9;
                insert(&mut files.events, at, &[5, 1, 0, 0, 0, 0, 0, 0, 0]);
            }),
            outcome: Harmless("the last one counts"),
        },
    ],
};
