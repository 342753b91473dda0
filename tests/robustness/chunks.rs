//! Defects of whole files and of their chunks.

use std::fs;
use std::path::Path;

use otf2::Anchor;
use replay::findings::Finding::{
    BackwardTime, ClockCollective, ClockMessage, DamagedEvents, EventCount, MissingEvents, UnreadableMapping,
};

use super::Make::{Bytes, Directory, Script};
use super::Outcome::{Findings, Harmless, Message};
use super::make::{SMALL_CHUNK, patch, small, two_chunks};
use super::{Row, Section};

const DEFINITIONS: &str = "traces.def";
const EVENTS: &str = "traces/1.evt";

/// Length of the header of a chunk.
const HEADER: usize = 18;

/// Replaces a file by a directory.
fn replace_by_directory(directory: &Path, file: &str) {
    small(directory);
    fs::remove_file(directory.join(file)).unwrap();
    fs::create_dir(directory.join(file)).unwrap();
}

/// Removes a file.
fn remove(directory: &Path, file: &str) {
    small(directory);
    fs::remove_file(directory.join(file)).unwrap();
}

pub(super) const SECTION: Section = Section {
    title: "Files and chunks",
    about: "All other files consist of chunks of equal size, each with a header: a mark, the byte order, and\n\
            the numbers of its first and last event. An end mark stands behind the last record.",
    rows: &[
        Row {
            defect: "the global definitions are missing",
            make: Directory(|directory| remove(directory, DEFINITIONS)),
            outcome: Message(DEFINITIONS, "there are no global definitions"),
        },
        Row {
            defect: "the global definitions are a directory",
            make: Directory(|directory| replace_by_directory(directory, DEFINITIONS)),
            outcome: Message(DEFINITIONS, "it is not a regular file"),
        },
        Row {
            defect: "the global definitions are empty",
            make: Bytes(|files| files.definitions.clear()),
            outcome: Message(DEFINITIONS, "byte 0x0: the file ends within"),
        },
        Row {
            defect: "the local definitions of one location are missing",
            make: Directory(|directory| remove(directory, "traces/0.def")),
            outcome: Findings(&[UnreadableMapping]),
        },
        Row {
            defect: "local definitions are empty",
            make: Bytes(|files| files.local.clear()),
            outcome: Findings(&[UnreadableMapping]),
        },
        Row {
            defect: "an event file is missing",
            make: Directory(|directory| remove(directory, EVENTS)),
            outcome: Findings(&[MissingEvents]),
        },
        Row {
            defect: "the event file of a main thread is missing, and the other threads of its process have events",
            make: Script(
                "program prog\nrank 0 missing\n 0 > main ; 9 <\nrank 0 thread 1\n 2 > work ; 5 <\n\
                 rank 1\n 0 > main ; 9 <",
            ),
            outcome: Findings(&[MissingEvents]),
        },
        Row {
            defect: "a location has no event file, and no events by its definition",
            make: Script("program prog\nrank 0\n 0 > main ; 9 <\nrank 0 thread 1 missing"),
            outcome: Harmless("nothing is missing; the location takes part in no mean"),
        },
        Row {
            defect: "a location has no event file, and no definition counts events",
            make: Script("uncounted\nprogram prog\nrank 0\n 0 > main ; 9 <\nrank 0 thread 1 missing"),
            outcome: Findings(&[MissingEvents]),
        },
        Row {
            defect: "an event file is a directory",
            make: Directory(|directory| replace_by_directory(directory, EVENTS)),
            outcome: Message(EVENTS, "it is not a regular file"),
        },
        Row {
            defect: "an event file is empty",
            make: Bytes(|files| files.events.clear()),
            outcome: Findings(&[DamagedEvents]),
        },
        Row {
            defect: "an event file is full of zeros",
            make: Bytes(|files| files.events.fill(0)),
            outcome: Findings(&[DamagedEvents]),
        },
        Row {
            defect: "an event file is one of local definitions",
            make: Bytes(|files| files.events = files.local.clone()),
            outcome: Findings(&[DamagedEvents]),
        },
        Row {
            defect: "the mark of the first chunk is wrong, global definitions",
            make: Bytes(|files| patch(&mut files.definitions, 0, &[2])),
            outcome: Message(DEFINITIONS, "byte 0x0: no chunk header: found 02 42, expected 03 42 or 03 23"),
        },
        Row {
            defect: "the mark of the first chunk is wrong, local definitions",
            make: Bytes(|files| patch(&mut files.local, 0, &[2])),
            outcome: Findings(&[UnreadableMapping]),
        },
        Row {
            defect: "the mark of the first chunk is wrong, events",
            make: Bytes(|files| patch(&mut files.events, 0, &[2])),
            outcome: Findings(&[DamagedEvents]),
        },
        Row {
            defect: "the byte order is neither of the two, global definitions",
            make: Bytes(|files| patch(&mut files.definitions, 1, &[0x24])),
            outcome: Message(DEFINITIONS, "byte 0x0: no chunk header: found 03 24, expected 03 42 or 03 23"),
        },
        Row {
            defect: "the byte order is the other one, events",
            make: Bytes(|files| patch(&mut files.events, 1, &[0x23])),
            outcome: Findings(&[BackwardTime, ClockMessage, ClockCollective]),
        },
        Row {
            defect: "the numbers of the first and the last event are wrong",
            make: Bytes(|files| patch(&mut files.events, 2, &[0xff; 16])),
            outcome: Harmless("events are counted as they are read"),
        },
        Row {
            defect: "a file ends within the header of its first chunk",
            make: Bytes(|files| files.definitions.truncate(HEADER - 1)),
            outcome: Message(DEFINITIONS, "byte 0x0: the file ends within a chunk header"),
        },
        Row {
            defect: "a file ends without end mark, behind a whole record",
            make: Bytes(|files| files.definitions.truncate(files.definitions.len() - 2)),
            outcome: Message(DEFINITIONS, "the file ends within a chunk without end mark"),
        },
        Row {
            defect: "the end mark stands in the middle",
            make: Bytes(|files| {
                let at = files.event("MpiRecv");
                patch(&mut files.events, at, &[2]);
            }),
            outcome: Findings(&[EventCount]),
        },
        Row {
            defect: "there are bytes behind the end mark",
            make: Bytes(|files| files.events.extend([0xff; 64])),
            outcome: Harmless("nothing is read behind it"),
        },
        Row {
            defect: "a file ends with its first chunk, the second is missing",
            make: Directory(|directory| two_chunks(directory, |events| events.truncate(SMALL_CHUNK))),
            outcome: Findings(&[DamagedEvents]),
        },
        Row {
            defect: "the header of the second chunk is damaged",
            make: Directory(|directory| two_chunks(directory, |events| events[SMALL_CHUNK + 1] = 0)),
            outcome: Findings(&[DamagedEvents]),
        },
        Row {
            defect: "the bytes between the last record of a chunk and the next chunk are not zero",
            make: Directory(|directory| two_chunks(directory, |events| events[SMALL_CHUNK - 1] = 0xee)),
            outcome: Harmless("they are not read"),
        },
        Row {
            defect: "the chunks are smaller than the anchor says",
            make: Directory(|directory| {
                two_chunks(directory, |_| {});
                let path = directory.join("traces.otf2");
                let mut anchor = Anchor::parse(&fs::read(&path).unwrap(), &path).unwrap();
                anchor.event_chunk_size *= 4;
                fs::write(&path, anchor.encode(&path).unwrap()).unwrap();
            }),
            outcome: Findings(&[DamagedEvents]),
        },
        Row {
            defect: "the chunks are larger than the anchor says",
            make: Directory(|directory| {
                two_chunks(directory, |events| events.drain(SMALL_CHUNK - 12..SMALL_CHUNK).for_each(drop));
            }),
            outcome: Findings(&[DamagedEvents]),
        },
    ],
};
