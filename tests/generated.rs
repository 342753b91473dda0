//! Generated traces: there are no findings, reports do not depend on workers, waiting times follow from the
//! pattern, and corrected clocks give the same results.

use std::path::{Path, PathBuf};

use generate::patterns::{ping_pong, ring};
use generate::{Job, PATTERNS, Pattern, START};
use replay::exchange::Solo;
use replay::progress::Progress;
use replay::{Options, Semantics};

use crate::support::report::Table;
use crate::support::{analyze, in_memory, options, workers, written};

/// A grid of three columns and two rows.
const RANKS: u32 = 6;
/// Events of 123 steps with 8 events, and 20 before and after them.
const EVENTS: u64 = 123 * 8 + 20;

/// Time from the start of the last call in a row to that of the next one: 60 ns for it, 20 ns between them.
const NEXT_CALL: u64 = 80;
/// Time of the first call of MPI of a rank that waits from the start, before the first step.
const FIRST_CALL: u64 = START - 99_500;

fn job(pattern: &'static Pattern) -> Job {
    Job { seed: 7, ..Job::new(pattern, RANKS, EVENTS) }
}

fn generated(job: &Job, directory: &Path, name: &str) -> PathBuf {
    let experiment = directory.join(name);
    generate::generate(job, &experiment).unwrap();
    experiment
}

fn table(experiment: &Path) -> Table {
    let report = experiment.join("trace.cubex");
    analyze(experiment, &report, Semantics::Corrected).unwrap();
    Table::read(&report)
}

#[test]
fn nothing_is_odd_in_any_pattern() {
    let directory = in_memory();
    for pattern in PATTERNS {
        let table = table(&generated(&job(pattern), directory.path(), pattern.name));
        assert!(table.findings().is_empty(), "{}: {:?}", pattern.name, table.findings());
        let waiting: f64 = ["mpi_latesender", "mpi_wait_nxn"]
            .map(|metric| (0..table.locations).map(|location| table.sum(metric, location)).sum::<f64>())
            .iter()
            .sum();
        assert!(waiting > 0.0, "{}: nobody waits", pattern.name);
    }
}

#[test]
fn reports_of_all_patterns_are_the_same_with_any_workers() {
    let directory = in_memory();
    for pattern in PATTERNS {
        let experiment = generated(&job(pattern), directory.path(), pattern.name);
        let report = directory.path().join("r.cubex");
        let options = options(&experiment, &report, Semantics::Corrected);
        replay::analyze(&options, &mut Solo, &mut Progress::silent()).unwrap();
        let one = written(&report);
        for (processes, threads) in [(2, 1), (3, 1), (1, 3)] {
            let options = Options { threads, ..options.clone() };
            workers::analyze_each(&options, processes, |together| {
                let what = format!("{} with {processes} x {threads}", pattern.name);
                assert!(written(&report) == one, "{what}, {together} bytes together");
            });
        }
    }
}

/// Compares a metric with its expected value on each location, in nanoseconds.
fn expect(table: &Table, metric: &str, expected: impl Fn(u32) -> u64) {
    for rank in 0..table.locations {
        let found = (table.sum(metric, rank) * 1e9).round();
        assert_eq!(found, expected(rank as u32) as f64, "{metric} of rank {rank}");
    }
}

#[test]
fn waiting_for_a_token_is_what_the_others_need() {
    let directory = in_memory();
    let job = job(Pattern::find("ring").unwrap());
    let rounds = (EVENTS - 20) / 8;
    let table = table(&generated(&job, directory.path(), "ring"));
    expect(&table, "mpi_latesender", |rank| {
        let wait = |round: u64| match rank {
            0 => ring::sends(&job, RANKS - 1, round) - ring::sends(&job, 0, round) - NEXT_CALL,
            _ => {
                let last = round.checked_sub(1).map(|last| ring::sends(&job, rank, last) + NEXT_CALL);
                ring::sends(&job, rank - 1, round) - last.unwrap_or(FIRST_CALL)
            }
        };
        (0..rounds).map(wait).sum()
    });
    expect(&table, "mpi_latereceiver", |_| 0);
}

#[test]
fn waiting_in_pairs_is_what_the_other_one_needs() {
    const TRANSFER: u64 = 1500;
    let directory = in_memory();
    let job = job(Pattern::find("ping-pong").unwrap());
    let steps = (EVENTS - 20) / 8;
    let exchange = |rank: u32, step: u64| ping_pong::exchange(&job, rank & !1, step);
    let table = table(&generated(&job, directory.path(), "ping-pong"));
    expect(&table, "mpi_latesender", |rank| {
        let wait = |step: u64| {
            let now = exchange(rank, step);
            if rank.is_multiple_of(2) {
                let sent = now.ready.map_or(now.ping + NEXT_CALL, |ready| ready + TRANSFER + 20);
                return now.pong - sent;
            }
            let last = step.checked_sub(1).map(|last| exchange(rank, last).pong + NEXT_CALL);
            if now.ready.is_some() { 0 } else { now.ping - last.unwrap_or(FIRST_CALL) }
        };
        (0..steps).map(wait).sum()
    });
    expect(&table, "mpi_latereceiver", |rank| {
        let wait = |step: u64| {
            let now = exchange(rank, step);
            now.ready.filter(|_| rank.is_multiple_of(2)).map_or(0, |ready| ready - now.ping)
        };
        (0..steps).map(wait).sum()
    });
}

#[test]
fn corrected_clocks_make_no_difference() {
    // Each time is rounded, by a nanosecond or two; there are some hundred of them.
    const ROUNDED: f64 = 2e-9 * EVENTS as f64;
    let directory = in_memory();
    for pattern in PATTERNS {
        let right = job(pattern);
        let wrong = Job { drift: 100.0, ..right.clone() };
        let experiment = generated(&wrong, directory.path(), &format!("{}-wrong", pattern.name));
        let wrong = table(&experiment);
        let right = table(&generated(&right, directory.path(), pattern.name));
        assert!(wrong.findings().is_empty(), "{}: {:?}", pattern.name, wrong.findings());
        assert_eq!(right.paths, wrong.paths);
        for (metric, unit, _) in &right.metrics {
            let all: f64 = (0..right.locations).map(|location| right.sum(metric, location)).sum();
            for location in 0..right.locations {
                let (right, wrong) = (right.sum(metric, location), wrong.sum(metric, location));
                let allowed = match unit.as_str() {
                    // Costs are distributed over all locations with an excess, even of a nanosecond.
                    "sec" if metric.starts_with("delay") => ROUNDED + all / 200.0,
                    "sec" => ROUNDED,
                    // Rounding decides whether a wait of length zero counts.
                    _ if metric.starts_with("mpi_") && metric.ends_with("_count") => 5.0,
                    _ => 0.0,
                };
                assert!(
                    (right - wrong).abs() <= allowed,
                    "{} {metric} @{location}: {right} with right clocks, {wrong} with corrected ones",
                    pattern.name
                );
            }
        }
    }
}

#[test]
fn clocks_that_are_known_badly_show() {
    let directory = in_memory();
    let wrong = Job { drift: 100.0, clock_error: 5000, ..job(Pattern::find("ring").unwrap()) };
    let table = table(&generated(&wrong, directory.path(), "ring"));
    let findings: Vec<String> = table.findings().into_keys().collect();
    assert_eq!(findings, ["message received before it was sent"]);
}
