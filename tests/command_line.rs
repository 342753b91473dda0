//! Command line: help, options, exit statuses, standard output and standard error.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use skip::{Need, skip};

use crate::support::report::Table;
use crate::support::run::{analyze, analyze_with, analyzer, mpirun, run};
use crate::support::{archive, copy, fresh};

/// Copies a real archive, so that a report can be written there.
fn experiment(directory: &Path) -> PathBuf {
    let experiment = directory.join("exp");
    copy(&archive("barrier.4"), &experiment);
    experiment
}

/// Copies a real archive without the events of rank 1.
fn incomplete(directory: &Path) -> PathBuf {
    let experiment = experiment(directory);
    fs::remove_file(experiment.join("traces/1.evt")).unwrap();
    experiment
}

#[test]
fn short_help_fits_a_screen() {
    let help = analyze(["-h"]);
    help.expect(0);
    assert!(help.stdout.lines().count() <= 24, "{}", help.stdout);
    for line in help.stdout.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
    for option in ["--output", "--semantics", "--force", "--strict", "--quiet", "--verbose", "--version"] {
        assert!(help.stdout.contains(option), "{option} is missing:\n{}", help.stdout);
    }
}

#[test]
fn long_help_tells_how_to_start_and_the_exit_statuses() {
    let help = analyze(["--help"]);
    help.expect(0);
    assert!(help.stdout.contains("mpirun"), "{}", help.stdout);
    assert!(help.stdout.contains("Exit status: 0"), "{}", help.stdout);
}

#[test]
fn version_is_that_of_the_package() {
    let version = analyze(["--version"]);
    version.expect(0);
    assert_eq!(version.stdout, format!("replay-analyze {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn wrong_usage_is_refused_with_status_2() {
    let directory = fresh();
    let experiment = experiment(directory.path());
    let experiment = experiment.to_str().unwrap();
    let usages: [&[&str]; 6] = [
        &[],
        &["--bogus", experiment],
        &[experiment, experiment],
        &[experiment, "--semantics", "none"],
        &[experiment, "-q", "-v"],
        &[experiment, "-o"],
    ];
    for arguments in usages {
        let refused = analyze(arguments);
        refused.expect(2);
        assert!(refused.stderr.contains("Usage:") || refused.stderr.contains("--help"), "{arguments:?}");
        assert_eq!(refused.stdout, "", "{arguments:?}");
    }
    assert!(!Path::new(experiment).join("trace.cubex").exists());
}

#[test]
fn wrong_usage_is_told_once_by_all_processes() {
    let Some(launcher) = mpirun("wrong usage under mpirun") else { return };
    let refused = analyze_with(launcher, 3, ["--bogus"]);
    refused.expect(2);
    assert_eq!(refused.stderr.matches("--bogus' found").count(), 1, "{}", refused.stderr);
    let help = analyze_with(launcher, 3, ["-h"]);
    help.expect(0);
    assert_eq!(help.stdout.matches("Usage:").count(), 1, "{}", help.stdout);
}

#[test]
fn program_without_launcher_does_not_start_mpi() {
    let directory = fresh();
    let experiment = experiment(directory.path());
    // With these settings no MPI starts: neither Open MPI nor MPICH over UCX or libfabric.
    let nothing = [("OMPI_MCA_pml", "none"), ("UCX_TLS", "none"), ("FI_PROVIDER", "none")];
    run(analyzer([&experiment]).envs(nothing)).expect(0);
}

#[test]
fn launcher_of_another_mpi_is_recognised() {
    let Some(launcher) = mpirun("the launcher of another MPI") else { return };
    let directory = fresh();
    let experiment = experiment(directory.path());
    // The variable of Open MPI's launcher, without those by which the processes would find each other.
    let refused = run(analyzer([&experiment]).env("OMPI_COMM_WORLD_SIZE", "3"));
    refused.expect(2);
    assert!(refused.messages().len() == 1 && refused.stderr.contains("another MPI"), "{}", refused.stderr);
    // Hydra is MPICH's launcher.
    let is_hydra = |launcher: &Path| {
        let version = Command::new(launcher).arg("--version").output().ok()?.stdout;
        Some(String::from_utf8_lossy(&version).contains("HYDRA"))
    };
    // A program that is linked with no MPI opens the library of any launcher.
    let others = if cfg!(feature = "mpi") { &["mpirun.openmpi", "mpirun.mpich"][..] } else { &[] };
    for other in others.iter().map(Path::new) {
        if is_hydra(other).is_none_or(|it| Some(it) == is_hydra(launcher)) {
            skip(Need::System, format!("{} is no launcher of another MPI", other.display()));
            continue;
        }
        let refused = analyze_with(other, 3, [&experiment]);
        refused.expect(2);
        assert!(refused.stderr.contains("another MPI"), "{}", refused.stderr);
    }
    assert!(!experiment.join("trace.cubex").exists());
}

#[test]
fn report_goes_into_the_experiment_unless_named() {
    let directory = fresh();
    let experiment = experiment(directory.path());
    analyze([&experiment]).expect(0);
    let report = fs::read(experiment.join("trace.cubex")).unwrap();

    let named = directory.path().join("named.cubex");
    analyze([&experiment.join("traces.otf2"), Path::new("-o"), &named]).expect(0);
    assert!(fs::read(named).unwrap() == report, "the anchor file names the same archive");
}

#[test]
fn relative_paths_are_those_of_the_current_directory() {
    let directory = fresh();
    let experiment = experiment(directory.path());
    for (arguments, report) in [
        (vec!["."], "trace.cubex"),
        (vec!["traces.otf2", "-o", "a.cubex"], "a.cubex"),
        (vec![".", "-o", "../b.cubex"], "../b.cubex"),
    ] {
        run(analyzer(arguments).current_dir(&experiment)).expect(0);
        assert!(experiment.join(report).exists(), "{report}");
    }
}

#[test]
fn own_report_is_replaced() {
    let directory = fresh();
    let experiment = experiment(directory.path());
    let report = experiment.join("trace.cubex");
    run(&mut analyzer([&experiment, Path::new("--semantics=reference")])).expect(0);
    assert_eq!(Table::read(&report).attributes["Replay::Semantics"], "reference");
    analyze([&experiment]).expect(0);
    assert_eq!(Table::read(&report).attributes["Replay::Semantics"], "corrected");
    let names = fs::read_dir(&experiment).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = names.filter(|name| name.to_string_lossy().contains("cubex")).collect();
    assert_eq!(left, ["trace.cubex"], "nothing temporary stays");
}

#[test]
fn file_of_somebody_else_is_replaced_by_force_only() {
    let directory = fresh();
    let experiment = experiment(directory.path());
    let report = experiment.join("trace.cubex");
    fs::write(&report, "important").unwrap();
    let refused = analyze([&experiment]);
    refused.expect(2);
    assert_eq!(refused.messages().len(), 1, "{}", refused.stderr);
    assert!(refused.stderr.contains("--force") && refused.stderr.contains(report.to_str().unwrap()));
    assert_eq!(fs::read(&report).unwrap(), b"important");
    analyze([&experiment, Path::new("--force")]).expect(0);
    Table::read(&report);
}

#[test]
fn data_loss_is_status_1_only_if_strict() {
    let directory = fresh();
    let experiment = incomplete(directory.path());
    analyze([&experiment]).expect(0);
    let report = fs::read(experiment.join("trace.cubex")).unwrap();
    analyze([&experiment, Path::new("--strict")]).expect(1);
    assert!(fs::read(experiment.join("trace.cubex")).unwrap() == report, "there is a report all the same");
}

#[test]
fn complete_trace_is_status_0_even_if_strict() {
    let directory = fresh();
    analyze([&experiment(directory.path()), Path::new("--strict")]).expect(0);
}

/// Open MPI's launcher exits with the status of the first process that fails.
#[test]
fn strict_status_reaches_the_launcher() {
    let Some(launcher) = mpirun("status of mpirun") else { return };
    let directory = fresh();
    let experiment = incomplete(directory.path());
    analyze_with(launcher, 3, [&experiment, Path::new("--strict")]).expect(1);
    analyze_with(launcher, 3, [&experiment]).expect(0);
}

#[test]
fn quiet_prints_nothing_but_errors() {
    let directory = fresh();
    let experiment = incomplete(directory.path());
    let quiet = analyze([&experiment, Path::new("--quiet")]);
    quiet.expect(0);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""));
    let failed = analyze(["-q", "/nowhere"]);
    failed.expect(2);
    assert_eq!((failed.stdout.as_str(), failed.messages().len()), ("", 1));
}

#[test]
fn phases_go_to_the_log_and_the_summary_to_the_output() {
    let directory = fresh();
    let experiment = experiment(directory.path());
    let said = analyze([&experiment]);
    said.expect(0);
    let log = said.stderr.lines().collect::<Vec<_>>();
    assert!(log.iter().all(|line| line.ends_with(" s")), "phases with their times, no bar: {log:?}");
    assert!(log.len() >= 4, "{log:?}");
    for part in ["waiting", "Wait at Barrier in patterns/main/barrier/MPI_Barrier", "rank 3", "Coverage"] {
        assert!(said.stdout.contains(part), "{part} is missing:\n{}", said.stdout);
    }
    let report = experiment.join("trace.cubex");
    assert!(said.stdout.contains(report.to_str().unwrap()), "{}", said.stdout);
    let verbose = analyze([&experiment, Path::new("-v")]);
    verbose.expect(0);
    assert!(verbose.stderr.lines().count() > said.stderr.lines().count(), "{}", verbose.stderr);
}

#[test]
fn only_one_process_talks() {
    let Some(launcher) = mpirun("output of several processes") else { return };
    let directory = fresh();
    let experiment = experiment(directory.path());
    let alone = analyze([&experiment]);
    let said = analyze_with(launcher, 3, [&experiment]);
    said.expect(0);
    assert_eq!(said.stdout, alone.stdout, "the same summary, once");
    assert_eq!(said.stderr.lines().count(), alone.stderr.lines().count(), "{}", said.stderr);
}

/// Also a reader that takes only the first line, as head does.
#[test]
fn reader_that_goes_away_is_no_error() {
    let directory = fresh();
    let experiment = experiment(directory.path());
    let experiment = experiment.to_str().unwrap();
    for arguments in [&[experiment][..], &["--help"], &["--version"]] {
        let mut child = analyzer(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(0), "{arguments:?}");
        let messages = String::from_utf8(ended.stderr).unwrap();
        assert!(!messages.contains("replay-analyze") && !messages.contains("panicked"), "{messages}");
    }
}

/// Opens a file to which nothing can be written; `None`, with a message, if there is none.
fn full() -> Option<fs::File> {
    let full = fs::File::options().write(true).open("/dev/full");
    if full.is_err() {
        skip(Need::System, "output that cannot be written: there is no /dev/full");
    }
    full.ok()
}

/// Runs the analyzer with an output that cannot be written; returns its status and messages.
fn without_output(arguments: &[&str]) -> Option<(Option<i32>, String)> {
    let mut command = analyzer(arguments);
    let ended = command.stdin(Stdio::null()).stdout(full()?).output().unwrap();
    Some((ended.status.code(), String::from_utf8(ended.stderr).unwrap()))
}

/// The disk of the log may be full while that of the report is not.
#[test]
fn summary_that_cannot_be_written_is_told_with_status_1_and_the_report_is_there() {
    let directory = fresh();
    let experiment = experiment(directory.path());
    let Some((status, messages)) = without_output(&[experiment.to_str().unwrap()]) else { return };
    let message = messages.lines().last().unwrap_or_default();
    let report = experiment.join("trace.cubex");
    for part in
        ["replay-analyze: ", "summary", "No space left", "report is complete", report.to_str().unwrap()]
    {
        assert!(message.contains(part), "{part} is missing: {messages}");
    }
    assert_eq!(status, Some(1));
    Table::read(&report);
    // A summary that was not requested is not missed.
    assert_eq!(without_output(&["-q", experiment.to_str().unwrap()]), Some((Some(0), String::new())));
}

#[test]
fn help_that_cannot_be_written_is_told_with_status_2() {
    for option in ["-h", "--help", "--version"] {
        let Some((status, messages)) = without_output(&[option]) else { return };
        assert_eq!(status, Some(2), "{option}");
        assert!(
            messages.starts_with("replay-analyze: cannot write to standard output: No space"),
            "{messages}"
        );
        assert_eq!(messages.lines().count(), 1, "{messages}");
    }
}

/// The log of a batch job often lies on the disk that is full.
#[test]
fn messages_that_cannot_be_written_cost_neither_report_nor_status() {
    let directory = fresh();
    let experiment = experiment(directory.path());
    let status = |arguments: &[&Path]| {
        let mut command = analyzer(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(full()?).status().unwrap().code()
    };
    if full().is_none() {
        return;
    }
    assert_eq!(status(&[&experiment]), Some(0));
    assert!(experiment.join("trace.cubex").exists());
    assert_eq!(status(&[Path::new("/nowhere")]), Some(2));
}

/// Each option of the help is in the page.
#[test]
fn manual_page_has_all_options_and_is_well_formed() {
    let directory = tempfile::tempdir().unwrap();
    let analyzer = || Command::new(env!("CARGO_BIN_EXE_replay-analyze"));
    let written = analyzer().arg("--manual").arg(directory.path()).output().unwrap();
    assert!(written.status.success(), "{written:?}");
    let page = directory.path().join("man/man1/replay-analyze.1");
    let text = std::fs::read_to_string(&page).unwrap().replace('\\', "");
    let help = String::from_utf8(analyzer().arg("--help").output().unwrap().stdout).unwrap();
    let options: Vec<&str> = help.split_whitespace().filter(|word| word.starts_with("--")).collect();
    for option in options {
        let name = option.split(['=', '[', ',', '.', ':', ';', ')', '`']).next().unwrap();
        assert!(text.contains(name), "no {name} in {text}");
    }
    if let Ok(checked) =
        Command::new("man").args(["-l", "--warnings"]).arg(&page).env("MANWIDTH", "200").output()
    {
        assert!(checked.stderr.is_empty(), "{}", String::from_utf8_lossy(&checked.stderr));
    }
}
