//! `--focus`: what is counted is the part that was asked for, and parts add up to the whole (structure 3.4).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use replay::exchange::Solo;
use replay::progress::Progress;
use replay::{DetailsPlace, Focus, Options, Semantics};

use crate::oracle::random::program;
use crate::support::parse::Case;
use crate::support::random::Random;
use crate::support::report::{Named, Table};
use crate::support::tables::Details;
use crate::support::{
    archive, archives, in_memory, name, options, random, random_tasks, run, statistics, workers, write,
};

/// Metrics that follow from others by formulas that are no sums.
const FORMULAS: [&str; 13] = [
    "computational_imbalance",
    "imbalance",
    "idle",
    "critical_path_imbalance",
    "performance_impact",
    "critical_path_activities",
    "non_critical_path_activities",
    "critical_imbalance_impact",
    "intra_partition_imbalance",
    "inter_partition_imbalance",
    "omp_idle_threads",
    "omp_limited_parallelism",
    "delay_omp",
];

fn focused(experiment: &Path, report: &Path, focus: &[&str]) -> Result<Table, String> {
    let focus = focus.iter().map(|text| Focus::parse(text).unwrap()).collect();
    let details = Some(DetailsPlace::Nowhere);
    let options = Options { focus, details, ..options(experiment, report, Semantics::Corrected) };
    let outcome = replay::analyze(&options, &mut Solo, &mut Progress::silent());
    outcome.map_err(|error| error.to_string())?;
    Ok(Table::read(report))
}

/// Values of metrics that add up over parts of a run.
fn additive(table: &Table) -> Named {
    let is_formula = |metric: &str| {
        FORMULAS.contains(&metric)
            || ["computation", "imbalance", "performance_impact"].iter().any(|kind| metric.starts_with(kind))
    };
    table.named().into_iter().filter(|((metric, ..), _)| !is_formula(metric)).collect()
}

fn are_close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()) + 1e-12
}

/// Differences of values that should be equal.
fn differences(want: &Named, got: &Named) -> Vec<String> {
    let keys: BTreeSet<_> = want.keys().chain(got.keys()).collect();
    let value = |of: &Named, key| of.get(key).copied().unwrap_or(0.0);
    let differing = keys.into_iter().filter(|key| !are_close(value(want, key), value(got, key)));
    differing.map(|key| format!("{key:?}: {} and not {}", value(got, key), value(want, key))).collect()
}

#[test]
fn parts_before_and_behind_a_time_add_up_to_the_whole_run() {
    let directory = in_memory();
    let path = directory.path().join("r.cubex");
    let mut random = Random::new(17);
    let (mut problems, mut metrics) = (Vec::new(), BTreeSet::new());
    for experiment in archives() {
        let whole = additive(&focused(&experiment, &path, &[]).unwrap());
        metrics.extend(whole.keys().map(|(metric, ..)| metric.clone()));
        for _ in 0..3 {
            let at = 1 + random.below(98);
            let parts = [format!("time=0-{at}%"), format!("time={at}%-")];
            let mut sum = Named::new();
            for part in &parts {
                for (key, value) in additive(&focused(&experiment, &path, &[part]).unwrap()) {
                    *sum.entry(key).or_default() += value;
                }
            }
            let found = differences(&whole, &sum);
            problems.extend(found.into_iter().map(|it| format!("{} at {at} %: {it}", name(&experiment))));
        }
    }
    assert!(
        problems.is_empty(),
        "{} problems:\n{}",
        problems.len(),
        problems[..problems.len().min(60)].join("\n")
    );
    for metric in
        ["time", "visits", "bytes_sent", "mpi_latesender", "delay_latesender_longterm", "critical_path"]
    {
        assert!(metrics.contains(metric), "{metric}");
    }
}

#[test]
fn parts_of_random_traces_add_up_to_the_whole_run() {
    let directory = in_memory();
    let path = directory.path().join("r.cubex");
    let mut problems = Vec::new();
    for seed in 0..60 {
        let experiment = in_memory();
        let (trace, kind) = match seed % 3 {
            0 => (random::trace(seed), "trace"),
            1 => (program(seed).0, "program"),
            _ => (random_tasks::trace(seed, false), "tasks"),
        };
        write::write(&trace, experiment.path());
        let whole = additive(&focused(experiment.path(), &path, &[]).unwrap());
        let mut sum = Named::new();
        let mut random = Random::new(seed);
        let mut borders = [1 + random.below(98), 1 + random.below(98)];
        borders.sort_unstable();
        let [a, b] = borders;
        // Nothing lies between two equal times.
        for part in [format!("time=0-{a}%"), format!("time={a}%-{b}%"), format!("time={b}%-")] {
            if let Ok(part) = focused(experiment.path(), &path, &[&part]) {
                additive(&part).into_iter().for_each(|(key, value)| *sum.entry(key).or_default() += value);
            }
        }
        let found = differences(&whole, &sum);
        problems.extend(found.into_iter().map(|it| format!("{kind} {seed} at {a} and {b} %: {it}")));
    }
    assert!(
        problems.is_empty(),
        "{} problems:\n{}",
        problems.len(),
        problems[..problems.len().min(40)].join("\n")
    );
}

#[test]
fn focus_on_everything_is_no_focus_but_for_its_attributes() {
    let directory = in_memory();
    let path = directory.path().join("r.cubex");
    for experiment in archives() {
        let name = name(&experiment);
        let whole = focused(&experiment, &path, &[]).unwrap();
        let numbers = statistics::text(&path);
        let all = focused(&experiment, &path, &["time=0-"]).unwrap();
        assert_eq!(statistics::text(&path), numbers, "{name}");
        assert!(
            all.values == whole.values && all.paths == whole.paths && all.metrics == whole.metrics,
            "{name}"
        );
        let others = |table: &Table| -> BTreeMap<String, String> {
            // A part of the run has no efficiencies.
            let parts = ["Replay::Focus", "Replay::Efficiency::"];
            let is_of_parts = |key: &String| parts.iter().any(|part| key.starts_with(part));
            let kept = |key: &String| !is_of_parts(key) && !key.contains("do not correspond");
            table
                .attributes
                .iter()
                .filter(|(key, _)| kept(key))
                .map(|(a, b)| (a.clone(), b.clone()))
                .collect()
        };
        assert_eq!(others(&all), others(&whole), "{name}");
        assert_eq!(all.attributes["Replay::Focus"], "time=0-", "{name}");
    }
}

#[test]
fn iterations_have_the_values_of_the_series() {
    let directory = in_memory();
    let path = directory.path().join("r.cubex");
    let mut compared = BTreeMap::new();
    // Threads without calls of MPI are in no iteration of the series.
    for experiment in archives().into_iter().filter(|experiment| !name(experiment).starts_with("hybrid")) {
        let name = name(&experiment);
        let options = options(&experiment, &path, Semantics::Corrected);
        let outcome = replay::analyze(&options, &mut Solo, &mut Progress::silent()).unwrap();
        let details = Details::open(&path);
        let Some(main_loop) = details.manifest.main_loop.clone() else { continue };
        if outcome.lacks_data {
            continue;
        }
        let values = details.rows("series_values").unwrap();
        for iteration in 1..=main_loop.iterations.min(4) {
            let focus = format!("iterations={iteration}");
            let found = match focused(&experiment, &path, &[&focus]) {
                Ok(found) => found,
                Err(error) => {
                    assert!(error.contains("not the same on all ranks"), "{name}: {error}");
                    break;
                }
            };
            for (metric, id) in (0_i128..).zip(&main_loop.metrics) {
                // Costs are charged where their causes are, in whatever iteration; the path is another one.
                let is_elsewhere =
                    id.starts_with("delay") || id == "critical_path" || id.starts_with("mpi_wait_");
                // Polls between iterations, and overlap, lie at calls or beside these.
                if is_elsewhere || id.starts_with("mpi_overlap") || id.starts_with("computation") {
                    continue;
                }
                let row = values
                    .iter()
                    .find(|row| row["metric"] == metric && row["iteration"] == i128::from(iteration));
                let want = row.map_or(0.0, |row| row["sum"] as f64);
                let want = if found.is_time(id) { want * details.seconds(1) } else { want };
                let at = found.metric(id).unwrap();
                let own = found.values.iter().filter(|&(&(metric, ..), _)| metric == at);
                let got: f64 = own.map(|(_, value)| value).sum();
                assert!(are_close(got, want), "{name}: {focus}: {id}: {got} and not {want}");
                *compared.entry(id.clone()).or_insert(0) += 1;
            }
        }
    }
    assert!(compared["time"] > 20 && compared["mpi_latesender"] > 10, "{compared:?}");
}

#[test]
fn report_of_a_part_is_the_same_for_any_number_of_workers() {
    let directory = in_memory();
    for (archive_name, focus) in [
        ("comms.7", "time=30%-55%"),
        ("hybrid.3x3", "time=20%-70%"),
        ("nxn.8", "iterations=2"),
        ("imbalance_chain.8", "phase=main"),
        ("rma.4", "iterations=2-3"),
    ] {
        let path = directory.path().join("r.cubex");
        let focus = vec![Focus::parse(focus).unwrap()];
        let options = Options { focus, ..options(&archive(archive_name), &path, Semantics::Corrected) };
        let mut first: Option<Vec<Vec<u8>>> = None;
        for processes in [1, 2, 3, 7] {
            for outcome in workers::analyze_with(&options, processes) {
                outcome.unwrap_or_else(|error| panic!("{archive_name}: {error}"));
            }
            let bytes = vec![std::fs::read(&path).unwrap(), statistics::text(&path).into_bytes()];
            assert!(
                *first.get_or_insert_with(|| bytes.clone()) == bytes,
                "{archive_name}: {processes} workers"
            );
        }
    }
}

#[test]
fn empty_and_wrong_focuses_have_status_2_and_say_what_there_is() {
    let directory = in_memory();
    let report = directory.path().join("r.cubex");
    for (archive_name, focus, says) in [
        ("comms.4", "time=99999-", "the trace is"),
        ("comms.4", "iterations=4", "the main loop has 3 iterations"),
        ("comms.4", "iterations=cluster=9", "numbered from 1"),
        ("comms.4", "phase=nothing", "no main thread enters a region named nothing; the trace has"),
        ("comms.4", "phase=main#2", "main is visited 1 times at most"),
        ("comms.4", "loop=9.9", "no main thread has a loop 9.9"),
        ("self_and_null.4", "iterations=1", "no main loop"),
        ("comms.4", "phase=main,nothing", "region named nothing"),
        ("comms.4", "when=3", "a focus is time=A-B"),
        ("comms.4", "time=-0", "the trace is"),
        ("comms.4", "time=5-3", "the trace is"),
    ] {
        let experiment = archive(archive_name);
        let arguments = ["-o", report.to_str().unwrap(), "--focus", focus, experiment.to_str().unwrap()];
        let ended = run::analyze(arguments);
        ended.expect(2);
        assert!(ended.stderr.contains(says), "{focus}: {}", ended.stderr);
        assert!(!report.exists(), "{focus}");
    }
}

#[test]
fn numbers_that_are_not_known_are_refused() {
    let directory = in_memory();
    let report = directory.path().join("r.cubex");
    // Without the corrected semantics loops are not looked for.
    let focus = vec![Focus::parse("iterations=2").unwrap()];
    let options = Options { focus, ..options(&archive("comms.4"), &report, Semantics::Reference) };
    let outcome = replay::analyze(&options, &mut Solo, &mut Progress::silent());
    assert!(outcome.unwrap_err().to_string().contains("with --semantics corrected only"));
    // Calling contexts are known at single events: a function may be visited more often.
    let script = Case::read(&crate::support::project("tests/golden/calling_contexts.trace"));
    let experiment = in_memory();
    write::write(&script.trace, experiment.path());
    let all = focused(experiment.path(), &report, &["phase=main"]).unwrap();
    assert!(all.sum("time", 0) > 0.0);
    let error = focused(experiment.path(), &report, &["phase=main#1"]).unwrap_err();
    assert!(error.contains("visits of main cannot be numbered; phase=main counts all of them"), "{error}");
}

#[test]
fn several_focuses_count_what_they_have_in_common_and_name_the_report() {
    let directory = in_memory();
    let experiment = directory.path().join("x");
    std::fs::create_dir(&experiment).unwrap();
    crate::support::copy(&archive("comms.4"), &experiment);
    let ended = run::analyze([
        "--focus",
        "iterations=1-2",
        "--focus",
        "iterations=2-3",
        experiment.to_str().unwrap(),
    ]);
    ended.expect(0);
    let says = "Only a part of the run counts here: iterations=1-2 and iterations=2-3\n";
    assert!(ended.stdout.contains(says), "{}", ended.stdout);
    let both = Table::read(&experiment.join("trace.focus-iterations-1-2+iterations-2-3.cubex"));
    let alone = focused(&experiment, &directory.path().join("r.cubex"), &["iterations=2"]).unwrap();
    assert_eq!(both.values, alone.values);
    // They have none in common.
    let ended =
        run::analyze(["--focus", "iterations=1", "--focus", "iterations=3", experiment.to_str().unwrap()]);
    ended.expect(2);
    assert!(ended.stderr.contains("no time in common"), "{}", ended.stderr);
}
