//! Records of files, and their attributes, have the program's values.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use otf2::Event;

use crate::support::archive;
use crate::support::files::{handles, records};
use crate::support::record::{Invocation, Subject};
use crate::support::words::attributes;

#[test]
fn views_hints_and_sizes_of_files_are_attributes_of_calls() {
    let Some(subject) = Subject::new("views", "files/views.c", 2, &[]) else { return };
    subject.run_recorded(Invocation::InFront).expect_success();
    let experiment = &subject.experiment;
    assert_eq!(archive::refusal(experiment), None);
    assert_eq!(archive::difference(experiment), None);
    let names =
        ["View", "ViewEtype", "ViewSize", "ViewExtent", "ViewPieces", "ViewType", "Hints", "FileSize"];
    let found = attributes(experiment, &names);
    for rank in 0..2 {
        let promised = fs::read_to_string(subject.folder.join(format!("promised.{rank}"))).unwrap();
        let promised: Vec<&str> = promised.lines().collect();
        assert_eq!(promised.len(), 23);
        assert_eq!(found[&rank], promised);
    }
    // The file is deleted when it is closed for the second time.
    let counts = archive::counts(experiment);
    assert_eq!((counts["IoDestroyHandle"], counts["IoDeleteFile"]), (4, 2));
}

/// Functions of the C library on files of a rank alone, in `posix.c`.
const FUNCTIONS: [&str; 18] = [
    "open",
    "openat",
    "close",
    "dup",
    "dup2",
    "fcntl",
    "lseek",
    "ftruncate",
    "unlink",
    "read",
    "write",
    "pread",
    "pwrite",
    "writev",
    "sendfile",
    "fsync",
    "flock",
    "lockf",
];

/// Bytes that are moved through handles, by name of the file, paradigm, and whether they are written.
fn moved(experiment: &Path) -> BTreeMap<(String, String, bool), u64> {
    let handles = handles(experiment);
    let mut moved = BTreeMap::new();
    let mut open: BTreeMap<(u64, u32, u64), bool> = BTreeMap::new();
    archive::each_event(experiment, |at, event, _| match *event {
        Event::IoOperationBegin { handle, mode, matching_id, .. } => {
            open.insert((at.location, handle, matching_id), mode == 1);
        }
        Event::IoOperationComplete { handle, bytes_result, matching_id } => {
            let is_written = open.remove(&(at.location, handle, matching_id)).unwrap();
            let of = &handles[&handle];
            if bytes_result < u64::MAX {
                *moved.entry((of.file.clone(), of.paradigm.clone(), is_written)).or_insert(0) += bytes_result;
            }
        }
        _ => {}
    });
    moved
}

#[test]
fn files_of_the_c_library_have_the_records_of_the_program_by_itself_and_below_mpi() {
    let Some(subject) = Subject::new("posix", "files/posix.c", 2, &[]) else { return };
    let subject = subject.option("--io=posix");
    subject.run_recorded(Invocation::InFront).expect_success();
    let experiment = &subject.experiment;
    assert_eq!(archive::refusal(experiment), None);
    assert_eq!(archive::difference(experiment), None);
    let found = records(experiment, &FUNCTIONS);
    for rank in 0..2 {
        let promised = fs::read_to_string(subject.folder.join(format!("promised.{rank}"))).unwrap();
        let promised: Vec<&str> = promised.lines().collect();
        let own: Vec<&String> = found[&rank].iter().take(promised.len()).collect();
        assert_eq!(own, promised);
    }
    // Nothing before the start of MPI, in its library, of pipes, devices and children, and behind its end.
    let mut handles = handles(experiment);
    // What the program itself writes its promises to.
    handles.retain(|_, handle| !handle.file.starts_with("promised."));
    let known = ["own.0", "own.1", "copy.0", "copy.1", "shared.out"];
    assert!(handles.values().all(|handle| known.contains(&handle.file.as_str())), "{handles:?}");
    for handle in handles.values().filter(|handle| handle.paradigm == "POSIX") {
        let above =
            handle.parent.map(|parent| (handles[&parent].file.as_str(), handles[&parent].paradigm.as_str()));
        assert_eq!(above, (handle.file == "shared.out").then_some(("shared.out", "MPI-IO")));
    }
    // What the ranks write together reaches the system as a whole.
    let moved = moved(experiment);
    let key = |paradigm: &str, is_written| ("shared.out".to_string(), paradigm.to_string(), is_written);
    let bytes = |paradigm, is_written| moved[&key(paradigm, is_written)];
    assert_eq!(["MPI-IO", "POSIX"].map(|paradigm| bytes(paradigm, true)), [8 * 65_536; 2]);
    assert_eq!(["MPI-IO", "POSIX"].map(|paradigm| bytes(paradigm, false)), [2 * 65_536; 2]);
}

#[test]
fn without_the_option_only_files_of_mpi_are_recorded() {
    let Some(subject) = Subject::new("no_posix", "files/posix.c", 2, &[]) else { return };
    subject.run_recorded(Invocation::InFront).expect_success();
    let handles = handles(&subject.experiment);
    let of: Vec<_> =
        handles.values().map(|handle| (handle.file.as_str(), handle.paradigm.as_str())).collect();
    assert_eq!(of, [("shared.out", "MPI-IO")]);
    assert_eq!(records(&subject.experiment, &FUNCTIONS), BTreeMap::new());
}

#[test]
fn files_of_python_are_recorded_but_those_that_are_excluded() {
    let Some(subject) = Subject::new("posix_python", "files/posix.py", 2, &[]) else { return };
    let subject = subject.option("--io=posix").with("REPLAY_IO_EXCLUDE", "/");
    let folder = subject.folder.to_str().unwrap().to_string();
    let subject = subject.with("REPLAY_IO_INCLUDE", folder.leak());
    subject.run_recorded(Invocation::InFront).expect_success();
    let moved = moved(&subject.experiment);
    let own = |name: &str, is_written| (name.to_string(), "POSIX".to_string(), is_written);
    for rank in 0..2 {
        let name = format!("data.{rank}");
        assert_eq!((moved[&own(&name, true)], moved[&own(&name, false)]), (100_000, 1000));
    }
    assert_eq!(moved.len(), 4, "{moved:?}");
}
