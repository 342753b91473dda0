//! Unusual programs: their behaviour does not change under the recorder, and their traces are complete.

use crate::support::archive;
use crate::support::record::{Invocation, Subject, analyze};
use crate::support::report::findings;

/// Runs a program bare and recorded: output and status are the same, and the archive can be read. Returns the
/// names of the findings of the analysis.
fn expect_unnoticed(test: &str, source: &str, ranks: u32, option: &'static str) -> Option<Vec<String>> {
    let subject = Subject::new(test, source, ranks, &[])?.option(option);
    let (bare, recorded) = (subject.run_bare(), subject.run_recorded(Invocation::InFront));
    bare.expect_success();
    assert_eq!((&bare.stdout, bare.status), (&recorded.stdout, recorded.status), "{}", recorded.stderr);
    assert_eq!(archive::refusal(&subject.experiment), None);
    analyze(&subject.experiment, &subject.folder).expect_success();
    Some(findings(&subject.experiment).into_iter().map(|(name, ..)| name).collect())
}

#[test]
fn calls_behind_a_jump_out_of_a_call_are_recorded() {
    let found = expect_unnoticed("longjmp", "oddities/leave_by_longjmp.c", 2, "--depth=64");
    // The send goes to a rank that does not exist; but every barrier has all its members.
    assert!(found.is_none_or(|found| found == ["rank outside of its communicator"]));
}

#[test]
fn calls_behind_an_exception_out_of_a_call_are_recorded() {
    let found = expect_unnoticed("exceptions", "oddities/exceptions.cc", 2, "--depth=64");
    assert!(found.is_none_or(|found| found == ["rank outside of its communicator"]));
}

#[test]
fn calls_that_fail_leave_nothing_that_is_looked_at() {
    let found = expect_unnoticed("failing", "oddities/failing_calls.c", 1, "--depth=64");
    assert!(found.is_none_or(|found| found.is_empty()));
}

#[test]
fn threads_that_are_cancelled_leave_each_event_once() {
    let found = expect_unnoticed("cancelled", "oddities/cancelled_threads.c", 1, "--buffer=256K");
    assert!(found.is_none_or(|found| found.is_empty()));
}

#[test]
fn descriptors_that_have_become_others_are_not_written_to() {
    expect_unnoticed("descriptors", "oddities/closed_descriptors.c", 1, "--buffer=256K");
}

#[test]
fn threads_that_have_ended_leave_no_open_files() {
    let found = expect_unnoticed("ended_threads", "oddities/many_threads.c", 1, "--depth=64");
    assert!(found.is_none_or(|found| found.is_empty()));
}
