//! Defects of SION containers, and of the map of the locations in them.

use std::fs;
use std::path::Path;

use replay::findings::Finding::{MissingEvents, MissingRelease, UnreadableMapping};

use super::Make::Directory;
use super::Outcome::{Findings, Harmless, Message};
use super::make::patch;
use super::{Row, Section};
use crate::support::in_containers;

const MAP: &str = "traces.srm";
const EVENTS: &str = "traces/0.evt";
const DEFINITIONS: &str = "traces/0.def";

/// Offsets in the container of events: its first chunk, and its second block of metadata.
const FIRST: usize = 1280;
const SECOND: usize = FIRST + 7 * 1024;

/// An archive in containers, with other bytes in a file.
fn change(directory: &Path, file: &str, change: fn(&mut Vec<u8>)) {
    in_containers(directory);
    let path = directory.join(file);
    let mut bytes = fs::read(&path).unwrap();
    change(&mut bytes);
    fs::write(path, bytes).unwrap();
}

/// An archive in containers without a file.
fn remove(directory: &Path, file: &str) {
    in_containers(directory);
    fs::remove_file(directory.join(file)).unwrap();
}

pub(super) const SECTION: Section = Section {
    title: "SION containers",
    about: "Locations can share files, their containers: `traces/0.evt`, `traces/0.def` and so on. The map\n\
            `traces.srm` says in which each location is.",
    rows: &[
        Row {
            defect: "the map is missing",
            make: Directory(|directory| remove(directory, MAP)),
            outcome: Message(MAP, "there is no map of the locations in the SION containers"),
        },
        Row {
            defect: "the map is cut",
            make: Directory(|directory| change(directory, MAP, |map| map.truncate(60))),
            outcome: Message(MAP, "the file ends within"),
        },
        Row {
            defect: "the map names a location twice",
            make: Directory(|directory| change(directory, MAP, |map| patch(map, 56, &[0]))),
            outcome: Message(MAP, "byte 0x37: location 0 of rank 1, which is named for rank 0 before"),
        },
        Row {
            defect: "the map has an unknown record",
            make: Directory(|directory| change(directory, MAP, |map| patch(map, 25, &[99]))),
            outcome: Message(MAP, "byte 0x19: a record of kind 99, expected 11 (Rank)"),
        },
        Row {
            defect: "the map names another location instead of one",
            make: Directory(|directory| change(directory, MAP, |map| patch(map, 57, &[77]))),
            outcome: Findings(&[MissingEvents, MissingRelease]),
        },
        Row {
            defect: "the map names tasks that a container does not have",
            make: Directory(|directory| change(directory, MAP, |map| patch(map, 52, &[5]))),
            outcome: Message(EVENTS, "byte 0x18: 2 tasks, and the map of locations names task 5"),
        },
        Row {
            defect: "the container of the events is missing",
            make: Directory(|directory| remove(directory, EVENTS)),
            outcome: Findings(&[MissingEvents]),
        },
        Row {
            defect: "the container of the events is something else",
            make: Directory(|directory| change(directory, EVENTS, |file| patch(file, 0, b"SION"))),
            outcome: Message(EVENTS, "byte 0x0: no SION container"),
        },
        Row {
            defect: "the container of the events is cut",
            make: Directory(|directory| change(directory, EVENTS, |file| file.truncate(5000))),
            outcome: Message(EVENTS, "byte 0x454: 7 chunks at most, listed from byte 0x2100 on"),
        },
        Row {
            defect: "the container of the events was not closed",
            make: Directory(|directory| change(directory, EVENTS, |file| patch(file, 1108, &[0; 12]))),
            outcome: Message(EVENTS, "the file ends within a SION container"),
        },
        Row {
            defect: "the container has an earlier format (4)",
            make: Directory(|directory| change(directory, EVENTS, |file| patch(file, 16, &[4]))),
            outcome: Message(EVENTS, "byte 0x10: format 4 of SION containers, expected 5"),
        },
        Row {
            defect: "the container was written by another version of SIONlib (255.255)",
            make: Directory(|directory| change(directory, EVENTS, |file| patch(file, 8, &[255; 2]))),
            outcome: Harmless("it is not used, the format decides"),
        },
        Row {
            defect: "the container has no keys",
            make: Directory(|directory| change(directory, EVENTS, |file| patch(file, 40, &[50]))),
            outcome: Message(EVENTS, "byte 0x24: keys of kind 50 in a SION container, expected 51"),
        },
        Row {
            defect: "the container has 2³² − 1 tasks",
            make: Directory(|directory| change(directory, EVENTS, |file| patch(file, 24, &[255; 4]))),
            outcome: Message(EVENTS, "byte 0x18: 4294967295 tasks, which a file of"),
        },
        Row {
            defect: "a chunk has more bytes than there is room for",
            make: Directory(|directory| change(directory, EVENTS, |file| patch(file, SECOND + 16, &[1, 3]))),
            outcome: Message(EVENTS, "byte 0x2110: 769 bytes in a chunk of 512"),
        },
        Row {
            defect: "a piece of a location is longer than what is left",
            make: Directory(|directory| change(directory, EVENTS, |file| patch(file, FIRST + 8, &[255; 8]))),
            outcome: Message(EVENTS, "byte 0x500: 18446744073709551615 bytes for key 0, expected 1 to 3408"),
        },
        Row {
            defect: "the container of the local definitions is something else",
            make: Directory(|directory| change(directory, DEFINITIONS, |file| patch(file, 0, b"SION"))),
            outcome: Findings(&[UnreadableMapping]),
        },
    ],
};
