//! Laws that hold for every trace: real archives, the scripts of `tests/golden`, and hundreds of random
//! traces.

mod rest_of_mpi;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use model::{Paradigm, RegionRole, Ticks};
use otf2::{Archive, Event, MappingType};
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

use crate::support::parse::Case;
use crate::support::report::Table;
use crate::support::trace::{Context, Step, Trace};
use crate::support::{
    SEMANTICS, analyze, archives, fresh, golden, name, options, random, random_tasks, workers, write,
};

/// Number of random traces.
const TRACES: u64 = 240;

/// Rounding tolerance in seconds.
const ROUNDING: f64 = 1e-9;

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

fn place(table: &Table, path: usize, location: usize) -> String {
    format!("{} @{location}", table.paths[path])
}

/// Losses between partitions may exceed all losses: each has a factor of its own (specification 8.4).
fn is_rest_of_losses(metric: &str) -> bool {
    metric == "intra_partition_imbalance" || metric == "critical_imbalance_impact"
}

/// No severity is negative.
fn negative(table: &Table) -> Vec<String> {
    let below_zero = table.values.iter().filter(|(_, value)| **value < 0.0);
    let below_zero = below_zero.filter(|((metric, ..), _)| !is_rest_of_losses(&table.metrics[*metric].0));
    below_zero
        .map(|(&(metric, path, location), value)| {
            format!("{} is {value} at {}", table.metrics[metric].0, place(table, path, location))
        })
        .collect()
}

/// A metric is at least the sum of its children, at each call path and location. Late receivers are counted
/// where the send completes, but sends where they start: for these it holds at each location only.
fn parents(table: &Table) -> Vec<String> {
    let is_elsewhere = |metric: usize| matches!(&*table.metrics[metric].0, "mpi_slr_count" | "mpi_clr_count");
    let mut sums: BTreeMap<(usize, Option<usize>, usize), (f64, f64)> = BTreeMap::new();
    for (&(metric, path, location), value) in &table.values {
        sums.entry((metric, Some(path), location)).or_default().0 += value;
        sums.entry((metric, None, location)).or_default().0 += value;
        if let Some(parent) = table.metrics[metric].2 {
            sums.entry((parent, None, location)).or_default().1 += value;
            if !is_elsewhere(metric) {
                sums.entry((parent, Some(path), location)).or_default().1 += value;
            }
        }
    }
    let exceeded = sums.into_iter().filter(|((metric, ..), (value, below))| {
        *below > value + ROUNDING && !is_rest_of_losses(&table.metrics[*metric].0)
    });
    exceeded
        .map(|((metric, path, location), (value, below))| {
            let place = path.map_or(format!("@{location}"), |path| place(table, path, location));
            let name = &table.metrics[metric].0;
            format!("{name} is {value} at {place}, the metrics below it sum up to {below}")
        })
        .collect()
}

/// Waiting is part of the time of its class of calls, at each call path and location.
fn waiting(table: &Table) -> Vec<String> {
    const CLASSES: [(&str, &str, &[&str]); 10] = [
        ("mpi", "mpi_point2point", &["mpi_latesender", "mpi_latereceiver"]),
        ("mpi", "mpi_sync_collective", &["mpi_barrier_wait", "mpi_barrier_completion"]),
        (
            "mpi",
            "mpi_collective",
            &["mpi_earlyreduce", "mpi_earlyscan", "mpi_latebroadcast", "mpi_wait_nxn", "mpi_nxn_completion"],
        ),
        ("mpi", "mpi_init_exit", &["mpi_init_completion", "mpi_finalize_wait"]),
        ("omp_time", "omp_ebarrier", &["omp_ebarrier_wait"]),
        ("omp_time", "omp_ibarrier", &["omp_ibarrier_wait"]),
        ("omp_time", "omp_critical", &["omp_lock_contention_critical"]),
        ("omp_time", "omp_lock_api", &["omp_lock_contention_api"]),
        ("pthread_time", "pthread_lock_api", &["pthread_lock_contention_mutex_lock"]),
        ("pthread_time", "pthread_conditional", &["pthread_lock_contention_conditional"]),
    ];
    let mut problems = Vec::new();
    for path in 0..table.paths.len() {
        for location in 0..table.locations {
            for (paradigm, class, waits) in CLASSES {
                let time = table.value(class, path, location);
                let waiting: f64 = waits.iter().map(|wait| table.value(wait, path, location)).sum();
                if waiting > time + ROUNDING {
                    let place = place(table, path, location);
                    problems.push(format!("{waiting} s of waiting in {time} s of {class} at {place}"));
                }
                let all = table.value(paradigm, path, location);
                if time > all + ROUNDING {
                    let place = place(table, path, location);
                    problems.push(format!("{class} is {time} at {place}, {paradigm} {all}"));
                }
            }
        }
    }
    problems
}

/// At each call path, computation above the mean equals computation below it. Rounding adds up over
/// locations.
fn deviations(table: &Table) -> Vec<String> {
    let sum = |metric: &str, path| -> f64 {
        (0..table.locations).map(|location| table.value(metric, path, location)).sum()
    };
    let differs = |path: &usize| {
        let (above, below) = (sum("imbalance_above", *path), sum("imbalance_below", *path));
        (above - below).abs() > ROUNDING || (above + below - sum("imbalance", *path)).abs() > ROUNDING
    };
    let places = (0..table.paths.len()).filter(differs);
    places.map(|path| format!("imbalance does not add up to zero in {}", table.paths[path])).collect()
}

/// The shares of MPI time by coverage add up to all of it.
fn coverage(table: &Table) -> Vec<String> {
    let shares: Vec<f64> = table
        .attributes
        .iter()
        .filter(|(key, _)| key.starts_with("Replay::Coverage::"))
        .map(|(_, value)| value.parse().unwrap())
        .collect();
    let sum: f64 = shares.iter().sum();
    let is_share = |share: &f64| (0.0..=1.0).contains(share);
    if shares.len() > 1 && shares.iter().all(is_share) && (sum - 1.0).abs() < 1e-5 {
        return Vec::new();
    }
    vec![format!("coverage: the shares {shares:?} sum up to {sum}")]
}

/// The exclusive times of a location add up to its lifetime.
fn lifetimes(path: &Path, table: &Table) -> Vec<String> {
    let archive = Archive::open(path).unwrap();
    let lifetimes = Lifetimes::read(&archive);
    let mut problems = Vec::new();
    if lifetimes.len() != table.locations {
        problems.push(format!("{} locations, expected {}", table.locations, lifetimes.len()));
    }
    for (location, want) in lifetimes.into_iter().enumerate() {
        let got = table.sum("time", location) - table.sum("omp_idle_threads", location);
        if (want - got).abs() > ROUNDING {
            problems.push(format!("time @{location} sums up to {got}, the lifetime is {want}"));
        }
    }
    problems
}

/// A period in which a location was inside of a region, in ticks.
struct Period {
    begin: i64,
    end: i64,
    /// Whether the outermost region is a parallel region.
    is_parallel: bool,
}

/// Lifetimes of locations, computed from the events without the analyzer.
#[derive(Default)]
struct Lifetimes {
    stretches: Vec<Period>,
    /// Times of fork and join of teams.
    teams: Vec<(i64, i64)>,
}

impl Lifetimes {
    /// Lifetimes in seconds, in the order of rank and thread.
    fn read(archive: &Archive) -> Vec<f64> {
        let definitions = archive.definitions().unwrap();
        let count = definitions.locations.len();
        let mut references: Vec<u64> = (0..count).map(|at| definitions.locations.reference(at)).collect();
        references.sort_by_key(|reference| (reference & 0xffff_ffff, reference >> 32));
        let mut seconds = Vec::new();
        let mut teams = Vec::new();
        for reference in references {
            let location = Lifetimes::of(archive, &definitions, reference);
            let is_main = reference >> 32 == 0;
            if is_main {
                teams = location.teams;
            }
            let length = |stretch: &Period| {
                let is_part = |team: &&(i64, i64)| team.0 < stretch.end && team.1 > stretch.begin;
                match teams.iter().find(is_part).filter(|_| stretch.is_parallel && !is_main) {
                    // The time of a member of a team extends from the fork to the join.
                    Some(&(fork, join)) => stretch.end.max(join) - stretch.begin.min(fork),
                    None => stretch.end - stretch.begin,
                }
            };
            let ticks: i64 = location.stretches.iter().map(length).sum();
            seconds.push(definitions.clock.seconds(ticks.into()));
        }
        seconds
    }

    fn of(archive: &Archive, definitions: &model::Definitions, reference: u64) -> Lifetimes {
        let mut local = archive.local_definitions(reference).unwrap();
        let file = archive.event_file(reference).unwrap();
        let mut cursor = archive.events(&file);
        let mut lifetimes = Lifetimes::default();
        let (mut depth, mut fork, mut last, mut is_off) = (0, None, 0, false);
        while let Some(record) = cursor.next().unwrap() {
            let time = local.clock.correct(record.time) as i64;
            last = time;
            let mut open = |lifetimes: &mut Lifetimes, is_parallel| {
                if depth == 0 {
                    lifetimes.stretches.push(Period { begin: time, end: time, is_parallel });
                }
                depth += 1;
            };
            let mut closed = 0;
            match record.event {
                Event::Enter { region } => {
                    let region = local.mappings.global(MappingType::Region, region);
                    let region = definitions.regions.find(region.into()).unwrap();
                    let is_parallel =
                        region.paradigm == Paradigm::OPENMP && region.role == RegionRole::PARALLEL;
                    open(&mut lifetimes, is_parallel);
                }
                Event::ProgramBegin { .. } => open(&mut lifetimes, false),
                Event::MeasurementOnOff { measurement_mode } => {
                    let goes_off = measurement_mode == model::MeasurementMode::OFF;
                    if goes_off {
                        open(&mut lifetimes, false);
                    } else {
                        closed = i32::from(is_off);
                    }
                    is_off = goes_off;
                }
                Event::Leave { .. } => closed = 1.min(depth),
                Event::ProgramEnd { .. } => closed = depth,
                Event::BufferFlush { stop_time } if depth == 0 => {
                    let end = local.clock.correct(stop_time.0) as i64;
                    lifetimes.stretches.push(Period { begin: time, end, is_parallel: false });
                }
                Event::ThreadFork { .. } => fork = Some(time),
                Event::ThreadJoin { .. } => lifetimes.teams.extend(fork.take().map(|fork| (fork, time))),
                _ => {}
            }
            if closed > 0 {
                depth -= closed;
                if depth == 0
                    && let Some(stretch) = lifetimes.stretches.last_mut()
                {
                    stretch.end = time;
                }
            }
        }
        if depth > 0
            && let Some(stretch) = lifetimes.stretches.last_mut()
        {
            stretch.end = last;
        }
        lifetimes
    }
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
                let notes = Notes {
                    positions: Positions::Journal,
                    scheme: None,
                    has_steps: false,
                    has_marks: false,
                    windows: None,
                };
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
