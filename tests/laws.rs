//! Laws that hold for every trace: real archives, the scripts of `tests/golden`, and hundreds of random
//! traces.

mod rest_of_mpi;
mod severities;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use model::Ticks;
use otf2::Archive;
use patterns::matched::ReceivedMessage;
use replay::assignment::Owners;
use replay::exchange::Solo;
use replay::findings::Findings;
use replay::formulas::Formulas;
use replay::matching::match_operations;
use replay::memory::Memory;
use replay::metrics::{Metrics, NumberedPattern};
use replay::results::Instances;
use replay::shared::Shared;
use replay::tools::Tools;
use replay::walk::{self, Notes, Positions, Walked};
use replay::{Options, Semantics, wait_states};

use severities::{coverage, deviations, lifetimes, negative, parents, waiting};

use crate::support::parse::Case;
use crate::support::report::Table;
use crate::support::trace::{Context, Step, Trace};
use crate::support::{
    SEMANTICS, analyze, archives, fresh, golden, name, options, random, random_tasks, workers, write,
};

/// Number of random traces.
const TRACES: u64 = 240;

#[test]
fn laws_hold_for_real_archives() {
    let mut problems = Vec::new();
    for archive in archives() {
        check_all(&archive, &name(&archive), true, &mut problems);
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn laws_hold_for_golden_scripts() {
    let mut problems = Vec::new();
    for script in golden() {
        let case = Case::read(&script);
        let directory = fresh();
        write::write(&case.trace, directory.path());
        // With wrong clocks, waiting of threads is not cut to the call.
        let uncut = ["openmp_barrier_wrong_clock", "openmp_lock_wrong_clock", "corrected_team_barrier"];
        if uncut.contains(&&*name(&script)) {
            continue;
        }
        // In the reference's semantics, a region that counts as MPI by one criterion only has waiting without
        // MPI time.
        let is_odd = !case.trace.regions.is_empty();
        for semantics in SEMANTICS {
            if is_odd && semantics == Semantics::Reference {
                continue;
            }
            // The reference counts the time of tasks twice.
            let is_task = |(_, step): &(u64, Step)| matches!(step, Step::TaskSwitch(..));
            let has_tasks = case.trace.streams.iter().any(|stream| stream.events.iter().any(is_task));
            let has_lifetime = case.trace.contexts.is_empty()
                && !(has_tasks && semantics == Semantics::Reference)
                && case.trace.streams.iter().all(|s| s.cut == 0 && !s.missing)
                && case.findings(semantics).is_some_and(|found| !found.contains_key("time going backwards"));
            let path = directory.path();
            check(path, &name(&script), semantics, has_lifetime, &mut problems);
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn laws_hold_for_random_traces_and_both_semantics_agree_on_them() {
    let mut problems = Vec::new();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for seed in 0..TRACES {
        let directory = fresh();
        write::write(&random::trace(seed), directory.path());
        let what = format!("random trace {seed}");
        let tables = check_all(directory.path(), &what, true, &mut problems);
        if let [reference, corrected] = &tables[..] {
            if comparable(reference) != comparable(corrected) {
                problems.push(format!("{what}: the semantics differ"));
            }
            let names: Vec<&String> =
                corrected.values.keys().map(|key| &corrected.metrics[key.0].0).collect();
            // Those that the reference does not have occur in golden scripts.
            let metrics = patterns::PATTERNS.iter().map(|pattern| pattern.metric);
            for metric in metrics.filter(|metric| !metric.is_beyond_reference).map(|metric| metric.id) {
                *seen.entry(metric.into()).or_default() +=
                    usize::from(names.iter().any(|name| *name == metric));
            }
        }
        let finding = tables.iter().flat_map(Table::oddities).find(|(name, _)| {
            !["message received before it was sent", "collective left before it was entered", "cyclic wait"]
                .contains(&name.as_str())
        });
        if let Some((name, _)) = finding {
            problems.push(format!("{what}: finding {name}, though nothing but clocks is odd"));
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
    // A law about metrics that never occur proves nothing.
    for (metric, traces) in seen {
        assert!(traces >= 10, "{metric} occurs in only {traces} of {TRACES} random traces");
    }
}

/// The same trace with calling contexts: every region becomes a node of its own below the region around it.
/// `None` where the script does not name the region of a leave.
fn with_contexts(mut trace: Trace) -> Option<Trace> {
    let mut known: BTreeSet<String> = BTreeSet::new();
    for stream in &mut trace.streams {
        let mut path: Vec<String> = Vec::new();
        for (_, step) in &mut stream.events {
            match step {
                Step::Enter(region) => {
                    let parent = path.last().cloned();
                    let name = parent.as_ref().map_or(region.clone(), |parent| format!("{parent}/{region}"));
                    if known.insert(name.clone()) {
                        let region = region.clone();
                        trace.contexts.push(Context { name: name.clone(), region, parent, line: None });
                    }
                    path.push(name.clone());
                    *step = Step::ContextEnter(name, 2);
                }
                Step::Leave => *step = Step::ContextLeave(path.pop()?),
                Step::LeaveRegion(_) => return None,
                _ => {}
            }
        }
    }
    Some(trace)
}

#[test]
fn calling_contexts_without_functions_known_from_the_stack_say_what_plain_records_say() {
    let mut compared = 0;
    for seed in 0..TRACES / 8 {
        let plain = random::trace(seed);
        let Some(contexts) = with_contexts(plain.clone()) else { continue };
        for semantics in SEMANTICS {
            let [plain, contexts] = [&plain, &contexts].map(|trace| {
                let directory = fresh();
                write::write(trace, directory.path());
                let report = directory.path().join("one.cubex");
                analyze(directory.path(), &report, semantics).unwrap();
                Table::read(&report).values
            });
            assert!(plain == contexts, "random trace {seed}, {semantics:?}");
        }
        compared += 1;
    }
    assert!(compared > 10, "{compared} traces were compared");
}

#[test]
fn laws_hold_for_random_tasks() {
    let mut problems = Vec::new();
    for seed in 0..TRACES / 4 {
        let directory = fresh();
        let path = directory.path();
        write::write(&random_tasks::trace(seed, false), path);
        let what = format!("random tasks {seed}");
        check(path, &what, Semantics::Reference, false, &mut problems);
        let table = check(path, &what, Semantics::Corrected, true, &mut problems);
        for (name, count) in table.iter().flat_map(Table::oddities) {
            problems.push(format!("{what}: finding {name} {count} times, though nothing is odd"));
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn odd_tasks_end_as_findings_and_are_the_same_for_any_number_of_workers() {
    let mut problems = Vec::new();
    let mut odd = 0;
    for seed in 0..TRACES / 2 {
        let directory = fresh();
        let path = directory.path();
        write::write(&random_tasks::trace(seed, true), path);
        let report = path.join("one.cubex");
        for semantics in SEMANTICS {
            analyze(path, &report, semantics).unwrap();
            let table = Table::read(&report);
            problems.extend(negative(&table));
            odd += usize::from(table.findings().contains_key("contradicting tasks"));
        }
        let one = std::fs::read(&report).unwrap();
        let other = path.join("other.cubex");
        workers::analyze(path, &other, Semantics::Corrected, 2, 1).into_iter().for_each(|it| {
            it.unwrap();
        });
        assert!(std::fs::read(&other).unwrap() == one, "odd tasks {seed}");
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
    assert!(odd > TRACES as usize / 2, "{odd} reports with odd tasks");
}

#[test]
fn report_of_a_random_trace_is_the_same_for_any_number_of_workers() {
    for seed in 0..60 {
        let directory = fresh();
        write::write(&random::trace(seed), directory.path());
        let report = directory.path().join("one.cubex");
        analyze(directory.path(), &report, Semantics::Corrected).unwrap();
        let one = std::fs::read(&report).unwrap();
        for (processes, threads) in [(2, 1), (3, 2), (7, 1), (1, 3)] {
            let (path, corrected) = (directory.path(), Semantics::Corrected);
            let report = path.join(format!("{processes}.{threads}.cubex"));
            let options = Options { threads, ..options(path, &report, corrected) };
            workers::analyze_each(&options, processes, |together| {
                let what = format!("random trace {seed} with {processes} processes of {threads} threads");
                assert!(std::fs::read(&report).unwrap() == one, "{what}, {together} bytes together");
            });
        }
    }
}

/// The values in which both semantics have to agree: in programs with POSIX threads the reference computes
/// neither idle threads nor imbalance, and it replays neither `Alltoallv` nor `Alltoallw`. Root causes differ in many ways
/// (Q7, Q13, Q15, Q19).
fn comparable(table: &Table) -> BTreeMap<(&str, usize, usize), f64> {
    let is_variable = |path: usize| {
        let call = table.paths[path].rsplit('/').next().unwrap_or_default();
        matches!(call, "MPI_Alltoallv" | "MPI_Alltoallw")
    };
    let has_mutexes = table.paths.iter().any(|path| path.contains("pthread_"));
    let differs = |metric: &str| {
        metric == "time" || ["omp_idle", "omp_limited", "imbalance"].iter().any(|it| metric.starts_with(it))
    };
    let parent =
        |metric: &str| table.metrics.iter().find(|known| known.0 == metric).and_then(|known| known.2);
    let is_cause = |metric: &str| {
        let mut root = metric;
        while let Some(parent) = parent(root) {
            root = &table.metrics[parent].0;
        }
        ["delay", "critical_path", "performance_impact"].contains(&root) || root.starts_with("waitstates_")
    };
    let beyond_reference: BTreeSet<&str> = patterns::metrics()
        .iter()
        .filter(|metric| metric.is_beyond_reference)
        .map(|metric| metric.id)
        .collect();
    let values = table
        .values
        .iter()
        .map(|(&(metric, path, location), &value)| ((&*table.metrics[metric].0, path, location), value));
    let is_replayed = |metric: &str, path: usize| {
        !(is_variable(path) && ["mpi_wait_nxn", "mpi_nxn_completion", "mpi_collective"].contains(&metric))
    };
    values
        .filter(|((metric, path, _), _)| {
            !beyond_reference.contains(metric)
                && is_replayed(metric, *path)
                && !(is_cause(metric) || has_mutexes && differs(metric))
        })
        .collect()
}

/// Checks the laws in both semantics; returns the reports.
fn check_all(path: &Path, what: &str, has_lifetime: bool, problems: &mut Vec<String>) -> Vec<Table> {
    let tables = SEMANTICS.map(|semantics| check(path, what, semantics, has_lifetime, problems));
    tables.into_iter().flatten().collect()
}

fn check(
    path: &Path,
    what: &str,
    semantics: Semantics,
    has_lifetime: bool,
    problems: &mut Vec<String>,
) -> Option<Table> {
    let directory = fresh();
    let report: PathBuf = directory.path().join("laws.cubex");
    if let Err(error) = analyze(path, &report, semantics) {
        problems.push(format!("{what}: {error}"));
        return None;
    }
    let table = Table::read(&report);
    let mut found = negative(&table);
    found.extend(parents(&table));
    found.extend(waiting(&table));
    found.extend(coverage(&table));
    found.extend(deviations(&table));
    if has_lifetime {
        found.extend(lifetimes(path, &table));
    }
    let semantics = semantics.name();
    problems.extend(found.into_iter().map(|problem| format!("{what}, {semantics}: {problem}")));
    Some(table)
}

/// Another reading of late senders, for which no other pattern asks.
fn late_sender_again(message: &ReceivedMessage) -> Ticks {
    message.send.enter.min(message.receive.leave) - message.receive.enter
}

#[test]
fn another_reading_of_a_wait_is_no_second_delay() {
    let mut waits = 0;
    for script in golden().iter().filter(|script| name(script).contains("late_sender")) {
        let directory = fresh();
        write::write(&Case::read(script).trace, directory.path());
        let archive = Archive::open(directory.path()).unwrap();
        let definitions = archive.definition_records(&archive.definition_file().unwrap()).resolve().unwrap();
        let trace = replay::trace::Trace::new(definitions, Semantics::Corrected).unwrap();
        let memory = Memory::default();
        let (owners, shared) = (Owners::new(&vec![0..trace.processes.len(); 1]), Shared::new(1));
        let found = |metrics: &Metrics| -> Vec<_> {
            let walked = |process| {
                let files = walk::open(&archive, &trace, process).unwrap();
                let notes = Notes::of(Positions::Journal);
                walk::walk(&archive, &trace, metrics, &files, notes, &[], &memory).unwrap()
            };
            let walked: Vec<Walked> = (0..trace.processes.len()).map(walked).collect();
            let formulas = Formulas::new(&trace, metrics);
            let tools = Tools {
                trace: &trace,
                metrics,
                formulas: &formulas,
                owners: &owners,
                shared: &shared,
                memory: &memory,
                together: 0,
                has_details: false,
            };
            let mut findings = Findings::default();
            let matches = match_operations(&tools, &walked, &mut findings, None, &mut Solo).unwrap();
            let find = |(mut walked, matches)| {
                let mut instances = Instances::new(None, 0);
                let waiting = wait_states::find(
                    (&trace, metrics, None),
                    &mut walked,
                    &matches,
                    None,
                    &mut instances,
                    None,
                );
                (waiting.receives, waiting.sends)
            };
            walked.into_iter().zip(matches).map(find).collect()
        };
        let mut metrics = Metrics::new(true, Semantics::Corrected);
        let expected = found(&metrics);
        waits += expected.iter().map(|(receives, _)| receives.len()).sum::<usize>();
        let again = NumberedPattern { is_outermost_waiting: false, ..metrics.at_late_message[0].0 };
        metrics.at_late_message.push((again, late_sender_again));
        assert_eq!(found(&metrics), expected, "{}", name(script));
    }
    assert!(waits >= 5, "{waits} late senders");
}
