//! Obstacles to writing the report.

use std::fs;
use std::path::Path;

use replay::Semantics;

use super::Make::Directory;
use super::Outcome::{Harmless, Message};
use super::make::small;
use super::{Row, Section};
use crate::support::analyze;

const FILE: &str = "trace.cubex";
const STATISTICS: &str = "trace.stat";

/// Writes a small archive with its report, which is changed.
fn with_report(directory: &Path, change: fn(Vec<u8>) -> Vec<u8>) {
    small(directory);
    let report = directory.join(FILE);
    analyze(directory, &report, Semantics::Corrected).unwrap();
    fs::write(&report, change(fs::read(&report).unwrap())).unwrap();
}

pub(super) const SECTION: Section = Section {
    title: "The report",
    about: "Before the work begins, the analyzer looks at what has the name of the report. It replaces its own\n\
            reports only, unless `--force` is given. An older report stays until the new one is complete.",
    rows: &[
        Row {
            defect: "there is a report of this analyzer",
            make: Directory(|directory| with_report(directory, |report| report)),
            outcome: Harmless("it is replaced"),
        },
        Row {
            defect: "there is a report of another program",
            make: Directory(|directory| {
                with_report(directory, |report| {
                    // Replaces the creator's name by another one of equal length.
                    let mut report = report;
                    let own = b"value=\"Replay";
                    let at = report.windows(own.len()).position(|bytes| bytes == own).unwrap();
                    report[at..at + own.len()].copy_from_slice(b"value=\"Scalas");
                    report
                });
            }),
            outcome: Message(FILE, "there is a file that Replay has not written"),
        },
        Row {
            defect: "there is a report that is cut",
            make: Directory(|directory| with_report(directory, |report| report[..600].to_vec())),
            outcome: Message(FILE, "there is a file that Replay has not written"),
        },
        Row {
            defect: "there is a file that is no report",
            make: Directory(|directory| {
                small(directory);
                fs::write(directory.join(FILE), "results of last year").unwrap();
            }),
            outcome: Message(FILE, "there is a file that Replay has not written"),
        },
        Row {
            defect: "there is an empty file",
            make: Directory(|directory| {
                small(directory);
                fs::write(directory.join(FILE), "").unwrap();
            }),
            outcome: Message(FILE, "there is a file that Replay has not written"),
        },
        Row {
            defect: "there is a directory",
            make: Directory(|directory| {
                small(directory);
                fs::create_dir(directory.join(FILE)).unwrap();
            }),
            outcome: Message(FILE, "there is something that is not a file"),
        },
        Row {
            defect: "there are statistics of another program",
            make: Directory(|directory| {
                small(directory);
                let instance = "- cnode 7 enter: 0.1 exit: 0.2 duration: 0.1 rank: 0\n\n";
                let text = format!("{}\nmpi_barrier_wait 1 0.1\n{instance}", cubex::STATISTICS_TITLES);
                fs::write(directory.join(STATISTICS), text).unwrap();
            }),
            outcome: Message(STATISTICS, "there is a file that Replay has not written"),
        },
        Row {
            defect: "there is a directory with the name of the statistics",
            make: Directory(|directory| {
                small(directory);
                fs::create_dir(directory.join(STATISTICS)).unwrap();
            }),
            outcome: Message(STATISTICS, "there is something that is not a file"),
        },
        Row {
            defect: "there is a link that leads nowhere",
            make: Directory(|directory| {
                small(directory);
                std::os::unix::fs::symlink(directory.join("gone.cubex"), directory.join(FILE)).unwrap();
            }),
            outcome: Harmless("it is replaced"),
        },
    ],
};
