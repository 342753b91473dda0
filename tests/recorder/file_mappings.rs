//! Mappings that move are those of their files, and what flushes all files is a flush of none of them.

use std::fs;
use std::path::Path;

use otf2::{Definition, UNDEFINED};
use replay::io::IoOptions;

use crate::support::archive;
use crate::support::files::{calls, records};
use crate::support::modelled::analyzed;
use crate::support::record::{Invocation, Subject, analyze};
use crate::support::report::{NamedReport, findings};

/// OTF2's flag of a handle that stands for all files.
const ALL_PROXY: u32 = 2;
/// How often a rank flushes all files, and how often pages of its own one.
const SYNCS: u64 = 2;
const OWN_SYNCS: u64 = 2;

/// The files of handles with flags, each with these.
fn flagged(experiment: &Path) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    archive::each_definition(experiment, |definition| {
        if let Definition::IoHandle { file, io_handle_flags, .. } = *definition
            && (file == UNDEFINED || io_handle_flags != 0)
        {
            found.push((file, io_handle_flags));
        }
    });
    found
}

#[test]
fn mappings_that_move_stay_those_of_their_files_and_all_files_are_none_of_them() {
    let Some(subject) = Subject::new("mappings", "files/mappings.c", 2, &[]) else { return };
    // As for asynchronous transfers: UCX puts functions of its own in the place of these.
    let subject = subject.option("--io=posix").with("UCX_MEM_EVENTS", "no");
    let ended = subject.run_recorded(Invocation::InFront);
    ended.expect_success();
    let experiment = &subject.experiment;
    assert_eq!(archive::refusal(experiment), None);
    assert_eq!(archive::difference(experiment), None);
    let operations = records(experiment, &["msync", "sync"]);
    let called = calls(experiment, &["mmap", "mremap", "munmap", "sync"]);
    let lines = |what: &str, rank: u64| {
        let text = fs::read_to_string(subject.folder.join(format!("{what}.{rank}"))).unwrap();
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    for rank in 0..2 {
        assert_eq!(operations[&rank], lines("promised", rank));
        assert_eq!(called[&rank], lines("called", rank));
        let said = format!("{} bytes of files were mapped", lines("mapped", rank)[0]);
        assert!(ended.stderr.contains(&said), "no {said:?} in {}", ended.stderr);
    }
    assert_eq!(flagged(experiment), [(UNDEFINED, ALL_PROXY)]);
    // Its time is that of file I/O, and it is counted.
    analyze(experiment, &subject.folder).expect_success();
    assert_eq!(findings(experiment), []);
    let report = NamedReport::read(experiment);
    let syncs = report.within("sync");
    for location in 0..2 {
        assert_eq!(report.value("io_syncs", &syncs, location), SYNCS as f64);
        assert!(report.value("io_time", &syncs, location) > 0.0);
    }
    // No file has it.
    let (model, _) = analyzed(&subject, IoOptions::default());
    assert_eq!(model.findings.0, [].into());
    let flushes = |name: &str| {
        let of_name = model.files.values().filter(|file| file.name.rsplit('/').next() == Some(name));
        of_name.map(|file| file.facts.flushes).collect::<Vec<_>>()
    };
    assert_eq!(["own.0", "own.1"].map(flushes), [[OWN_SYNCS]; 2]);
    assert!(model.files.values().all(|file| file.name.starts_with('/')));
}
