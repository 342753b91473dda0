//! Exports: what they contain, and that their consumers read them.

mod consumers;
mod contents;
mod disk;
mod hostile;
pub(crate) mod judges;
mod notebook;
mod report;
mod structure;

use std::path::{Path, PathBuf};

use show::status::Status;

use crate::support::{Printed, run};
use report::Names;

/// Formats that make a file, and those that make a directory.
const FILES: [&str; 16] = [
    "folded",
    "speedscope",
    "chrome",
    "json",
    "hatchet",
    "extrap",
    "events-csv",
    "perfetto",
    "bmf",
    "github-benchmark",
    "openmetrics",
    "folded --per-location",
    "dot",
    "svg",
    "structure-json",
    "t-efg",
];
const DIRECTORIES: [&str; 3] = ["csv", "parquet", "paraver"];

/// Formats that need the tables of windows.
const OF_EVENTS: [&str; 4] = ["chrome", "events-csv", "perfetto", "paraver"];

/// Formats that need the tables of the structure.
const OF_STRUCTURE: [&str; 4] = ["dot", "svg", "structure-json", "t-efg"];

/// A directory with a report in it, and its exports.
struct Exported {
    directory: tempfile::TempDir,
    report: PathBuf,
}

impl Exported {
    /// A report with these names, and all tables.
    fn new(names: &Names) -> Exported {
        let directory = tempfile::tempdir().unwrap();
        let report = directory.path().join("run.p4.cubex");
        report::write(&report, names);
        Exported { directory, report }
    }

    /// A report without details.
    fn without_details() -> Exported {
        let directory = tempfile::tempdir().unwrap();
        let report = directory.path().join("run.p4.cubex");
        report::write_plain(&report, &Names::plain());
        Exported { directory, report }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Runs an export with further arguments; returns what was printed, and the path of the output.
    fn try_export(&self, format: &str, more: &[&str]) -> (Printed, PathBuf) {
        let out = self.path().join(format!("out.{}", format.replace(' ', "_")));
        let (report, path) = (self.report.to_str().unwrap(), out.to_str().unwrap());
        let mut arguments = vec!["export"];
        arguments.extend(format.split(' '));
        arguments.extend([report, "-o", path]);
        arguments.extend(more);
        (run(80, &arguments), out)
    }

    /// Runs an export that succeeds.
    fn export(&self, format: &str, more: &[&str]) -> PathBuf {
        let (printed, out) = self.try_export(format, more);
        assert_eq!(printed.status, Status::Done, "{format}: {}", printed.messages);
        out
    }

    fn text(&self, format: &str, more: &[&str]) -> String {
        std::fs::read_to_string(self.export(format, more)).unwrap()
    }
}

/// The exports of a report with plain names.
fn plain() -> Exported {
    Exported::new(&Names::plain())
}
