//! Proof 4: many threads, communicators, requests and events are recorded completely, in memory that does not
//! grow with them.
//!
//! With `REPLAY_TEST_EVENTS=10000000` there are as many events as in the proof; by default, fewer.

use replay::findings::Finding;

use crate::support::archive;
use crate::support::process::Running;
use crate::support::record::{Invocation, Subject, analyze};
use crate::support::report::findings;
use crate::support::turns::Turn;
use std::process::Command;

/// Limit of the recorder's memory: a buffer, the table of requests or communicators, call paths, and pages of its code,
/// of which a build without optimization has some 3 MB.
const ALLOWED: u64 = 10 << 20;

/// What MPICH takes more: Debian's comes with some fifty libraries. More of their pages are mapped, and so are more of the
/// recorder's own, when their headers and unwind tables are read.
const MORE_WITH_MPICH: u64 = 4 << 20;

/// Runs a program to its end; returns its output and the peak memory of one of its processes, in bytes.
fn run_and_measure(subject: &Subject, command: &mut Command, program: &str) -> (String, u64) {
    let _turn = Turn::alone();
    let mut running = Running::start(command, &subject.folder);
    let (mut peak, mut ranks) = (0, Vec::new());
    while running.is_running() {
        if ranks.is_empty() {
            ranks = running.processes();
            ranks.retain(|process| process.program.ends_with(program));
        }
        peak = ranks.iter().filter_map(|rank| rank.peak()).fold(peak, u64::max);
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    (running.wait().expect_success().stdout.clone(), peak)
}

/// Checks that output is the same bare and recorded, that memory hardly grows, and that all records exist.
fn expect_complete(subject: &Subject, program: &str) {
    let (said, bare) = run_and_measure(subject, &mut subject.bare(), program);
    let (recorded_said, recorded) =
        run_and_measure(subject, &mut subject.recorded(Invocation::InFront), program);
    assert_eq!(said, recorded_said);
    let more = recorded.saturating_sub(bare);
    println!("{program}: {} kB bare, {} kB more when it is recorded", bare >> 10, more >> 10);
    let allowed = if subject.mpi.is_open_mpi { ALLOWED } else { ALLOWED + MORE_WITH_MPICH };
    assert!(bare > 0 && more < allowed, "{program}: {bare} bytes bare, {recorded} bytes recorded");
    let experiment = &subject.experiment;
    assert_eq!(archive::refusal(experiment), None);
    archive::expect_promised(experiment, &said);
    let analysis = analyze(experiment, &subject.folder);
    analysis.expect_success();
    // Two loops of `many_requests` take about as long; the messages of one of them are received behind it.
    let mut odd = findings(experiment);
    odd.retain(|(name, ..)| name != Finding::DifferentIterations.name());
    assert!(odd.is_empty(), "{}", analysis.stdout);
    std::fs::remove_dir_all(experiment).unwrap();
}

#[test]
fn four_threads_that_send_are_locations_of_their_own() {
    let Some(subject) = Subject::new("threads", "calls/threads.c", 2, &[]) else { return };
    let (said, _) = run_and_measure(&subject, &mut subject.recorded(Invocation::InFront), "threads");
    let experiment = &subject.experiment;
    assert_eq!(archive::refusal(experiment), None);
    assert_eq!(archive::difference(experiment), None);
    archive::expect_promised(experiment, &said);
    assert_eq!(archive::locations(experiment), 2 * 5);
    analyze(experiment, &subject.folder).expect_success();
    assert!(findings(experiment).is_empty(), "{:?}", findings(experiment));
}

#[test]
fn two_thousand_communicators_that_come_and_go_are_told_apart() {
    let Some(subject) = Subject::new("many_communicators", "calls/many_communicators.c", 2, &[]) else {
        return;
    };
    expect_complete(&subject, "many_communicators");
}

#[test]
fn million_requests_and_ten_thousand_at_a_time_are_completed() {
    let Some(subject) = Subject::new("many_requests", "calls/many_requests.c", 1, &[]) else { return };
    expect_complete(&subject, "many_requests");
}

#[test]
fn many_events_go_through_a_small_buffer() {
    let events = std::env::var("REPLAY_TEST_EVENTS").unwrap_or_else(|_| "3000000".into());
    let Some(subject) = Subject::new("many_events", "calls/many_events.c", 1, &[&events]) else { return };
    expect_complete(&subject.option("--buffer=1M"), "many_events");
}
