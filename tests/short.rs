//! Short archives: what they keep is as in the source, whole operations only, and the same for any workers (structure 7.11).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use generate::{Job, Pattern, Tuning};
use replay::exchange::Solo;
use replay::findings::Finding;
use replay::metrics::Metrics;
use replay::progress::Progress;
use replay::short::{KEPT, ShortArchive, ShortOptions};
use replay::structure::{FoundStructure, Structure};
use replay::{Options, Outcome, RecordedIterations, Semantics, Summary};
use skip::{Need, skip};

use crate::support::report::Table;
use crate::support::run;
use crate::support::{archive, archives, in_memory, name, options, workers};

/// Wait states that other messages decide about, and those that ask what a process did next: what that was may be outside.
const OF_OTHERS: [&str; 2] = ["mpi_p2p_wait_for_progress", "mpi_nbcoll_wait"];

pub(crate) fn analyze(options: &Options) -> Outcome {
    replay::analyze(options, &mut Solo, &mut Progress::silent()).unwrap_or_else(|error| panic!("{error}"))
}

/// A short archive, and analyses of its source and of itself.
pub(crate) struct Shortened {
    pub(crate) structure: Structure,
    pub(crate) full: Summary,
    pub(crate) archive: ShortArchive,
    pub(crate) short: Summary,
    of_short: FoundStructure,
    tables: [Table; 2],
}

pub(crate) fn keeping(directory: &Path) -> ShortOptions {
    ShortOptions { directory: directory.to_owned(), keep: KEPT, keep_outside: false }
}

/// Makes a short archive of an experiment and analyzes it.
pub(crate) fn shorten(experiment: &Path, short: ShortOptions, folder: &Path) -> Shortened {
    let reports = ["full.cubex", "short.cubex"].map(|name| folder.join(name));
    let directory = short.directory.clone();
    let full = Options { short: Some(short), ..options(experiment, &reports[0], Semantics::Corrected) };
    let full = analyze(&full);
    let short = analyze(&options(&directory, &reports[1], Semantics::Corrected));
    let FoundStructure::Loop(structure) = full.structure else { panic!("no loop") };
    let full = full.summary.unwrap();
    Shortened {
        structure: *structure,
        archive: full.short.clone().unwrap(),
        full,
        short: short.summary.unwrap(),
        of_short: short.structure,
        tables: [0, 1].map(|at| Table::read(&reports[at])),
    }
}

/// The properties of an archive.
pub(crate) fn properties(directory: &Path) -> BTreeMap<String, String> {
    otf2::Archive::open(directory).unwrap().anchor().properties.iter().cloned().collect()
}

/// Numbers of kept iterations, with their weights.
pub(crate) fn kept(directory: &Path) -> Vec<(usize, u64)> {
    let property = properties(directory)["REPLAY::SHORT"].clone();
    let pair = |text: &str| {
        let (number, weight) = text.split_once('*').unwrap();
        (number.parse().unwrap(), weight.parse().unwrap())
    };
    property.split(',').map(pair).collect()
}

/// Compares wait states in kept iterations with those of the source, and returns how many are not zero.
fn compare_wait_states(shortened: &Shortened, directory: &Path, what: &str) -> usize {
    let Shortened { structure, tables: [_, short], .. } = shortened;
    let metrics = Metrics::new(true, Semantics::Corrected);
    let series = &structure.series.as_ref().unwrap().metrics;
    let clock = otf2::Archive::open(directory).unwrap().definitions().unwrap().clock;
    let kept = kept(directory);
    let mut compared = 0;
    for pattern in metrics.patterns.iter().filter(|pattern| pattern.is_outermost_waiting) {
        let id = metrics.list[pattern.metric].id;
        // Starting and ending MPI are in no iteration.
        let is_of_iterations = !id.starts_with("mpi_init") && !id.starts_with("mpi_finalize");
        let is_wanted = is_of_iterations && !OF_OTHERS.contains(&id);
        let Some(of_source) = series.get(&pattern.metric).filter(|_| is_wanted) else {
            continue;
        };
        assert!(!of_source.has_shares, "{id}");
        let expected: i128 = kept.iter().map(|&(number, _)| of_source.values[number].sum).sum();
        let expected = clock.seconds(expected);
        let known =
            short.metric(id).map(|_| (0..short.locations).map(|location| short.sum(id, location)).sum());
        let found: f64 = known.unwrap_or(0.0);
        assert!((found - expected).abs() <= 1e-9, "{what}: {id}: {found} instead of {expected}");
        compared += usize::from(expected > 0.0);
    }
    compared
}

/// Findings that a short archive has and its source has not.
fn new_findings(Shortened { full, short, .. }: &Shortened) -> BTreeSet<&'static str> {
    let names = |summary: &Summary| summary.findings.occurred().map(Finding::name).collect::<BTreeSet<_>>();
    names(short).difference(&names(full)).copied().collect()
}

/// A job with call sites, and noise.
pub(crate) fn job(pattern: &str, ranks: u32, iterations: u64) -> Job {
    let pattern = Pattern::find(pattern).unwrap();
    Job { iterations: Some(iterations), call_sites: true, ..Job::new(pattern, ranks, 0) }
}

pub(crate) fn generated(job: &Job, folder: &Path) -> std::path::PathBuf {
    let experiment = folder.join("trace");
    generate::generate(job, &experiment).unwrap();
    experiment
}

const PATTERNS: [&str; 9] = [
    "stencil",
    "sweeps",
    "ring",
    "all-to-all",
    "non-blocking",
    "iterations",
    "neighborhood",
    "fence",
    "hybrid",
];

#[test]
fn wait_states_in_kept_iterations_are_those_of_the_source() {
    let mut compared = 0;
    for pattern in PATTERNS {
        let folder = in_memory();
        // Threads have no call sites.
        let call_sites = pattern != "hybrid";
        let experiment = generated(&Job { call_sites, ..job(pattern, 8, 60) }, folder.path());
        let directory = folder.path().join("short");
        let shortened = shorten(&experiment, keeping(&directory), folder.path());
        assert_eq!(new_findings(&shortened), BTreeSet::from([Finding::LeftOut.name()]), "{pattern}");
        let archive = &shortened.archive;
        assert_eq!(archive.unclean, None, "{pattern}");
        compared += compare_wait_states(&shortened, &directory, pattern);
        // Iterations that were kept, and MPI_Init and MPI_Finalize.
        let [kept, all] = archive.iterations;
        let [bytes, of] = archive.bytes;
        assert_eq!(all, shortened.structure.iterations.len() as u64);
        let most = (kept as f64 / all as f64 + 0.05) * 1.1 * of as f64 + f64::from(64 << 10);
        assert!((bytes as f64) < most, "{pattern}: {bytes} of {of} for {kept} of {all}");
    }
    assert!(compared >= 10, "{compared}");
}

#[test]
fn all_outside_is_kept_if_wanted() {
    let folder = in_memory();
    let experiment = generated(&job("iterations", 4, 40), folder.path());
    let directory = folder.path().join("short");
    let short = ShortOptions { keep_outside: true, ..keeping(&directory) };
    let Shortened { full, short, structure, tables, .. } = shorten(&experiment, short, folder.path());
    // Recording is off where iterations are left out, and nowhere else.
    let left_out: i128 = {
        let kept = kept(&directory);
        let numbered = (1..).zip(&structure.iterations);
        let is_kept = |number: usize| kept.iter().any(|&(kept, _)| kept == number);
        numbered.filter(|(number, _)| !is_kept(*number)).map(|(_, one)| one.time.sum).sum()
    };
    let clock = otf2::Archive::open(&experiment).unwrap().definitions().unwrap().clock;
    let off = clock.seconds(left_out);
    assert!((short.not_recorded - off).abs() <= 1e-9 * off, "{} {off}", short.not_recorded);
    assert!((short.run + short.not_recorded - full.run).abs() <= 1e-9 * full.run);
    let sums = tables.each_ref().map(|table| {
        (0..table.locations).map(|location| table.sum("mpi_init_completion", location)).sum::<f64>()
    });
    assert_eq!(sums[0], sums[1]);
}

/// Among them are programs whose iterations do not correspond, so that borders cut operations.
#[test]
fn whole_operations_of_real_archives_are_kept_or_dropped() {
    let mut unclean = 0;
    for experiment in archives() {
        let what = name(&experiment);
        // These have no loop, of three iterations and more.
        if ["self_and_null.4", "skewed.4"].contains(&what.as_str()) {
            continue;
        }
        let folder = in_memory();
        let directory = folder.path().join("short");
        let shortened = shorten(&experiment, keeping(&directory), folder.path());
        let mut new = new_findings(&shortened);
        // Where borders cut messages, those that are left may join others.
        if shortened.archive.unclean.is_some() {
            new.remove("iterations do not correspond");
        }
        assert_eq!(new, BTreeSet::from([Finding::LeftOut.name()]), "{what}");
        unclean += usize::from(shortened.archive.unclean.is_some());
        let dropped = &properties(&directory)["REPLAY::SHORT_DROPPED"];
        assert!(dropped.contains(" of "), "{what}: {dropped}");
    }
    assert!(unclean >= 5, "{unclean}");
}

#[test]
fn other_readers_take_short_archives() {
    if Command::new("otf2-print").arg("--version").output().is_err() {
        return skip(Need::Otf2Print, "short archives: there is no otf2-print");
    }
    let folder = in_memory();
    for (number, experiment) in ["hybrid.3x3", "io.4", "rma.4", "nbcoll.4"].map(archive).iter().enumerate() {
        let directory = folder.path().join(number.to_string());
        shorten(experiment, keeping(&directory), folder.path());
        let printed = Command::new("otf2-print").arg(directory.join("traces.otf2")).output().unwrap();
        let text = String::from_utf8_lossy(&printed.stdout);
        assert!(printed.status.success() && printed.stderr.is_empty(), "{}: {printed:?}", name(experiment));
        assert!(text.contains("MEASUREMENT_ON_OFF") && text.contains("Replay::Counted"), "{text}");
    }
}

/// All files of a directory, by their paths in it.
fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap().map(|entry| entry.unwrap()) {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() {
            found.extend(
                files(&entry.path()).into_iter().map(|(inner, bytes)| (format!("{name}/{inner}"), bytes)),
            );
        } else {
            found.insert(name, fs::read(entry.path()).unwrap());
        }
    }
    found
}

#[test]
fn short_archives_are_the_same_for_any_workers() {
    let made = in_memory();
    let experiments = [
        generated(&Job { call_sites: false, ..job("hybrid", 7, 20) }, made.path()),
        archive("wrong_order.4"),
        archive("rooted.5"),
    ];
    for experiment in &experiments {
        let mut one = None;
        for (processes, threads) in [(1, 1), (2, 1), (1, 2), (3, 1), (7, 1), (2, 3)] {
            let folder = in_memory();
            let directory = folder.path().join("short");
            let options = Options {
                threads,
                short: Some(keeping(&directory)),
                ..options(experiment, &folder.path().join("r.cubex"), Semantics::Corrected)
            };
            let outcomes = workers::analyze_with(&options, processes);
            assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
            let files = files(&directory);
            let one = one.get_or_insert_with(|| files.clone());
            assert!(*one == files, "{} with {processes} x {threads}", name(experiment));
            assert!(!folder.path().join("short.part").exists());
        }
    }
}

/// Structure 7.9: times as predicted, and as wrong as the archive says.
#[test]
fn kept_iterations_predict_the_run() {
    let folder = in_memory();
    let experiment = generated(&job("iterations", 16, 300), folder.path());
    let directory = folder.path().join("short");
    let shortened = shorten(&experiment, keeping(&directory), folder.path());
    let weights: Vec<(usize, u64)> =
        kept(&directory).iter().map(|&(number, weight)| (number - 1, weight)).collect();
    assert_eq!(weights.iter().map(|&(_, weight)| weight).sum::<u64>(), 300);
    let of_loop = shortened.structure.loop_times(&weights);
    let of_run = shortened.structure.run_times(&weights);
    for [elapsed, time, mpi] in [of_loop, of_run] {
        assert!(elapsed.error() <= 0.02 && elapsed.error() <= elapsed.error_by_first() + 0.01, "{elapsed:?}");
        assert!(time.error() <= 0.06 && mpi.error() <= 0.06, "{time:?} {mpi:?}");
    }
    let properties = properties(&directory);
    let expected = format!(
        "elapsed {:.6}, time {:.6}, mpi {:.6}, ",
        of_loop[0].error(),
        of_loop[1].error(),
        of_loop[2].error()
    );
    assert!(properties["REPLAY::SHORT_LOOP_ERRORS"].starts_with(&expected), "{properties:?}");
    assert!(properties["REPLAY::SHORT_RUN_ERRORS"].contains(", mpi_latesender "), "{properties:?}");
    // The parts of the run are all of it.
    let phases = shortened.structure.phases(&weights);
    let share: f64 = phases.iter().map(|phase| phase.share).sum();
    assert!((share - 1.0).abs() < 0.02, "{phases:?}");
    let RecordedIterations::Known(compared) = &shortened.short.recorded else { panic!("nothing is known") };
    assert_eq!((compared.times[0].count, compared.are_all), (300, true));
    let error = (compared.predicted() - compared.times[0].elapsed).abs() / compared.times[0].elapsed;
    assert!((error - of_loop[0].error()).abs() < 1e-6, "{error} {of_loop:?}");
    assert_eq!(shortened.full.recorded, RecordedIterations::NotLimited);
}

#[test]
fn analysis_of_a_short_archive_says_what_it_stands_for() {
    let folder = in_memory();
    let kinds = Tuning { inner: 2..=6, ..Tuning::default() };
    let experiment = generated(&Job { tuning: kinds, ..job("iterations", 8, 60) }, folder.path());
    let directory = folder.path().join("short");
    let Shortened { full, short, of_short, structure, .. } =
        shorten(&experiment, keeping(&directory), folder.path());
    let text = short.to_string();
    assert!(
        !text.contains("  Kinds of iterations: ") && full.to_string().contains("  Kinds of iterations: "),
        "{text}"
    );
    assert!(text.contains("  All 60 iterations of the loop at "), "{text}");
    assert!(text.contains(", and were kept: each stands for those like it, extrapolated that is "), "{text}");
    let full = full.to_string();
    assert!(!full.contains("extrapolated") && full.contains("\nShort archive: "), "{full}");
    let FoundStructure::Loop(of_short) = of_short else { panic!("no loop") };
    let kept = kept(&directory);
    assert_eq!(of_short.iterations.len(), kept.len());
    // They take as long as in the source, whatever was left out between them.
    for (one, &(number, _)) in of_short.iterations.iter().zip(&kept) {
        let of_source = &structure.iterations[number - 1];
        assert_eq!(
            (one.elapsed(), one.time, one.mpi.sum),
            (of_source.elapsed(), of_source.time, of_source.mpi.sum)
        );
        assert!(!one.has_gap);
    }
    // Sums of windows, and extrapolated ones.
    let RecordedIterations::Known(compared) = &short.recorded else { panic!("{:?}", short.recorded) };
    let late_sender = compared.extrapolated.iter().find(|it| it.title == "Late Sender").unwrap();
    let metrics = Metrics::new(true, Semantics::Corrected);
    let id = (0..metrics.list.len()).find(|&at| metrics.list[at].id == "mpi_latesender").unwrap();
    let values = &structure.series.as_ref().unwrap().metrics[&id].values;
    let clock = otf2::Archive::open(&experiment).unwrap().definitions().unwrap().clock;
    let sum = |weight: fn(u64) -> u64| -> i128 {
        kept.iter().map(|&(number, of)| i128::from(weight(of)) * values[number].sum).sum()
    };
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b;
    assert!(close(late_sender.seconds, clock.seconds(sum(|_| 1))), "{late_sender:?}");
    assert!(close(late_sender.in_all, clock.seconds(sum(|weight| weight))), "{late_sender:?}");
    assert!(text.contains("  Late Sender in kept iterations: "), "{text}");
}

#[test]
fn as_many_iterations_are_kept_as_were_asked_for() {
    let folder = in_memory();
    let experiment = generated(
        &Job { tuning: Tuning { inner: 2..=6, ..Tuning::default() }, ..job("iterations", 4, 60) },
        folder.path(),
    );
    for keep in [1, 3, 40] {
        let directory = folder.path().join(keep.to_string());
        let short = ShortOptions { keep, ..keeping(&directory) };
        shorten(&experiment, short, folder.path());
        let kept = kept(&directory);
        assert!((1..=keep).contains(&kept.len()), "{kept:?}");
        assert_eq!(kept.iter().map(|&(_, weight)| weight).sum::<u64>(), 60);
    }
}

#[test]
fn what_cannot_be_shortened_is_refused_with_one_message() {
    let folder = in_memory();
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::create_dir(path("there")).unwrap();
    fs::create_dir(path("left.part")).unwrap();
    let experiment = archive("late_sender.4").display().to_string();
    let without_loop = archive("self_and_null.4").display().to_string();
    let (there, left, deep, new) = (path("there"), path("left"), path("a/b"), path("new"));
    let cases: [(&[&str], &str); 9] = [
        (&["--short", &there, &experiment], "there is something of that name"),
        (&["--short", &left, &experiment], "an earlier run"),
        (&["--short", &deep, &experiment], "make the directory"),
        (&["--short", &new, &without_loop], "no loop of MPI calls"),
        (&["--short", &new, "--structure", "none", &experiment], "leave out --structure none"),
        (&["--short", &new, "--semantics", "reference", &experiment], "--semantics reference"),
        (&["--short", &new, "--clock-correction", &experiment], "cannot be used with"),
        (&["--short", &new, "--focus", "time=0-1", &experiment], "cannot be used with"),
        (&["--keep", "3", &experiment], "--short <DIR>"),
    ];
    for (arguments, says) in cases {
        let report = path("r.cubex");
        let all = ["-q", "-o", &report].into_iter().chain(arguments.iter().copied());
        let finished = run::analyze(all);
        assert_eq!(finished.status, Some(2), "{arguments:?}: {}", finished.stderr);
        assert!(finished.stderr.contains(says), "{arguments:?}: {}", finished.stderr);
        assert!(!Path::new(&report).exists() && !Path::new(&new).exists(), "{arguments:?}");
        assert!(!folder.path().join("new.part").exists(), "{arguments:?}");
    }
}

#[test]
fn trace_with_gaps_is_not_shortened() {
    let folder = in_memory();
    let directory = folder.path().join("short");
    shorten(&archive("nxn.4"), keeping(&directory), folder.path());
    let again = Options {
        short: Some(keeping(&folder.path().join("shorter"))),
        ..options(&directory, &folder.path().join("r.cubex"), Semantics::Corrected)
    };
    let error = replay::analyze(&again, &mut Solo, &mut Progress::silent()).unwrap_err().to_string();
    assert!(error.contains("without gaps") || error.contains("no loop"), "{error}");
    assert!(!folder.path().join("shorter").exists());
}
