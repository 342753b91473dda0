//! Failures near the end: while the report is synced or published, or because its directory was removed.

use std::fs;
use std::path::Path;

use super::after;
use super::disk::{expect_refusal, names};
use super::job::Job;
use super::provoke::provoked;
use crate::support::run::{analyze, mpirun, run};
use crate::support::{archive, fresh, written};

/// Error numbers of Linux.
const EIO: i32 = 5;
const ENOSPC: i32 = 28;
const EROFS: i32 = 30;
const EOPNOTSUPP: i32 = 95;
const EDQUOT: i32 = 122;

/// A failing call, the file in the message, and words of the message.
const FAILURES: [(&str, i32, &str, &[&str]); 9] = [
    ("write:1", ENOSPC, "r.cubex", &["No space left", "free some space"]),
    ("pwrite:1", EDQUOT, "r.cubex", &["uota exceeded", "free some space"]),
    ("pwrite:3", EIO, "r.cubex", &["Input/output error", "writable place with -o"]),
    ("fsync:1", ENOSPC, "r.cubex", &["cannot store", "No space left", "free some space"]),
    ("fsync:1", EIO, "r.cubex", &["cannot store", "Input/output error"]),
    ("fsync:2", EDQUOT, "r.stat", &["cannot store", "free some space"]),
    ("fsync:2", EROFS, "r.stat", &["cannot store", "writable place"]),
    // Files with hidden names are published by this call, and others where an older file exists.
    ("rename:1", EROFS, "r.cubex", &["in place", "Read-only", "writable place"]),
    ("rename:2", EIO, "r.stat", &["in place", "Input/output error"]),
];

#[test]
fn each_step_that_fails_is_told_and_leaves_both_old_files_or_none() {
    for is_named in [false, true] {
        let directory = fresh();
        let report = directory.path().join("r.cubex");
        let new = [&archive("comms.7"), Path::new("-o"), &report];
        let provoke = |call: &str, error: i32| {
            let before = if is_named { format!("tmpfile:0:error {EOPNOTSUPP},") } else { String::new() };
            let first = provoked("calls that fail", &format!("{before}{call}:error {error}"))?;
            Some(run(&mut after(&first, new)))
        };
        for (call, error, file, words) in FAILURES {
            if !is_named && call.starts_with("rename") {
                continue;
            }
            let Some(refused) = provoke(call, error) else { return };
            expect_refusal(&refused, &directory.path().join(file), words);
            assert!(names(directory.path()).is_empty(), "{call}: {:?}", names(directory.path()));
        }
        analyze([&archive("barrier.4"), Path::new("-o"), &report]).expect(0);
        let old = written(&report);
        for (call, error, file, words) in FAILURES {
            let Some(refused) = provoke(call, error) else { return };
            expect_refusal(&refused, &directory.path().join(file), words);
            assert_eq!(names(directory.path()), ["r.cubex", "r.stat"], "{call}");
            assert!(written(&report) == old, "{call}: the old files are others");
        }
    }
}

/// There is no old report, so that the new one is published without a rename; the old statistics need one.
#[test]
fn report_is_taken_back_when_its_statistics_cannot_be_put_in_place() {
    let directory = fresh();
    let report = directory.path().join("r.cubex");
    analyze([&archive("barrier.4"), Path::new("-o"), &report]).expect(0);
    let [_, old] = written(&report);
    fs::remove_file(&report).unwrap();
    let Some(first) = provoked("statistics that cannot be put in place", &format!("rename:1:error {EROFS}"))
    else {
        return;
    };
    let refused = run(&mut after(&first, [&archive("comms.7"), Path::new("-o"), &report]));
    // Where files need names, the rename is that of the report.
    assert!(refused.stderr.contains("in place"), "{}", refused.stderr);
    refused.expect(2);
    assert_eq!(names(directory.path()), ["r.stat"]);
    assert!(fs::read(report.with_extension("stat")).unwrap() == old);
}

#[test]
fn step_that_fails_is_told_once_by_three_processes() {
    let Some(launcher) = mpirun("a step that fails in three processes") else { return };
    let directory = fresh();
    let report = directory.path().join("r.cubex");
    analyze([&archive("barrier.4"), Path::new("-o"), &report]).expect(0);
    let old = written(&report);
    for (call, error, file, words) in [FAILURES[3], FAILURES[8]] {
        let Some(first) = provoked("a step that fails", &format!("{call}:error {error}")) else { return };
        let refused =
            run(&mut super::limited(launcher, 3, &first, [&archive("comms.7"), Path::new("-o"), &report]));
        expect_refusal(&refused, &directory.path().join(file), words);
        assert!(written(&report) == old);
    }
}

#[test]
fn directory_that_is_removed_while_the_report_is_written_is_told() {
    for before in [String::new(), format!("tmpfile:0:error {EOPNOTSUPP},")] {
        let outer = fresh();
        let directory = outer.path().join("reports");
        fs::create_dir(&directory).unwrap();
        let report = directory.join("r.cubex");
        // SIGSTOP.
        let faults = format!("{before}fsync:1:passing 19");
        let Some(first) = provoked("a directory that is removed", &faults) else { return };
        let experiment = archive("comms.7");
        let mut job =
            Job::alone_after(&first, [&experiment, Path::new("--threads=1"), Path::new("-o"), &report]);
        job.wait_for(|job| job.stands_still(0).then_some(())).expect("it stands still");
        fs::remove_dir_all(&directory).unwrap();
        job.go_on(0);
        let refused = job.end();
        refused.expect(2);
        let [message] = refused.messages()[..] else { panic!("{}", refused.stderr) };
        let parts =
            ["No such file or directory", "choose a writable place with -o", directory.to_str().unwrap()];
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
        assert!(names(outer.path()).is_empty());
    }
}

/// Some file systems report only at fsync that they are full. The third one is that of the summary.
#[test]
fn summary_that_cannot_be_brought_to_disk_is_told_and_the_report_is_there() {
    let directory = fresh();
    let report = directory.path().join("r.cubex");
    let Some(first) = provoked("a summary on a full disk", &format!("fsync:3:error {ENOSPC}")) else {
        return;
    };
    let summary = directory.path().join("summary");
    let first = format!("{first}; exec > '{}'", summary.display());
    let lost = run(&mut after(&first, [&archive("comms.7"), Path::new("-o"), &report]));
    lost.expect(1);
    let [message] = lost.messages()[..] else { panic!("{}", lost.stderr) };
    let parts = ["summary", "No space left", "the report is complete", report.to_str().unwrap()];
    assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    assert_eq!(names(directory.path()), ["r.cubex", "r.stat", "summary"]);
}
