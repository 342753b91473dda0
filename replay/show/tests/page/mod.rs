//! Pages: what they contain, and that browsers show it.

mod anonymous;
mod bundle;
mod compare;
mod first;
mod iterations;

use std::path::{Path, PathBuf};

use show::status::Status;

use crate::support::example::{self, Names};
use crate::support::{Printed, run};

/// A directory with a report and its page.
struct Made {
    directory: tempfile::TempDir,
    report: PathBuf,
}

impl Made {
    /// The example with some names; `change` may change members with details before.
    fn new(names: &Names, change: impl FnOnce(&mut Vec<(String, Vec<u8>)>)) -> Made {
        let directory = tempfile::tempdir().unwrap();
        let report = directory.path().join("r.cubex");
        example::write(&report, names, change);
        Made { directory, report }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Makes the page, and returns what was printed with its text.
    fn page(&self, more: &[&str]) -> (Printed, String) {
        let out = self.path().join("page.html");
        let arguments = ["html", self.report.to_str().unwrap(), "-o", out.to_str().unwrap()];
        let printed = run(80, &[&arguments, more].concat());
        assert_eq!(printed.status, Status::Done, "{}", printed.messages);
        (printed, std::fs::read_to_string(out).unwrap())
    }
}
