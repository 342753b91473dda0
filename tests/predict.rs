//! Predicted runs as archives: with nothing different their reports are those of the run, their run times are those that were
//! predicted, and they are the same for any number of workers (`docs/what-if.md`, 3.3).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cubex::Report;
use generate::{Job, PATTERNS};
use otf2::Archive;
use replay::exchange::Solo;
use replay::findings::Finding;
use replay::progress::Progress;
use replay::short::{KEPT, ShortOptions};
use replay::{DetailsPlace, Error, Options, Outcome, Semantics, WhatIf};
use skip::{Need, skip};

use crate::oracle::random::program;
use crate::support::parse::Case;
use crate::support::report::Table;
use crate::support::run::{self, mpirun};
use crate::support::{
    analyze, archive, archives, copy, golden, in_memory, name, options, random, random_tasks, workers, write,
};

/// The attribute of a report that names the scenario.
const SCENARIO: &str = "Replay::Scenario";

fn asking(experiment: &Path, scenarios: &str, directory: &Path, report: &Path) -> Options {
    let what_if = Some(WhatIf::parse(scenarios).unwrap());
    let predict = Some(directory.to_owned());
    Options { what_if, predict, ..options(experiment, report, Semantics::Corrected) }
}

fn run_it(options: &Options) -> Result<Outcome, Error> {
    replay::analyze(options, &mut Solo, &mut Progress::silent())
}

/// What a report has, but for the name of the scenario, and empty lines that fill its description up; and the statistics.
fn content(report: &Path) -> BTreeMap<String, Vec<u8>> {
    let read = Report::open(report).unwrap();
    let mut all: BTreeMap<String, Vec<u8>> =
        read.members().map(|name| (name.to_owned(), read.member(name).unwrap().unwrap())).collect();
    let description = String::from_utf8(all["anchor.xml"].clone()).unwrap();
    let lines = description.lines().filter(|line| !line.contains(SCENARIO) && !line.trim().is_empty());
    all.insert("anchor.xml".into(), lines.collect::<Vec<_>>().join("\n").into());
    all.insert("statistics".into(), fs::read(report.with_extension("stat")).unwrap());
    all
}

/// Findings of what is not in a trace that another one is made of: lost records, and times that no file may have.
const LOSSY: [Finding; 5] = [
    Finding::DamagedEvents,
    Finding::MissingEvents,
    Finding::EventCount,
    Finding::UnreadableMapping,
    Finding::BackwardTime,
];

/// Compares the report of a run with that of the run in which nothing is different. Returns whether it was to be the same.
fn is_same(experiment: &Path) -> bool {
    let directory = in_memory();
    let [measured, predicted] = ["measured.cubex", "predicted.cubex"].map(|name| directory.path().join(name));
    let summary = analyze(experiment, &measured, Semantics::Corrected).unwrap().summary.unwrap();
    let same = asking(experiment, "same", &directory.path().join("same"), &predicted);
    let of_same = run_it(&same).unwrap().summary.unwrap();
    let what = name(experiment);
    assert_eq!(of_same.predicted.unwrap().moved, 0, "{what}");
    assert_eq!(of_same.scenario.as_deref(), Some("same"), "{what}");
    if summary.findings.occurred().any(|finding| LOSSY.contains(&finding)) {
        return false;
    }
    let [measured, predicted] = [&measured, &predicted].map(|report| content(report));
    assert_eq!(measured.keys().collect::<Vec<_>>(), predicted.keys().collect::<Vec<_>>(), "{what}");
    for (member, bytes) in &measured {
        assert!(predicted[member] == *bytes, "{what}: {member}");
    }
    true
}

#[test]
fn nothing_different_gives_the_report_of_each_archive() {
    for experiment in archives() {
        assert!(is_same(&experiment), "{}", name(&experiment));
    }
}

#[test]
fn nothing_different_gives_the_report_of_generated_traces_whatever_their_clocks() {
    let directory = in_memory();
    for pattern in PATTERNS {
        for (clocks, drift, clock_error) in [("right", 0.0, 0), ("wrong", 1.0, 20_000)] {
            let experiment = directory.path().join(format!("{}-{clocks}", pattern.name));
            let job = Job { seed: 11, drift, clock_error, ..Job::new(pattern, 6, 400) };
            generate::generate(&job, &experiment).unwrap();
            assert!(is_same(&experiment), "{} with clocks that are {clocks}", pattern.name);
        }
    }
}

#[test]
fn nothing_different_gives_the_report_of_scripts_and_random_traces_unless_they_lack_records() {
    let directory = in_memory();
    let mut traces: Vec<_> = golden().iter().map(|script| (name(script), Case::read(script).trace)).collect();
    for seed in 0..30 {
        let trace = match seed % 3 {
            0 => random::trace(seed),
            1 => program(seed).0,
            _ => random_tasks::trace(seed, seed % 2 == 0),
        };
        traces.push((format!("random-{seed}"), trace));
    }
    let mut same = 0;
    for (name, trace) in &traces {
        let experiment = directory.path().join(name);
        write::write(trace, &experiment);
        same += usize::from(is_same(&experiment));
    }
    assert!(2 * same > traces.len(), "{same} of {}", traces.len());
}

/// The predicted run time in ticks, that of the archive that was written for it, and how many marks a replay of that moves in
/// which nothing is different.
fn predicted(experiment: &Path, scenario: &str) -> [i64; 3] {
    let directory = in_memory();
    let [report, archive] = ["trace.cubex", "predicted"].map(|name| directory.path().join(name));
    let plain = Options {
        details: Some(DetailsPlace::Nowhere),
        structure: false,
        causes: false,
        ..asking(experiment, scenario, &archive, &report)
    };
    let wanted = run_it(&plain).unwrap().summary.unwrap().what_if.unwrap();
    let what_if = Some(WhatIf::parse("same").unwrap());
    let again = Options { experiment: archive, what_if, predict: None, ..plain };
    let found = run_it(&again).unwrap().summary.unwrap().what_if.unwrap();
    assert_eq!(found.gains[0].ticks, found.run_ticks, "{}: {scenario}", name(experiment));
    [wanted.gains[0].ticks, found.run_ticks, found.gains[0].moved.cast_signed()]
}

#[test]
fn run_time_of_the_archive_is_the_predicted_one_to_the_tick() {
    let mut moved = 0;
    for experiment in archives() {
        for scenario in ["ideal", "add=10", "cpu=0.5", "level=auto", "fitted", "latency=3+cpu=2"] {
            let [wanted, found, of_same] = predicted(&experiment, scenario);
            assert_eq!((found, of_same), (wanted, 0), "{}: {scenario}", name(&experiment));
            moved += 1;
        }
    }
    assert!(moved >= 180);
}

#[test]
fn run_times_of_archives_of_generated_traces_are_the_predicted_ones() {
    let directory = in_memory();
    for pattern in PATTERNS {
        let experiment = directory.path().join(pattern.name);
        let job = Job { seed: 5, drift: 1.0, clock_error: 20_000, ..Job::new(pattern, 6, 400) };
        generate::generate(&job, &experiment).unwrap();
        for scenario in ["ideal", "cpu=0.5", "add=5"] {
            let [wanted, found, of_same] = predicted(&experiment, scenario);
            assert_eq!((found, of_same), (wanted, 0), "{}: {scenario}", pattern.name);
        }
    }
}

/// All files below a directory.
fn files(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap().map(|entry| entry.unwrap()) {
        match entry.path() {
            path if path.is_dir() => found.extend(files(&path)),
            path => {
                found.insert(path.clone(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

#[test]
fn archive_and_report_do_not_depend_on_workers() {
    for name in ["wrong_order.4", "hybrid.3x3", "nbcoll.4", "rma.4"] {
        let directory = in_memory();
        let [place, report] = ["predicted", "trace.cubex"].map(|name| directory.path().join(name));
        let options = asking(&archive(name), "cpu=0.5+add=3", &place, &report);
        run_it(&options).unwrap();
        let (alone, of_alone) = (files(&place), content(&report));
        for (processes, threads) in [(1, 2), (2, 1), (3, 1), (2, 2)] {
            fs::remove_dir_all(&place).unwrap();
            for outcome in workers::analyze_with(&Options { threads, ..options.clone() }, processes) {
                outcome.unwrap();
            }
            assert!(files(&place) == alone, "{name}: archive, {processes} times {threads}");
            assert!(content(&report) == of_alone, "{name}: report, {processes} times {threads}");
        }
    }
}

#[test]
fn two_mpi_processes_write_what_one_writes() {
    let Some(launcher) = mpirun("predicted runs of two processes") else { return };
    let directory = in_memory();
    let [place, report] = ["predicted", "trace.cubex"].map(|name| directory.path().join(name));
    let experiment = archive("imbalance_chain.4");
    run_it(&asking(&experiment, "level=auto", &place, &report)).unwrap();
    let (alone, of_alone) = (files(&place), content(&report));
    fs::remove_dir_all(&place).unwrap();
    let words = ["-q", "--what-if=level=auto", "--predict"].map(Path::new);
    let arguments = words.into_iter().chain([&place, Path::new("-o"), &report, &experiment]);
    run::analyze_with(launcher, 2, arguments).expect(0);
    assert!(files(&place) == alone && content(&report) == of_alone);
}

#[test]
fn otf2_print_reads_predicted_runs() {
    if Command::new("otf2-print").arg("--version").output().is_err() {
        return skip(Need::Otf2Print, "predicted runs: there is no otf2-print");
    }
    for experiment in archives() {
        let directory = in_memory();
        let place = directory.path().join("predicted");
        run_it(&asking(&experiment, "ideal", &place, &directory.path().join("trace.cubex"))).unwrap();
        let mut print = Command::new("otf2-print");
        let printed = run::run(print.arg("--silent").arg(place.join("traces.otf2")));
        assert_eq!((printed.status, printed.stderr.as_str()), (Some(0), ""), "{}", name(&experiment));
    }
}

/// Two processes and one message.
const MESSAGE: &str = "
program prog
rank 0
  0 > MPI_Init ; 10 < ; 20 > work ; 60 > MPI_Send ; 62 send 1 bytes 8 ; 70 < ; 80 < ; 90 > MPI_Finalize ; 100 <
rank 1 clock 0 5 clock 100 5
  0 > MPI_Init ; 5 < ; 15 > MPI_Recv ; 63 recv 0 bytes 8 ; 66 < ; 85 > MPI_Finalize ; 95 <
";

/// The times of the records of a location since the begin of the trace, and whether its clock has offsets.
fn times(directory: &Path, location: u64) -> (Vec<u64>, bool) {
    let archive = Archive::open(directory).unwrap();
    let origin = archive.definitions().unwrap().clock.global_offset;
    let file = archive.event_file(location).unwrap();
    let mut records = archive.events(&file);
    let mut found = Vec::new();
    while let Some(record) = records.next().unwrap() {
        found.push(record.time - origin);
    }
    (found, !archive.local_definitions(location).unwrap().clock.is_identity())
}

#[test]
fn records_move_with_the_marks_around_them() {
    let directory = in_memory();
    let [experiment, place, report] =
        ["measured", "predicted", "trace.cubex"].map(|name| directory.path().join(name));
    write::write(&Case::parse(MESSAGE).unwrap().trace, &experiment);
    assert!(times(&experiment, 1).1);
    let summary = run_it(&asking(&experiment, "cpu=0.5", &place, &report)).unwrap().summary.unwrap();
    // Half of the work behind MPI_Init; the message takes 11 from the enter of its send; what is sent keeps its distance to the
    // enter of its call, what is received that to the leave.
    let sender = [0, 10, 15, 35, 37, 45, 50, 55, 65];
    let receiver = [5, 10, 15, 43, 46, 55, 65];
    for (location, wanted) in [&sender[..], &receiver].into_iter().enumerate() {
        let (mut found, has_offsets) = times(&place, location as u64);
        // The program begins and ends with them.
        found.dedup();
        assert_eq!((found.as_slice(), has_offsets), (wanted, false));
    }
    assert_eq!(summary.what_if.unwrap().gains[0].ticks, 45);
    assert_eq!(Table::read(&report).attributes[SCENARIO], "cpu=0.5");
    // A prediction from a prediction says so.
    let [again, of_again] = ["again", "again.cubex"].map(|name| directory.path().join(name));
    let summary = run_it(&asking(&place, "ideal", &again, &of_again)).unwrap().summary.unwrap();
    assert_eq!(summary.scenario.as_deref(), Some("cpu=0.5, then ideal"));
    assert!(summary.to_string().contains("Not measured, but predicted for cpu=0.5, then ideal"));
}

#[test]
fn damaged_archives_are_predicted_from_what_can_be_read() {
    let directory = in_memory();
    let experiment = directory.path().join("damaged");
    copy(&archive("imbalance_chain.4"), &experiment);
    let first = Archive::open(&experiment).unwrap();
    let path = first.event_path(0);
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let _ = fs::remove_file(first.event_path(1));
    let [place, report] = ["predicted", "trace.cubex"].map(|name| directory.path().join(name));
    let summary = run_it(&asking(&experiment, "ideal", &place, &report)).unwrap().summary.unwrap();
    assert!(summary.findings.count(Finding::EventCount) > 0);
    assert!(Archive::open(&place).is_ok());
}

#[test]
fn report_without_a_place_is_that_of_the_run() {
    let directory = in_memory();
    let experiment = directory.path().join("run");
    copy(&archive("late_sender.4"), &experiment);
    let place = directory.path().join("predicted");
    let unused = directory.path().join("unused.cubex");
    let options = Options { report: None, ..asking(&experiment, "ideal", &place, &unused) };
    let summary = run_it(&options).unwrap().summary.unwrap();
    assert_eq!((summary.scenario, summary.report), (None, experiment.join("trace.cubex")));
    assert!(summary.predicted.unwrap().moved > 0 && place.join("traces.otf2").is_file() && !unused.exists());
}

#[test]
fn what_cannot_be_predicted_is_refused_before_anything_is_read() {
    let directory = in_memory();
    let [place, report, nowhere] =
        ["predicted", "trace.cubex", "nowhere"].map(|name| directory.path().join(name));
    let message = |options: Options| run_it(&options).unwrap_err().to_string();
    for scenarios in ["", "ideal,same"] {
        let error = message(asking(&nowhere, scenarios, &place, &report));
        assert!(error.contains("--what-if=ideal"), "{error}");
    }
    let without = Options { what_if: None, ..asking(&nowhere, "same", &place, &report) };
    assert!(message(without).contains("--what-if=ideal"));
    let corrected = Options { clock_correction: true, ..asking(&nowhere, "same", &place, &report) };
    assert!(message(corrected).contains("--clock-correction"));
    let short = ShortOptions { directory: nowhere.clone(), keep: KEPT, keep_outside: false };
    let short = Options { short: Some(short), ..asking(&nowhere, "same", &place, &report) };
    assert!(message(short).contains("--short"));
    // A wrong name is found only in the trace; then nothing is left behind.
    let error = message(asking(&archive("late_sender.4"), "remove=nowhere", &place, &report));
    assert!(error.contains("no call path"), "{error}");
    fs::create_dir(&place).unwrap();
    let error = message(asking(&archive("late_sender.4"), "same", &place, &report));
    assert!(error.contains("choose another one with --predict"), "{error}");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    let words = ["--predict", "x", "--what-if=same", "--clock-correction"];
    let refused = run::analyze(words.map(Path::new).into_iter().chain([nowhere.as_path()]));
    refused.expect(2);
}

#[test]
fn run_in_which_processes_wait_for_each_other_for_ever_is_not_written() {
    let directory = in_memory();
    let [predicted, report] = ["predicted", "predicted.cubex"].map(|name| directory.path().join(name));
    let options = asking(&archive("wrong_order.4"), "rendezvous=0", &predicted, &report);
    let error = run_it(&options).unwrap_err().to_string();
    assert!(error.contains("no run to write"), "{error}");
    assert!(!predicted.exists() && !report.exists());
}

#[test]
fn nothing_is_received_before_it_is_sent_on_other_networks() {
    for experiment in [archive("imbalance_chain.4"), archive("late_sender_nb.4"), archive("sendrecv.4")] {
        for scenario in ["ideal", "latency=0.5", "cpu=0.5", "add=100"] {
            let directory = in_memory();
            let report = directory.path().join("predicted.cubex");
            let options = asking(&experiment, scenario, &directory.path().join("predicted"), &report);
            let summary = run_it(&options).unwrap().summary.unwrap();
            let found: Vec<Finding> = summary.findings.occurred().collect();
            assert_eq!((found, summary.clock_error), (Vec::new(), 0.0), "{}: {scenario}", name(&experiment));
        }
    }
}

#[test]
fn run_without_delays_is_reported_as_it_is_predicted() {
    let directory = in_memory();
    let report = directory.path().join("predicted.cubex");
    let experiment = archive("nxn.4");
    let scenario = "without=patterns/main";
    let asked = asking(&experiment, scenario, &directory.path().join("predicted"), &report);
    let summary = run_it(&asked).unwrap().summary.unwrap();
    assert_eq!(summary.scenario.as_deref(), Some(scenario));
    let gain = &summary.what_if.as_ref().unwrap().gains[0];
    assert!(gain.gain > 0.0 && summary.efficiency.unwrap().run == gain.seconds, "{summary}");
    // Without root causes nobody knows the delays.
    let blind = Options { causes: false, ..asked };
    assert!(run_it(&blind).unwrap_err().to_string().contains("root causes"));
}
