//! Wrong clocks: the findings about them, and the values that are doubtful because of them.

use std::path::Path;

use model::Ticks;
use otf2::Archive;
use replay::assignment::Owners;
use replay::clock_correction::{correct, fineness};
use replay::exchange::Solo;
use replay::findings::{Finding, Findings};
use replay::formulas::Formulas;
use replay::memory::Memory;
use replay::metrics::Metrics;
use replay::progress::Progress;
use replay::shared::Shared;
use replay::tools::Tools;
use replay::walk::{Notes, Positions, open, walk};
use replay::{Options, Semantics, Summary};

use crate::oracle::random::trace;
use crate::support::parse::Case;
use crate::support::random::Random;
use crate::support::report::{Reference, Table};
use crate::support::{archive, fresh, in_memory, options, workers, write, written};

fn analyze(experiment: &Path) -> Summary {
    let directory = fresh();
    let options = options(experiment, &directory.path().join("report.cubex"), Semantics::Corrected);
    replay::analyze(&options, &mut Solo, &mut Progress::silent()).unwrap().summary.unwrap()
}

#[test]
fn waiting_no_longer_than_the_largest_violation_is_doubtful() {
    // The first message arrives 7 ticks before it was sent, and seems to wait for 5; the second one waits for
    // 6, the third one for 30.
    let script = "program prog
rank 0
  0 > main ; 20 > MPI_Send ; 21 send 1 ; 22 < ; 40 > MPI_Send ; 41 send 1 ; 42 < ; 90 > MPI_Send ; 91 send 1 ; 92 < ; 100 <
rank 1
  0 > main ; 10 > MPI_Recv ; 14 recv 0 ; 15 < ; 34 > MPI_Recv ; 43 recv 0 ; 44 < ; 60 > MPI_Recv ; 93 recv 0 ; 94 < ; 100 <
";
    let directory = fresh();
    write::write(&Case::parse(script).unwrap().trace, directory.path());
    let summary = analyze(directory.path());
    assert!((summary.clock_error - 7e-9).abs() < 1e-15, "{}", summary.clock_error);
    let [doubt] = &summary.doubts[..] else { panic!("{:?}", summary.doubts) };
    assert_eq!(doubt.title, "Late Sender");
    assert!((doubt.seconds - 11e-9).abs() < 1e-15 && (doubt.of - 41e-9).abs() < 1e-15, "{doubt:?}");
    assert!(
        summary.to_string().contains("Clocks are wrong by at least 0.000000007 s (--clock-correction helps)"),
        "{summary}"
    );
}

#[test]
fn right_clocks_are_not_mentioned_and_skewed_ones_are() {
    let right = analyze(&archive("late_sender.4"));
    assert!(right.clock_error == 0.0 && right.doubts.is_empty());
    assert!(!right.to_string().contains("Clocks are wrong"));
    let skewed = analyze(&archive("skewed.4"));
    assert!(skewed.clock_error > 0.0, "{skewed}");
    assert!(skewed.doubts.iter().all(|doubt| doubt.seconds <= doubt.of), "{:?}", skewed.doubts);
}

/// Options with clock correction.
fn corrected(experiment: &Path, report: &Path, semantics: Semantics) -> Options {
    Options { clock_correction: true, ..options(experiment, report, semantics) }
}

#[test]
fn corrected_clocks_give_the_severities_of_the_reference() {
    let directory = fresh();
    let report = directory.path().join("report.cubex");
    let options = corrected(&archive("skewed.4"), &report, Semantics::Reference);
    let outcome = replay::analyze(&options, &mut Solo, &mut Progress::silent()).unwrap();
    let differences =
        Reference::read(&archive("skewed.4").join("corrected.tsv")).differences(&Table::read(&report));
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    let summary = outcome.summary.unwrap().to_string();
    assert!(
        summary.contains("Clocks were corrected: 27 events were too early, by up to 0.0001281"),
        "{summary}"
    );
    assert!(!summary.contains("Clocks are wrong"), "{summary}");
}

/// A random trace in which the clock of each process is wrong by 200 µs to 1 s. Every third one has a tick of
/// 1 µs, so that many events have the same time.
fn skewed(seed: u64) -> crate::support::trace::Trace {
    let mut trace = trace(seed);
    let mut random = Random::new(seed);
    let ranks = trace.streams.iter().map(|stream| stream.rank).max().unwrap_or(0);
    let errors: Vec<u64> = (0..=ranks)
        .map(|_| {
            let error = 10_u64.pow(5 + random.below(5) as u32).max(200_000);
            if random.chance(50) { 2_000_000_000 + error } else { 2_000_000_000 - error }
        })
        .collect();
    for stream in &mut trace.streams {
        // Clock offset records would reveal the errors.
        stream.clock.clear();
        stream.events.iter_mut().for_each(|(time, _)| *time += errors[stream.rank as usize]);
        if seed.is_multiple_of(3) {
            stream.events.iter_mut().for_each(|(time, _)| *time /= 1000);
        }
    }
    if seed.is_multiple_of(3) {
        trace.resolution = 1_000_000;
    }
    trace
}

#[test]
fn wrong_clocks_are_corrected_alike_by_any_workers_and_no_violation_is_left() {
    let directory = in_memory();
    let (mut wrong, mut checked, mut of_scans, mut circles) = (0, 0, 0, 0);
    for seed in 0..60 {
        let experiment = directory.path().join(seed.to_string());
        write::write(&skewed(seed), &experiment);
        let report = |name: &str| directory.path().join(format!("{seed}-{name}.cubex"));
        // If threads call MPI in one tick, their order is unknown.
        let mut is_ambiguous = false;
        for is_corrected in [false, true] {
            let options = |name: &str, threads: usize| Options {
                threads,
                clock_correction: is_corrected,
                ..options(&experiment, &report(name), Semantics::Corrected)
            };
            let solo = replay::analyze(&options("solo", 1), &mut Solo, &mut Progress::silent()).unwrap();
            let expected = written(&report("solo"));
            for (processes, threads) in [(1, 2), (2, 1), (3, 2), (8, 1)] {
                workers::analyze_with(&options("many", threads), processes)
                    .into_iter()
                    .for_each(|outcome| drop(outcome.unwrap()));
                let found = written(&report("many"));
                assert!(found == expected, "{seed}, {is_corrected} with {processes} x {threads}");
            }
            let findings = solo.summary.unwrap().findings;
            let violations = findings.count(Finding::ClockMessage) + findings.count(Finding::ClockCollective);
            let odd = [Finding::ConcurrentChannel, Finding::UnknownRequest, Finding::ReusedRequest];
            is_ambiguous |= odd.into_iter().any(|finding| findings.count(finding) > 0);
            if is_corrected && !is_ambiguous {
                checked += 1;
                // A member of a scan that receives nothing does not wait, whatever the times.
                let first = findings.first(Finding::ClockCollective);
                let is_of_scan = first.is_some_and(|first| first.text.contains("scan"));
                assert!(violations == 0 || is_of_scan, "{seed}: {violations}");
                of_scans += violations;
                circles += findings.count(Finding::CyclicWait);
            } else if !is_corrected {
                wrong += u64::from(violations > 0);
            }
        }
    }
    assert!(wrong >= 20, "{wrong} traces with violations");
    assert!(checked >= 40, "{checked} traces of which everything is known");
    assert!(of_scans < wrong / 4, "{of_scans} in scans");
    assert_eq!(circles, 0, "events that wait for themselves");
}

/// The times of all records before and after correction, by location.
fn times(experiment: &Path) -> (Vec<Vec<Ticks>>, Vec<Vec<Ticks>>) {
    let archive = Archive::open(experiment).unwrap();
    let file = archive.definition_file().unwrap();
    let definitions = archive.definition_records(&file).resolve().unwrap();
    let mut trace = replay::trace::Trace::new(definitions, Semantics::Corrected).unwrap();
    let fineness = fineness(&trace.definitions.clock);
    trace.refine_clock(fineness);
    let (metrics, processes) = (Metrics::new(false, trace.semantics), trace.processes.len());
    let (formulas, owners) = (Formulas::new(&trace, &metrics), Owners::new(&vec![0..processes; 1]));
    let (shared, memory) = (Shared::new(1), Memory::default());
    let tools = Tools {
        trace: &trace,
        metrics: &metrics,
        formulas: &formulas,
        owners: &owners,
        shared: &shared,
        memory: &memory,
        together: 0,
        has_details: false,
    };
    let walk = |process| {
        let files = open(&archive, &trace, process).unwrap();
        walk(&archive, &trace, &metrics, &files, Notes::of(Positions::Records), &[], &memory).unwrap()
    };
    let walked: Vec<_> = (0..processes).map(walk).collect();
    let before =
        walked.iter().flat_map(|walked| &walked.records).map(|records| records.times.clone()).collect();
    let corrected = correct(&tools, walked, &mut Findings::default(), &mut Solo).unwrap();
    (before, corrected.times.into_iter().flatten().collect())
}

#[test]
fn corrected_events_keep_their_order_and_are_never_earlier_than_they_were() {
    let directory = in_memory();
    let mut moved = 0;
    for seed in 0..100 {
        let experiment = directory.path().join(seed.to_string());
        write::write(&skewed(seed), &experiment);
        let (before, after) = times(&experiment);
        for (location, (before, after)) in before.iter().zip(&after).enumerate() {
            assert_eq!(before.len(), after.len());
            assert!(after.is_sorted(), "{seed}: {location}");
            assert!(before.iter().zip(after).all(|(before, after)| before <= after), "{seed}: {location}");
            moved += usize::from(before != after);
        }
    }
    assert!(moved >= 100, "{moved} locations");
}
