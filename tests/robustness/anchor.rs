//! Defects of the anchor file, field by field.

use std::fs;

use otf2::Anchor;
use std::path::Path;

use super::Make::{Bytes, Directory};
use super::Outcome::{Harmless, Message};
use super::make::{Files, patch, small, splice};
use super::{Row, Section};

const FILE: &str = "traces.otf2";

/// Changes a field of the anchor.
fn change(files: &mut Files, change: fn(&mut Anchor)) {
    let path = Path::new(FILE);
    let mut anchor = Anchor::parse(&files.anchor, path).unwrap();
    change(&mut anchor);
    files.anchor = anchor.encode(path).unwrap();
}

/// Offset of the first text: machine, creator, description.
const TEXTS: usize = 46;

pub(super) const SECTION: Section = Section {
    title: "The anchor file",
    about: "`traces.otf2` says how the other files are written. Without it nothing can be read.",
    rows: &[
        Row {
            defect: "there is none",
            make: Directory(|_| {}),
            outcome: Message("", "the directory has no traces.otf2"),
        },
        Row {
            defect: "there are two, and none is called `traces.otf2`",
            make: Directory(|directory| {
                small(directory);
                fs::copy(directory.join(FILE), directory.join("a.otf2")).unwrap();
                fs::rename(directory.join(FILE), directory.join("b.otf2")).unwrap();
            }),
            outcome: Message("", "not one OTF2 archive but 2"),
        },
        Row {
            defect: "it is empty",
            make: Bytes(|files| files.anchor.clear()),
            outcome: Message(FILE, "byte 0x0: the file ends within the anchor"),
        },
        Row {
            defect: "the first byte is not 3",
            make: Bytes(|files| patch(&mut files.anchor, 0, &[4])),
            outcome: Message(FILE, "byte 0x0: not an OTF2 anchor file: it begins with 04 42"),
        },
        Row {
            defect: "the byte order is neither of the two",
            make: Bytes(|files| patch(&mut files.anchor, 1, &[0x43])),
            outcome: Message(FILE, "it begins with 03 43"),
        },
        Row {
            defect: "the byte order is the other one",
            make: Bytes(|files| patch(&mut files.anchor, 1, &[0x23])),
            outcome: Message(FILE, "byte 0xc: event chunks of"),
        },
        Row {
            defect: "the magic word is another one",
            make: Bytes(|files| patch(&mut files.anchor, 2, b"OTF1")),
            outcome: Message(FILE, "4f 54 46 31 00, expected 03, 42 or 23, and \"OTF2\""),
        },
        Row {
            defect: "the anchor format is a later one (9)",
            make: Bytes(|files| patch(&mut files.anchor, 7, &[9])),
            outcome: Harmless("the fields that are known come first"),
        },
        Row {
            defect: "the anchor format is an earlier one than written (1)",
            make: Bytes(|files| patch(&mut files.anchor, 7, &[1])),
            outcome: Harmless("the fields that came later are not needed"),
        },
        Row {
            defect: "the trace format is a later one (3)",
            make: Bytes(|files| change(files, |anchor| anchor.trace_format = 3)),
            outcome: Message(FILE, "byte 0x8: trace format 3, expected at most 2"),
        },
        Row {
            defect: "the version of the library is 255.255.255",
            make: Bytes(|files| change(files, |anchor| anchor.version = [255; 3])),
            outcome: Harmless("it is not used, the trace format decides"),
        },
        Row {
            defect: "the size of event chunks is 0",
            make: Bytes(|files| change(files, |anchor| anchor.event_chunk_size = 0)),
            outcome: Message(FILE, "byte 0xc: event chunks of 0 bytes, expected"),
        },
        Row {
            defect: "the size of definition chunks is 1 TiB",
            make: Bytes(|files| change(files, |anchor| anchor.definition_chunk_size = 1 << 40)),
            outcome: Message(FILE, "byte 0x14: definition chunks of 1099511627776 bytes, expected"),
        },
        Row {
            defect: "it says that the files are in SION containers (substrate 2), and they are not",
            make: Bytes(|files| change(files, |anchor| anchor.substrate = 2)),
            outcome: Message("traces.srm", "there is no map of the locations in the SION containers"),
        },
        Row {
            defect: "the archive has no other files (substrate 3)",
            make: Bytes(|files| change(files, |anchor| anchor.substrate = 3)),
            outcome: Message(FILE, "byte 0x1c: the archive has an anchor only"),
        },
        Row {
            defect: "the substrate is unknown (9)",
            make: Bytes(|files| change(files, |anchor| anchor.substrate = 9)),
            outcome: Message(FILE, "byte 0x1c: unknown file substrate 9, expected 1"),
        },
        Row {
            defect: "the files are compressed (compression 2)",
            make: Bytes(|files| change(files, |anchor| anchor.compression = 2)),
            outcome: Message(FILE, "byte 0x1d: compression 2 (zlib), expected 1"),
        },
        Row {
            defect: "the compression is unknown (9)",
            make: Bytes(|files| change(files, |anchor| anchor.compression = 9)),
            outcome: Message(FILE, "byte 0x1d: unknown compression 9, expected 1"),
        },
        Row {
            defect: "the number of locations is 2⁶⁴ − 1",
            make: Bytes(|files| change(files, |anchor| anchor.locations = u64::MAX)),
            outcome: Harmless("the definitions say which locations there are"),
        },
        Row {
            defect: "the number of definitions is 2⁶⁴ − 1",
            make: Bytes(|files| change(files, |anchor| anchor.definitions = u64::MAX)),
            outcome: Harmless("the file of the definitions has an end mark"),
        },
        Row {
            defect: "the name of the machine is not UTF-8",
            make: Bytes(|files| splice(&mut files.anchor, TEXTS, 0, &[0xff, 0xfe])),
            outcome: Harmless("the name is not used"),
        },
        Row {
            defect: "the name of the creator has no end",
            make: Bytes(|files| {
                files.anchor[TEXTS + 1..].fill(b'x');
            }),
            outcome: Message(FILE, "the file ends within the anchor"),
        },
        Row {
            defect: "there are 2³² − 1 properties",
            make: Bytes(|files| {
                let count = TEXTS + "\0test\0\0".len();
                patch(&mut files.anchor, count, &[0xff; 4]);
            }),
            outcome: Message(FILE, "the file ends within the anchor"),
        },
        Row {
            defect: "it ends before the trace id",
            make: Bytes(|files| files.anchor.truncate(TEXTS + "\0test\0\0".len() + 4)),
            outcome: Message(FILE, "the file ends within the anchor"),
        },
        Row {
            defect: "it ends before the numbers of snapshots and thumbnails",
            make: Bytes(|files| files.anchor.truncate(files.anchor.len() - 3 - 8)),
            outcome: Message(FILE, "the file ends within the anchor"),
        },
        Row {
            defect: "the trace id, the numbers of snapshots and of thumbnails are all ones",
            make: Bytes(|files| {
                let at = files.anchor.len() - 3 - 16;
                patch(&mut files.anchor, at, &[0xff; 16]);
            }),
            outcome: Harmless("they are not used"),
        },
        Row {
            defect: "the end marks are missing",
            make: Bytes(|files| files.anchor.truncate(files.anchor.len() - 3)),
            outcome: Harmless("all fields are there"),
        },
    ],
};
