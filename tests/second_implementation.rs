//! Comparison of the analyzer with a simple second implementation (`tests/oracle`), on random traces and real
//! archives.
//!
//! `REPLAY_SEED=N` starts with another trace, `REPLAY_TRACES=N` sets the number of traces.
//!
//! Times and counts are integers, and must be equal. Costs are shares of times: the analyzer sums them up as
//! fixed-point numbers, each of which may be off by 2^-56 ticks, the second implementation as doubles, and
//! the report has them in seconds, as doubles again. So they may differ by a millionth of a tick, or by a
//! relative 10^-9.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use replay::Semantics;

use crate::oracle::findings::FINDINGS;
use crate::oracle::random::features::FEATURES;
use crate::oracle::random::{lawful, program, trace};
use crate::oracle::script::script;
use crate::oracle::{
    AnalysisResult, COSTS, COSTS_OF_REST, COSTS_OF_TEAMS, METRICS, OF_PATH, OF_TEAMS, SAMPLED, analyze,
};
use crate::support::parse::Case;
use crate::support::random::Random;
use crate::support::report::Table;
use crate::support::trace::Trace;
use crate::support::{self, SEMANTICS, in_memory, random_tasks, statistics, workers, write, written};

/// Number of random traces, unless `REPLAY_TRACES` is set.
const TRACES: u64 = 300;

/// Number of traces of a run in which each metric, finding and feature has to occur.
const AT_LEAST: usize = 5;

pub(crate) fn variable(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |value| value.parse().unwrap_or_else(|_| panic!("{name}: {value}")))
}

/// Comparison of both implementations, trace by trace.
#[derive(Default)]
struct Comparison {
    /// Number of traces with each metric, finding and feature.
    occurrences: BTreeMap<String, usize>,
    analyses: usize,
    /// Number of analyses in which long-term costs were not compared.
    cyclic: usize,
    problems: Vec<String>,
}

impl Comparison {
    /// Compares a trace in both semantics.
    fn trace(&mut self, name: &str, trace: &Trace, features: BTreeSet<&'static str>) {
        let directory = in_memory();
        write::write(trace, directory.path());
        let mut all: BTreeSet<String> = features.into_iter().map(String::from).collect();
        let mut found = Vec::new();
        for semantics in SEMANTICS {
            let want = analyze(directory.path(), semantics);
            all.extend(want.severities.keys().chain(want.costs.keys()).map(|key| key.0.clone()));
            all.extend(want.findings.keys().cloned());
            found.extend(self.differences(
                trace.resolution,
                directory.path(),
                directory.path(),
                semantics,
                &want,
            ));
        }
        all.into_iter().for_each(|what| *self.occurrences.entry(what).or_default() += 1);
        if !found.is_empty() {
            let kept = directory.keep();
            std::fs::write(kept.join("script.trace"), script(trace)).unwrap();
            self.problems.push(format!("{name}, {}:\n  {}", kept.display(), found.join("\n  ")));
        }
    }

    /// Compares both implementations on an experiment, with the report in some folder.
    fn differences(
        &mut self,
        resolution: u64,
        experiment: &Path,
        folder: &Path,
        semantics: Semantics,
        want: &AnalysisResult,
    ) -> Vec<String> {
        let path = folder.join(format!("{}.cubex", semantics.name()));
        if let Err(error) = support::analyze(experiment, &path, semantics) {
            return vec![format!("{}: no report: {error}", semantics.name())];
        }
        let table = Table::read(&path);
        self.analyses += 1;
        self.cyclic += usize::from(is_cyclic(&table));
        report_differences((&table, &path), resolution, semantics, want)
    }

    fn expect_equality(&self) {
        assert!(self.problems.is_empty(), "{} differ\n{}", self.problems.len(), self.problems.join("\n"));
    }

    /// Checks that everything occurs often enough, and that analyses without comparison are rare.
    fn expect_all<'a>(&self, all: impl IntoIterator<Item = &'a &'static str>) {
        eprintln!("traces with each: {:#?}", self.occurrences);
        for what in all {
            let traces_with = self.occurrences.get(*what).copied().unwrap_or(0);
            assert!(traces_with >= AT_LEAST, "{what} occurs in {traces_with} traces only");
        }
        // In 2 % (123 of 6000) wrong clocks let waits be their own causes; where clocks agree there is none
        // (`lawful_program_gives_no_findings`).
        assert!(25 * self.cyclic <= self.analyses, "{} of {} are cyclic", self.cyclic, self.analyses);
    }
}

#[test]
fn random_trace_gives_the_severities_and_findings_of_the_second_implementation() {
    let (seed, traces) = (variable("REPLAY_SEED", 0), variable("REPLAY_TRACES", TRACES));
    let mut comparison = Comparison::default();
    for seed in seed..seed + traces {
        let (trace, features) = program(seed);
        eprintln!("SEED {seed}");
        comparison.trace(&format!("seed {seed}"), &trace, features);
    }
    comparison.expect_equality();
    if traces >= TRACES {
        comparison.expect_all(METRICS.iter().chain(&FINDINGS).chain(&FEATURES));
        comparison.expect_all(OF_TEAMS.iter().chain(&COSTS_OF_TEAMS).chain(&COSTS_OF_REST));
    }
}

/// Who keeps to the rules is not blamed for breaking them, and no costs depend on themselves. `REPLAY_KEEP=DIRECTORY` leaves each
/// trace and its report there, for comparisons with other tools.
#[test]
fn lawful_program_gives_no_findings() {
    let (seed, traces) = (variable("REPLAY_SEED", 0), variable("REPLAY_TRACES", TRACES));
    let mut comparison = Comparison::default();
    let mut problems = Vec::new();
    for seed in seed..seed + traces {
        let (directory, trace) = (in_memory(), lawful(seed));
        let path = match std::env::var_os("REPLAY_KEEP") {
            Some(kept) => Path::new(&kept).join(seed.to_string()),
            None => directory.path().to_owned(),
        };
        write::write(&trace, &path);
        let report = path.join("corrected.cubex");
        let want = analyze(&path, Semantics::Corrected);
        let found = comparison.differences(trace.resolution, &path, &path, Semantics::Corrected, &want);
        problems.extend(found.into_iter().map(|problem| format!("seed {seed}: {problem}")));
        let findings = Table::read(&report).oddities();
        if !findings.is_empty() {
            problems.push(format!("seed {seed}: {findings:?}"));
        }
        if directory.path() != path {
            std::fs::write(path.join("script.trace"), script(&trace)).unwrap();
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Traces without gaps, in which more waits cause further waits.
#[test]
fn random_program_gives_the_costs_of_the_second_implementation() {
    let (seed, traces) = (variable("REPLAY_SEED", 0), variable("REPLAY_TRACES", TRACES) / 2);
    let mut comparison = Comparison::default();
    for seed in seed..seed + traces {
        comparison.trace(&format!("seed {seed}"), &support::random::trace(seed), BTreeSet::new());
    }
    comparison.expect_equality();
    if traces >= TRACES / 2 {
        comparison.expect_all(&COSTS);
    }
}

#[test]
fn random_tasks_give_the_severities_of_the_second_implementation() {
    let mut comparison = Comparison::default();
    for seed in 0..TRACES / 3 {
        comparison.trace(&format!("seed {seed}"), &random_tasks::trace(seed, false), BTreeSet::new());
    }
    comparison.expect_equality();
    comparison.expect_all(&["omp_ibarrier_wait"]);
}

#[test]
fn archive_gives_the_severities_of_the_second_implementation() {
    let mut comparison = Comparison::default();
    for path in support::archives() {
        let resolution = otf2::Archive::open(&path).unwrap().definitions().unwrap().clock.resolution;
        for semantics in SEMANTICS {
            let want = analyze(&path, semantics);
            let found = comparison.differences(resolution, &path, in_memory().path(), semantics, &want);
            let name = support::name(&path);
            comparison.problems.extend(found.into_iter().map(|problem| format!("{name}: {problem}")));
        }
    }
    comparison.expect_equality();
    assert_eq!(comparison.cyclic, 0);
}

/// Scripts with what the second implementation does not know: calling contexts, locations other than threads, damage and
/// references without definition, nested and incomplete teams, tasks on several threads, attributes of recorders that count what
/// they leave out, partitioned messages, sessions, corrected clocks.
const UNKNOWN: [&str; 50] = [
    "accelerator",
    "accelerator_first",
    "call_sites",
    "calling_contexts",
    "certain_functions",
    "common_ancestor",
    "corrected_team",
    "counters_with_samples",
    "damaged_events",
    "damaged_thread",
    "fork_join_at_once",
    "fork_join_wrong_clock",
    "odd_calls",
    "odd_requests",
    "odd_tasks",
    "offload_balanced",
    "offload_call_site_filtered",
    "offload_call_site_on_streams",
    "offload_call_sites",
    "offload_clock",
    "offload_copy",
    "offload_device",
    "offload_done",
    "offload_event",
    "offload_graph",
    "offload_idle",
    "offload_imbalance",
    "offload_late_launch",
    "offload_late_sender",
    "offload_launch_filtered",
    "offload_no_copies",
    "offload_only_stream",
    "offload_opencl",
    "offload_queue",
    "offload_references_missing",
    "offload_stream",
    "offload_stream_waits",
    "openmp_barrier_missing_thread",
    "openmp_nested_teams",
    "openmp_nested_teams_root_causes",
    "openmp_tasks_nested",
    "partitioned",
    "recording_pauses",
    "recording_pauses_in_requests",
    "recording_pauses_without_order",
    "root_outside_of_communicator",
    "samples",
    "samples_between_calls",
    "sessions_and_world",
    "time_goes_backwards",
];

#[test]
fn golden_script_gives_the_severities_of_the_second_implementation() {
    let mut comparison = Comparison::default();
    let scripts = support::golden();
    for name in UNKNOWN {
        assert!(scripts.iter().any(|script| support::name(script) == name), "there is no {name}");
    }
    for script in scripts.iter().filter(|script| !UNKNOWN.contains(&&*support::name(script))) {
        comparison.trace(&support::name(script), &Case::read(script).trace, BTreeSet::new());
    }
    comparison.expect_equality();
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

/// The bytes of report and statistics with this number of workers.
fn report(experiment: &Path, semantics: Semantics, processes: usize, threads: usize) -> [Vec<u8>; 2] {
    let report = experiment.join(format!("{processes}x{threads}.cubex"));
    for outcome in workers::analyze(experiment, &report, semantics, processes, threads) {
        outcome.unwrap();
    }
    written(&report)
}

/// Whether locations block each other in the backward replay, as they can with wrong clocks. The analyzer then releases one
/// without costs, also where none depends on itself: the definitions have no such order.
fn is_cyclic(table: &Table) -> bool {
    table.findings().contains_key("cyclic wait")
}

/// Differences of a report from what is expected.
pub(crate) fn report_differences(
    (table, path): (&Table, &Path),
    resolution: u64,
    semantics: Semantics,
    want: &AnalysisResult,
) -> Vec<String> {
    let mut problems = Vec::new();
    let findings = table.findings();
    for name in FINDINGS {
        let (want, got) = (want.findings.get(name), findings.get(name));
        if want != got {
            problems.push(format!("{}: {name}: expected {want:?}, found {got:?}", semantics.name()));
        }
    }
    if semantics == Semantics::Corrected {
        problems.extend(statistics_differences(resolution, path, want));
    }
    let is_cyclic = is_cyclic(table);
    if want.is_circular && !is_cyclic {
        problems.push(format!("{}: costs depend on themselves without a finding", semantics.name()));
    }
    // In the reference's semantics the analyzer has the time of a task twice in the time maps, as in
    // `time`: in the calls of the task, and in its stub, which no event enters or leaves (specification
    // 7.2, 11.1).
    let has_stubs = semantics == Semantics::Reference && want.has_tasks;
    let of_maps = [&COSTS[..], &COSTS_OF_TEAMS, &COSTS_OF_REST, &OF_PATH].concat();
    let known = [&METRICS[..], &OF_TEAMS, &of_maps].concat();
    let is_compared = |metric: &str| {
        known.contains(&metric)
            && !(is_cyclic && metric.ends_with("_longterm"))
            && !(has_stubs && of_maps.contains(&metric))
    };
    problems.extend(value_differences(table, resolution, semantics, want, is_compared));
    problems
}

/// Differences of severities, for the metrics that are compared.
fn value_differences(
    table: &Table,
    resolution: u64,
    semantics: Semantics,
    want: &AnalysisResult,
    is_compared: impl Fn(&str) -> bool,
) -> Vec<String> {
    let got = table.named().into_iter().map(|(key, value)| {
        let is_time = table.metric(&key.0).is_some_and(|at| table.metrics[at].1 == "sec");
        (key, if is_time { value * resolution as f64 } else { value })
    });
    let got: BTreeMap<_, f64> = got.collect();
    let keys: BTreeSet<_> = want.severities.keys().chain(want.costs.keys()).chain(got.keys()).collect();
    let mut problems = Vec::new();
    for key in keys.into_iter().filter(|key| is_compared(&key.0)) {
        let found = got.get(key).copied().unwrap_or(0.0);
        let (expected, tolerance) = match want.severities.get(key) {
            None if COSTS.iter().chain(&COSTS_OF_TEAMS).chain(&COSTS_OF_REST).any(|it| *it == key.0) => {
                let cost = want.costs.get(key).copied().unwrap_or(0.0);
                (cost, 1e-6 + 1e-9 * cost.abs())
            }
            // Values in seconds are not exact.
            ticks => (ticks.copied().unwrap_or(0) as f64, 1e-3),
        };
        if (expected - found).abs() > tolerance {
            let ((metric, path, location), semantics) = (key, semantics.name());
            problems.push(format!(
                "{semantics}: {metric} {path} @{location}: expected {expected}, found {found}"
            ));
        }
    }
    problems
}

/// Differences of the statistics, which are exact order statistics.
fn statistics_differences(resolution: u64, report: &Path, want: &AnalysisResult) -> Vec<String> {
    let mut problems = Vec::new();
    let mut patterns = statistics::read(report);
    patterns.retain(|pattern| SAMPLED.contains(&pattern.name.as_str()));
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
        let ticks = |ticks: i64| ticks as f64 / resolution as f64;
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
