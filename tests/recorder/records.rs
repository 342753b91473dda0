//! Archives of one recording with both kinds of records, calling contexts and plain ones: other readers
//! accept both, and they agree in messages, MPI functions, and instrumented regions.

use crate::support::archive::{self, Invariants};
use crate::support::copy;
use crate::support::record::{Subject, analyze, finish_with};
use crate::support::report::NamedReport;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Records a program without completing the archive, and completes it in both ways. Returns the archive with
/// calling contexts, and the path of the plain one.
#[track_caller]
fn both(
    test: &str,
    source: &str,
    ranks: u32,
    arguments: &[&str],
    variables: &[(&'static str, &'static str)],
) -> Option<(Subject, PathBuf)> {
    let subject = Subject::new(test, source, ranks, arguments)?;
    let subject = variables.iter().fold(subject, |subject, &(name, value)| subject.with(name, value));
    subject.run_uncompleted().expect_success();
    let plain = subject.folder.join("plain");
    copy(&subject.experiment, &plain);
    finish_with(&subject.experiment, &["--records=calling-contexts"], &subject.folder).expect_success();
    finish_with(&plain, &["--records", "enter-leave"], &subject.folder).expect_success();
    Some((subject, plain))
}

/// Checks that both archives of a program have the same events.
#[track_caller]
fn expect_same_account(
    test: &str,
    source: &str,
    arguments: &[&str],
    variables: &[(&'static str, &'static str)],
) {
    let Some((subject, plain)) = both(test, source, 2, arguments, variables) else { return };
    let accounts = [&subject.experiment, &plain].map(|experiment| {
        assert_eq!(archive::refusal(experiment), None);
        assert_eq!(archive::difference(experiment), None);
        archive::invariants(experiment)
    });
    let [Invariants { records, regions }, plain] = &accounts;
    assert!(!records.is_empty() && !regions.is_empty());
    for (contexts, plain) in records.iter().zip(&plain.records) {
        assert_eq!(contexts, plain);
    }
    assert_eq!(records.len(), plain.records.len());
    assert_eq!(regions, &plain.regions);
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
fn teams_and_tasks_are_the_same_with_both_records() {
    expect_same_account("both_openmp", "openmp/constructs.c", &[], &[]);
    expect_same_account("both_openmp_cut", "openmp/constructs.c", &[], &[("REPLAY_DEPTH", "1")]);
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

/// Metrics that compare the call sites of ranks, and visits of functions at different lines: in plain records
/// call sites on other lines are one call path, so these differ by definition.
const OF_CALL_SITES: [&str; 6] = [
    "visits",
    "imbalance",
    "partition_imbalance",
    "performance_impact",
    "critical_path_",
    "critical_imbalance",
];

/// Metrics for which plain records have the same sums by location for that reason, but not at each call path.
const BY_LOCATION: [&str; 2] = ["delay", "critical_path"];

/// Records a program and completes it in both ways; the analyses of both agree. Without functions around MPI
/// calls all metrics are equal everywhere.
#[track_caller]
fn expect_same_severities(test: &str, source: &str, depth: Option<&'static str>) {
    let variables: Vec<_> = depth.map(|depth| ("REPLAY_DEPTH", depth)).into_iter().collect();
    let Some((subject, plain)) = both(test, source, 4, &[], &variables) else { return };
    let [contexts, plain] = [&subject.experiment, &plain].map(|experiment| {
        analyze(experiment, &subject.folder).expect_success();
        let mut comparable: BTreeMap<_, f64> = BTreeMap::new();
        for ((metric, path, location), value) in NamedReport::read(experiment).by_names() {
            let is_among =
                |list: &[&str]| depth != Some("0") && list.iter().any(|part| metric.contains(part));
            if !is_among(&OF_CALL_SITES) {
                let path = if is_among(&BY_LOCATION) { String::new() } else { path };
                *comparable.entry((metric, path, location)).or_default() += value;
            }
        }
        comparable
    });
    assert!(contexts.keys().any(|(metric, ..)| metric.contains("late") || metric.contains("early")));
    let places: BTreeSet<_> = contexts.keys().chain(plain.keys()).collect();
    let of = |values: &BTreeMap<_, f64>, place| values.get(place).copied().unwrap_or(0.0);
    for place in places {
        let [one, other] = [of(&contexts, place), of(&plain, place)];
        assert!(
            (one - other).abs() < 1e-9 * one.abs().max(1.0),
            "{place:?}: {one}, with plain records {other}"
        );
    }
}

#[test]
fn severities_are_the_same_with_both_records() {
    expect_same_severities("same_late_sender", "waits/late_sender.c", None);
    expect_same_severities("same_early_reduce", "waits/early_reduce.c", None);
    expect_same_severities("same_late_receiver", "waits/late_receiver.c", Some("0"));
    expect_same_severities("same_waitall", "waits/late_sender_waitall.c", Some("0"));
}
