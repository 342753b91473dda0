//! Traces with pauses in recording and counts of what is missing: operations that do not belong together are
//! never matched, whatever MPI allows the program to do, and wherever recording pauses.
//!
//! Each message of a program has a length of its own, longer for later messages in one variant and shorter in
//! the other: a receive that is matched with a wrong send is longer than it in one of them, which is a
//! finding.

use std::collections::BTreeSet;

use replay::Semantics;

use crate::oracle::random::distinct;
use crate::support::random::Random;
use crate::support::report::Table;
use crate::support::trace::{Step, Trace};
use crate::support::{analyze, in_memory, pauses, workers, write, written};

const TRACES: u64 = 150;

/// Findings that must not occur.
const IMPOSSIBLE: [&str; 6] = [
    "receive longer than its send",
    "contradicting collective",
    "unknown request",
    "request started twice",
    "missing leave",
    "leave without enter",
];

/// Count of a finding.
fn count(table: &Table, name: &str) -> u64 {
    table.findings().get(name).copied().unwrap_or(0)
}

/// Number of sends and receives in a trace, without cancelled sends.
fn sides(trace: &Trace) -> u64 {
    let mut sum = 0;
    for stream in &trace.streams {
        let mut sends = BTreeSet::new();
        for (_, step) in &stream.events {
            let step = if let Step::WithAttributes(step, _) = step { step } else { step };
            match step {
                Step::Isend(_, request) => _ = sends.insert(*request),
                Step::Cancel(request) if sends.remove(request) => sum -= 1,
                Step::IsendComplete(request) | Step::Cancel(request) => _ = sends.remove(request),
                _ => {}
            }
            sum +=
                u64::from(matches!(step, Step::Send(_) | Step::Isend(..) | Step::Recv(_) | Step::Irecv(..)));
        }
    }
    sum
}

#[test]
fn messages_and_collective_operations_keep_their_partners() {
    let (mut all, mut matched, mut unknown, mut with_order) = (0, 0, 0, 0);
    for seed in 0..TRACES {
        for is_rising in [true, false] {
            let whole = distinct(seed, is_rising);
            let mut random = Random::new(seed + 1);
            let switches = random.pick(&[5, 15, 40]);
            let trace = pauses::with_pauses(&whole, &mut random, switches);
            let directory = in_memory();
            write::write(&trace, directory.path());
            let report = directory.path().join("one.cubex");
            analyze(directory.path(), &report, Semantics::Corrected).unwrap();
            let table = Table::read(&report);
            let found: Vec<_> = IMPOSSIBLE.iter().filter(|&name| count(&table, name) > 0).collect();
            if !found.is_empty() {
                panic!("seed {seed}, {is_rising}, {}: {found:?}", directory.keep().display());
            }
            let lost = count(&table, "message of unknown order");
            let alone = ["message with one side recorded", "send without receive", "receive without send"]
                .map(|name| count(&table, name));
            all += sides(&trace);
            matched += sides(&trace) - lost - alone.iter().sum::<u64>();
            unknown += lost;
            with_order += u64::from(lost == 0);
        }
    }
    println!(
        "{all} sides of messages, {matched} matched, {unknown} of unknown order; {with_order} traces without such"
    );
    assert!(matched * 3 > all && matched > unknown && unknown > 0, "{matched}, {unknown} of {all}");
}

#[test]
fn messages_of_a_whole_trace_have_their_partners() {
    for seed in 0..TRACES {
        for is_rising in [true, false] {
            let directory = in_memory();
            write::write(&distinct(seed, is_rising), directory.path());
            let report = directory.path().join("one.cubex");
            analyze(directory.path(), &report, Semantics::Corrected).unwrap();
            let table = Table::read(&report);
            assert_eq!(count(&table, IMPOSSIBLE[0]), 0, "seed {seed}, {is_rising}");
        }
    }
}

#[test]
fn report_of_a_trace_with_pauses_is_the_same_with_any_workers() {
    for seed in 0..TRACES / 3 {
        let mut random = Random::new(seed + 7);
        let trace = pauses::with_pauses(&distinct(seed, true), &mut random, 15);
        let directory = in_memory();
        write::write(&trace, directory.path());
        let reports = [(1, 1), (2, 1), (3, 1), (2, 2), (1, 3)].map(|(processes, threads)| {
            let report = directory.path().join(format!("{processes}x{threads}.cubex"));
            for outcome in
                workers::analyze(directory.path(), &report, Semantics::Corrected, processes, threads)
            {
                outcome.unwrap();
            }
            written(&report)
        });
        assert!(reports.iter().all(|report| *report == reports[0]), "seed {seed}");
    }
}
