//! Calls that name files by their paths have the records of the program, and those that are not recorded have none.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use otf2::{Definition, Event};

use crate::support::archive;
use crate::support::files::{calls, handles};
use crate::support::record::{Invocation, Subject, analyze};
use crate::support::report::{NamedReport, findings};

/// Functions that `metadata.c` promises records of.
const FUNCTIONS: [&str; 27] = [
    "stat",
    "stat64",
    "lstat",
    "fstat",
    "fstat64",
    "fstatat",
    "statx",
    "__xstat",
    "__fxstat",
    "access",
    "faccessat",
    "statfs",
    "statvfs",
    "truncate",
    "link",
    "symlink",
    "unlink",
    "unlinkat",
    "remove",
    "rename",
    "renameat",
    "renameat2",
    "mkdir",
    "mkdirat",
    "rmdir",
    "opendir",
    "closedir",
];

/// How many calls there are of functions whose names have this part.
fn count(promised: &[&str], part: &str) -> usize {
    promised.iter().filter(|line| line.split(' ').next().is_some_and(|name| name.contains(part))).count()
}

/// The names of directories among the files.
fn directories(experiment: &Path) -> Vec<String> {
    let (mut strings, mut found) = (BTreeMap::new(), Vec::new());
    archive::each_definition(experiment, |definition| match *definition {
        Definition::String { reference, string } => {
            strings.insert(reference, String::from_utf8_lossy(string).into_owned());
        }
        Definition::IoDirectory { name, .. } => {
            let path: &String = &strings[&name];
            found.push(path.rsplit('/').next().unwrap_or_default().to_owned());
        }
        _ => {}
    });
    found.sort();
    found
}

#[test]
fn calls_that_name_files_say_which_and_failed_ones_say_nothing() {
    let Some(subject) = Subject::new("metadata", "files/metadata.c", 2, &[]) else { return };
    let subject = subject.option("--io=posix");
    subject.run_recorded(Invocation::InFront).expect_success();
    let experiment = &subject.experiment;
    assert_eq!(archive::refusal(experiment), None);
    assert_eq!(archive::difference(experiment), None);
    let found = calls(experiment, &FUNCTIONS);
    // No thread has a location but the first ones, nor has what is not recorded a file.
    assert_eq!(found.keys().count(), 2);
    let texts =
        [0, 1].map(|rank| fs::read_to_string(subject.folder.join(format!("promised.{rank}"))).unwrap());
    let promised = texts.each_ref().map(|text| text.lines().collect::<Vec<&str>>());
    for (found, promised) in found.values().zip(&promised) {
        // What MPI asks of its file depends on the library.
        let own: Vec<&String> = found.iter().filter(|line| !line.ends_with("=shared.out")).collect();
        assert_eq!(own, *promised);
    }
    assert_eq!(directories(experiment), ["folder.0", "folder.1", "inner.0", "inner.1"]);
    assert_eq!(handles(experiment).values().filter(|handle| handle.file.starts_with("own.")).count(), 2);
    // Metrics count what was called.
    analyze(experiment, &subject.folder).expect_success();
    let report = NamedReport::read(experiment);
    for (location, promised) in promised.iter().enumerate() {
        let own = report.select(|path| !path.contains("MPI_File_"));
        let stats = count(promised, "stat") + count(promised, "access");
        assert_eq!(report.value("io_stats", &own, location), stats as f64);
        // Files are changed in size by no other calls.
        let others = promised.len() - stats;
        assert_eq!(report.value("io_other", &own, location), others as f64);
    }
    assert_eq!(findings(experiment), []);
}

#[test]
fn without_the_option_calls_that_name_files_are_not_recorded() {
    let Some(subject) = Subject::new("no_metadata", "files/metadata.c", 2, &[]) else { return };
    subject.run_recorded(Invocation::InFront).expect_success();
    assert_eq!(calls(&subject.experiment, &FUNCTIONS), BTreeMap::new());
    archive::each_event(&subject.experiment, |_, event, _| {
        assert!(!matches!(event, Event::IoDeleteFile { io_paradigm: 1, .. }));
    });
}
