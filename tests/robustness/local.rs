//! Defects of local definitions: mapping tables and clocks.

use otf2::MappingType;
use replay::findings::Finding::{
    BackwardTime, ClockCollective, ClockMessage, FarTime, IncompleteCollective, OutsideMpi,
    UndefinedReference, UnreadableMapping,
};

use super::Make::Bytes;
use super::Outcome::{Findings, Harmless};
use super::make::{Files, patch, splice};
use super::{Row, Section};

/// Appends a record.
fn append(files: &mut Files, record: &[u8]) {
    let marks = 2;
    let at = files.local.len() - marks;
    splice(&mut files.local, at, 0, record);
}

/// Type of a mapping table of regions.
const REGIONS: u8 = MappingType::Region as u8;

/// A clock offset record.
fn clock_offset(time: u64, offset: i64) -> Vec<u8> {
    let body = [&time.to_le_bytes()[..], &[8], &offset.to_le_bytes(), &[0; 8]].concat();
    [&[6, body.len() as u8][..], &body].concat()
}

/// Replaces the clock offset records, which come last.
fn clock(files: &mut Files, offsets: &[(u64, i64)]) {
    files.local.truncate(files.local_definition("ClockOffset"));
    files.local.extend(offsets.iter().flat_map(|&(time, offset)| clock_offset(time, offset)));
    files.local.extend([2, 1]);
}

pub(super) const SECTION: Section = Section {
    title: "Local definitions",
    about: "`traces/N.def` says what the numbers and times of location N mean. If it cannot be read, its\n\
            events are not used, for they could mean anything.",
    rows: &[
        Row {
            defect: "the file ends within a mapping table",
            make: Bytes(|files| files.local.truncate(files.local_definition("MappingTable") + 4)),
            outcome: Findings(&[UnreadableMapping]),
        },
        Row {
            defect: "a mapping table is neither dense nor sparse",
            make: Bytes(|files| append(files, &[5, 5, REGIONS, 1, 1, 2, 0])),
            outcome: Findings(&[UnreadableMapping]),
        },
        Row {
            defect: "a mapping table maps an unknown kind of definitions (77)",
            make: Bytes(|files| append(files, &[5, 5, 77, 1, 1, 0, 0])),
            outcome: Harmless("tables of later versions are passed over"),
        },
        Row {
            defect: "there are two mapping tables of one kind",
            make: Bytes(|files| append(files, &[5, 5, REGIONS, 1, 1, 0, 0])),
            outcome: Harmless("the first one counts"),
        },
        Row {
            defect: "a mapping table is empty",
            make: Bytes(|files| append(files, &[5, 3, MappingType::IoFile as u8, 0, 0])),
            outcome: Harmless("numbers that are not in a table are global ones"),
        },
        Row {
            defect: "a mapping table leads to a region that is not defined",
            make: Bytes(|files| {
                let first = files.mapping(MappingType::Region) + 6;
                patch(&mut files.local, first, &[1, 200]);
            }),
            outcome: Findings(&[UndefinedReference, OutsideMpi]),
        },
        Row {
            defect: "a mapping table lacks a region that events refer to",
            make: Bytes(|files| {
                let table = files.mapping(MappingType::Region);
                let length = files.local[table + 1];
                // The last pair is the byte 0; the number of pairs is behind its size.
                files.local[table + 1] -= 1;
                files.local[table + 4] -= 1;
                splice(&mut files.local, table + 1 + usize::from(length), 1, &[]);
            }),
            outcome: Findings(&[IncompleteCollective]),
        },
        Row {
            defect: "a definition of another kind stands among the tables",
            make: Bytes(|files| append(files, &[10, 3, 1, 99, 0])),
            outcome: Harmless("it is passed over"),
        },
        Row {
            defect: "two comparisons of clocks are of one time",
            make: Bytes(|files| clock(files, &[(1000, 5), (1000, 5)])),
            outcome: Findings(&[UnreadableMapping]),
        },
        Row {
            defect: "comparisons of clocks are not in the order of time",
            make: Bytes(|files| clock(files, &[(1100, 5), (1000, 5)])),
            outcome: Findings(&[UnreadableMapping]),
        },
        Row {
            defect: "clocks were compared only once",
            make: Bytes(|files| clock(files, &[(1000, 5)])),
            outcome: Harmless("by the format that is no correction; what clocks then contradict is found"),
        },
        Row {
            defect: "clocks were never compared",
            make: Bytes(|files| clock(files, &[])),
            outcome: Harmless("times are taken as global ones"),
        },
        Row {
            defect: "a clock is far off (2⁶² ticks)",
            make: Bytes(|files| clock(files, &[(0, 1 << 62), (2000, 1 << 62)])),
            outcome: Findings(&[FarTime, ClockMessage, ClockCollective]),
        },
        Row {
            defect: "a clock drifts by 2⁶² ticks in one tick",
            make: Bytes(|files| clock(files, &[(1000, 0), (1001, 1 << 62)])),
            outcome: Findings(&[BackwardTime, FarTime, ClockMessage, ClockCollective]),
        },
        Row {
            defect: "a clock runs backwards",
            make: Bytes(|files| clock(files, &[(1000, 0), (1100, -200)])),
            outcome: Findings(&[BackwardTime, ClockMessage, ClockCollective]),
        },
        Row {
            defect: "the deviation of a comparison is not a number",
            make: Bytes(|files| {
                let at = files.local_definition("ClockOffset");
                let end = at + 2 + usize::from(files.local[at + 1]);
                patch(&mut files.local, end - 8, &f64::NAN.to_le_bytes());
            }),
            outcome: Harmless("it is not used"),
        },
        Row {
            defect: "a comparison of clocks is too short",
            make: Bytes(|files| {
                let at = files.local_definition("ClockOffset");
                patch(&mut files.local, at + 1, &[9]);
            }),
            outcome: Findings(&[UnreadableMapping]),
        },
    ],
};
