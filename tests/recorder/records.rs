//! Archives of one recording with both kinds of records, calling contexts and plain ones: others read both, and they say the
//! same of messages, MPI functions, and regions that tell of themselves.

use crate::support::archive::{self, Account};
use crate::support::record::{Subject, finish_with};
use std::fs;
use std::path::Path;

/// Records a program, which nobody completes, and completes it in both ways. Answers the archive with calling contexts.
#[track_caller]
fn expect_same_account(
    test: &str,
    source: &str,
    arguments: &[&str],
    variables: &[(&'static str, &'static str)],
) {
    let Some(subject) = Subject::new(test, source, 2, arguments) else { return };
    let subject = variables.iter().fold(subject, |subject, &(name, value)| subject.with(name, value));
    subject.run_uncompleted().expect_success();
    let plain = subject.folder.join("plain");
    copy(&subject.experiment, &plain);
    finish_with(&subject.experiment, &["--records=calling-contexts"], &subject.folder).expect_success();
    finish_with(&plain, &["--records", "enter-leave"], &subject.folder).expect_success();
    let accounts = [&subject.experiment, &plain].map(|experiment| {
        assert_eq!(archive::refusal(experiment), None);
        assert_eq!(archive::difference(experiment), None);
        archive::account(experiment)
    });
    let [Account { records, regions }, plain] = &accounts;
    assert!(!records.is_empty() && !regions.is_empty());
    for (contexts, plain) in records.iter().zip(&plain.records) {
        assert_eq!(contexts, plain);
    }
    assert_eq!(records.len(), plain.records.len());
    assert_eq!(regions, &plain.regions);
}

/// Copies a folder with what is in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(fs::copy(entry.path(), to).unwrap()),
        }
    }
}

#[test]
fn messages_and_requests_are_the_same_with_both_records() {
    expect_same_account("both_requests", "calls/requests.c", &[], &[("REPLAY_DEPTH", "2")]);
}

#[test]
fn attributes_stay_with_their_events_with_both_records() {
    expect_same_account("both_files", "calls/files.c", &[], &[]);
}

#[test]
fn threads_are_the_same_with_both_records() {
    expect_same_account("both_threads", "calls/threads.c", &[], &[("REPLAY_SAMPLE", "1000")]);
}

#[test]
fn regions_are_the_same_with_both_records_while_recording_is_on_and_off() {
    expect_same_account("both_named", "regions/named.c", &[], &[]);
    expect_same_account("both_named_rounds", "regions/named.c", &[], &[("REPLAY_EVERY", "3")]);
}

#[test]
fn functions_that_tell_of_themselves_are_the_same_with_both_records() {
    expect_same_account("both_instrumented", "regions/instrumented.cc", &["deep"], &[]);
}

#[test]
fn calls_that_are_left_by_a_jump_are_the_same_with_both_records() {
    expect_same_account("both_longjmp", "oddities/leave_by_longjmp.c", &[], &[]);
}

#[test]
fn paths_of_all_kinds_are_the_same_with_both_records() {
    const PROGRAM: &str = "oddities/changing_paths.c";
    expect_same_account("both_paths", PROGRAM, &[], &[("REPLAY_SAMPLE", "1000")]);
    expect_same_account("both_paths_cut", PROGRAM, &[], &[("REPLAY_DEPTH", "3"), ("REPLAY_SAMPLE", "300")]);
    expect_same_account("both_paths_window", PROGRAM, &[], &[("REPLAY_WINDOW", "2-5")]);
}

#[test]
fn interpreted_programs_are_the_same_with_both_records() {
    expect_same_account("both_python", "waits/late_sender.py", &[], &[("REPLAY_SAMPLE", "200")]);
}
