//! The analyzer against an obvious second implementation (`tests/oracle`), on random traces.
//!
//! `REPLAY_SEED=N` begins with another trace, `REPLAY_TRACES=N` takes that many.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use replay::Semantics;

use crate::oracle::findings::FINDINGS;
use crate::oracle::random::features::FEATURES;
use crate::oracle::random::{program, trace};
use crate::oracle::script::script;
use crate::oracle::{Answer, METRICS, OF_TASKS, analyze};
use crate::support::random::Random;
use crate::support::report::Table;
use crate::support::trace::Trace;
use crate::support::{SEMANTICS, in_memory, random_tasks, statistics, workers, write, written};

/// Random traces of a run, unless `REPLAY_TRACES` says otherwise.
const TRACES: u64 = 300;

/// In how many traces of a usual run each metric, finding and feature has to occur.
const AT_LEAST: usize = 5;

fn variable(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |value| value.parse().unwrap_or_else(|_| panic!("{name}: {value}")))
}

#[test]
fn random_trace_gives_the_severities_and_findings_of_the_second_implementation() {
    let (seed, traces) = (variable("REPLAY_SEED", 0), variable("REPLAY_TRACES", TRACES));
    let mut occurrences: BTreeMap<String, usize> = BTreeMap::new();
    let mut problems = Vec::new();
    for seed in seed..seed + traces {
        let directory = in_memory();
        let (trace, features) = program(seed);
        write::write(&trace, directory.path());
        let mut found = Vec::new();
        let mut occurring: BTreeSet<String> = features.into_iter().map(String::from).collect();
        for semantics in SEMANTICS {
            let want = analyze(directory.path(), semantics);
            occurring.extend(want.severities.keys().map(|key| key.0.clone()));
            occurring.extend(want.findings.keys().cloned());
            found.extend(differences(&trace, directory.path(), semantics, &want));
        }
        for what in occurring {
            *occurrences.entry(what).or_default() += 1;
        }
        if !found.is_empty() {
            let kept = directory.keep();
            std::fs::write(kept.join("script.trace"), script(&trace)).unwrap();
            problems.push(format!("seed {seed}, {}:\n  {}", kept.display(), found.join("\n  ")));
        }
    }
    assert!(problems.is_empty(), "{} traces differ\n{}", problems.len(), problems.join("\n"));
    for what in METRICS.iter().chain(&FINDINGS).chain(&FEATURES) {
        let traces_with = occurrences.get(*what).copied().unwrap_or(0);
        assert!(traces < TRACES || traces_with >= AT_LEAST, "{what} occurs in {traces_with} traces only");
    }
}

#[test]
fn random_tasks_give_the_severities_of_the_second_implementation() {
    let mut problems = Vec::new();
    let mut waits = 0;
    for seed in 0..TRACES / 3 {
        let directory = in_memory();
        let trace = random_tasks::trace(seed, false);
        write::write(&trace, directory.path());
        for semantics in SEMANTICS {
            let want = analyze(directory.path(), semantics);
            waits += usize::from(want.samples.contains_key("omp_ibarrier_wait"));
            let found = differences(&trace, directory.path(), semantics, &want);
            problems.extend(found.into_iter().map(|problem| format!("seed {seed}: {problem}")));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(waits >= AT_LEAST, "threads wait in {waits} analyses only");
}

#[test]
fn random_trace_gives_the_same_report_with_any_workers() {
    let (seed, traces) = (variable("REPLAY_SEED", 0), variable("REPLAY_TRACES", TRACES));
    for seed in seed..seed + traces {
        let directory = in_memory();
        write::write(&trace(seed), directory.path());
        let mut random = Random::new(seed);
        let semantics = random.pick(&SEMANTICS);
        let one = report(directory.path(), semantics, 1, 1);
        let (processes, threads) = (1 + random.below(3), 2 + random.below(3));
        let many = report(directory.path(), semantics, processes, threads);
        if one != many {
            let kept = directory.keep();
            panic!("seed {seed}, {}: {processes} processes of {threads} threads", kept.display());
        }
    }
}

/// The bytes of report and statistics of so many workers.
fn report(experiment: &Path, semantics: Semantics, processes: usize, threads: usize) -> [Vec<u8>; 2] {
    let report = experiment.join(format!("{processes}x{threads}.cubex"));
    for outcome in workers::analyze(experiment, &report, semantics, processes, threads) {
        outcome.unwrap();
    }
    written(&report)
}

/// What the analyzer says otherwise.
fn differences(trace: &Trace, experiment: &Path, semantics: Semantics, want: &Answer) -> Vec<String> {
    let path = experiment.join(format!("{}.cubex", semantics.name()));
    if let Err(error) = crate::support::analyze(experiment, &path, semantics) {
        return vec![format!("{}: no report: {error}", semantics.name())];
    }
    let table = Table::read(&path);
    let got: BTreeMap<_, f64> = table
        .named()
        .into_iter()
        .filter(|((metric, ..), _)| METRICS.iter().chain(&OF_TASKS).any(|it| it == metric))
        .map(|(key, value)| {
            let is_time = table.metric(&key.0).is_some_and(|at| table.metrics[at].1 == "sec");
            (key, if is_time { value * trace.resolution as f64 } else { value })
        })
        .collect();
    let mut problems = Vec::new();
    let findings = table.findings();
    for name in FINDINGS {
        let (want, got) = (want.findings.get(name), findings.get(name));
        if want != got {
            problems.push(format!("{}: {name}: expected {want:?}, found {got:?}", semantics.name()));
        }
    }
    if semantics == Semantics::Corrected {
        problems.extend(statistics_differences(trace, &path, want));
    }
    let want = &want.severities;
    for key in want.keys().chain(got.keys()).collect::<BTreeSet<_>>() {
        let (want, got) = (want.get(key).copied().unwrap_or(0), got.get(key).copied().unwrap_or(0.0));
        if (want as f64 - got).abs() > 1e-3 {
            let ((metric, path, location), semantics) = (key, semantics.name());
            problems.push(format!("{semantics}: {metric} {path} @{location}: expected {want}, found {got}"));
        }
    }
    problems
}

/// What the numbers of the statistics say otherwise: exact order statistics.
fn statistics_differences(trace: &Trace, report: &Path, want: &Answer) -> Vec<String> {
    let mut problems = Vec::new();
    let patterns = statistics::read(report);
    let found: BTreeMap<&str, &[f64]> =
        patterns.iter().map(|pattern| (pattern.name.as_str(), &pattern.numbers[..])).collect();
    let (names, occurring): (BTreeSet<_>, BTreeSet<_>) =
        (found.keys().copied().collect(), want.samples.keys().map(String::as_str).collect());
    if names != occurring {
        return vec![format!("statistics: expected {occurring:?}, found {names:?}")];
    }
    for (name, samples) in &want.samples {
        let mut sorted = samples.clone();
        sorted.sort_unstable();
        let count = sorted.len();
        let ticks = |ticks: i64| ticks as f64 / trace.resolution as f64;
        let quarter = |k: usize| ticks(sorted[(k * count).div_ceil(4) - 1]);
        let sum = ticks(sorted.iter().sum());
        let mean = sum / count as f64;
        let mut expected =
            vec![count as f64, mean, quarter(2), ticks(sorted[0]), ticks(sorted[count - 1]), sum];
        if count >= 2 {
            let squares = sorted.iter().map(|&sample| (ticks(sample) - mean).powi(2)).sum::<f64>();
            expected.push(squares / count as f64);
        }
        if count >= 5 {
            expected.extend([quarter(1), quarter(3)]);
        }
        let got = found[name.as_str()];
        let is_equal = |(want, got): (&f64, &f64)| (want - got).abs() <= 1e-7 + 1e-9 * want.abs();
        if expected.len() != got.len() || !expected.iter().zip(got).all(is_equal) {
            problems.push(format!("statistics of {name}: expected {expected:?}, found {got:?}"));
        }
    }
    problems
}
