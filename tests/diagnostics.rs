//! Diagnostics: `REPLAY_LOG` has a span told for each phase of each worker, and nothing is told without it.

use std::fs;
use std::path::Path;

use crate::support::run::{Finished, analyze, analyzer, launched, mpirun, program, run};
use crate::support::{archive, copy, fresh};

const VARIABLE: &str = "REPLAY_LOG";

/// The phases of an analysis; the first is that of a process, before its threads begin.
const PHASES: [&str; 6] = ["open", "read events", "match", "find wait states", "find root causes", "report"];

/// What remains of standard error without diagnostics: the names of the phases in it. Each other line is an event, or empty:
/// Hydra adds newlines where lines of several processes meet.
fn phases(finished: &Finished) -> Vec<&str> {
    let is_event = |line: &&str| line.is_empty() || line.starts_with("20") && line.contains("Z DEBUG ");
    let lines = finished.stderr.lines().filter(|line| !is_event(line));
    lines.map(|line| line.strip_suffix(" s").unwrap_or(line)[..16].trim_end()).collect()
}

/// Fails unless each phase of each worker (a process, a thread) has ended once.
fn check(finished: &Finished, workers: &[(usize, usize)]) {
    finished.expect(0);
    assert_eq!(phases(finished), PHASES, "{}", finished.stderr);
    let closed = "}: replay::progress: close time.busy=";
    let count = |text: &str| finished.stderr.lines().filter(|line| line.contains(text)).count();
    for &(process, thread) in workers {
        for name in PHASES {
            let span = format!("phase{{name={name:?} process={process} thread={thread}{closed}");
            let expected = usize::from(name != "open" || thread == 0);
            assert_eq!(count(&span), expected, "{span}\n{}", finished.stderr);
        }
    }
    let processes = workers.iter().filter(|(_, thread)| *thread == 0).count();
    assert_eq!(count(closed), (PHASES.len() - 1) * workers.len() + processes, "{}", finished.stderr);
    for (text, expected) in [
        ("replay: analysis options=", processes),
        ("replay::job::pipeline: processes assigned", workers.len()),
    ] {
        assert_eq!(count(text), expected, "{text}\n{}", finished.stderr);
    }
}

#[test]
fn each_phase_of_each_worker_has_a_span() {
    let directory = fresh();
    let report = directory.path().join("report.cubex");
    let arguments = |threads| {
        [
            archive("barrier.4").into_os_string(),
            "-o".into(),
            report.clone().into(),
            "--threads".into(),
            threads,
        ]
    };
    for (threads, workers) in [("1", &[(0, 0)][..]), ("3", &[(0, 0), (0, 1), (0, 2)])] {
        check(&run(analyzer(arguments(threads.into())).env(VARIABLE, "debug")), workers);
    }
    let Some(launcher) = mpirun("diagnostics of several processes") else { return };
    // Launchers cut lines of several processes into pieces, so each writes to a file of its own.
    let own = ["sh", "-c", "exec \"$@\" 2>\"$DIAGNOSTICS/$$\"", "sh"].map(Into::into);
    let command = own.into_iter().chain([program().into()]).chain(arguments("1".into()));
    let files = fresh();
    let mut command = launched(launcher, 3, command);
    let mut finished = run(command.env(VARIABLE, "replay=debug").env("DIAGNOSTICS", files.path()));
    for file in fs::read_dir(files.path()).unwrap() {
        finished.stderr.push_str(&fs::read_to_string(file.unwrap().path()).unwrap());
    }
    check(&finished, &[(0, 0), (1, 0), (2, 0)]);
}

#[test]
fn nothing_is_told_that_is_not_asked_for() {
    let directory = fresh();
    let experiment = directory.path().join("exp");
    copy(&archive("barrier.4"), &experiment);
    let usual = analyze([&experiment]);
    usual.expect(0);
    assert_eq!((phases(&usual), usual.stderr.lines().count()), (PHASES.to_vec(), PHASES.len()));
    for filter in ["", "off", "info", "launcher=trace"] {
        let said = run(analyzer([&experiment]).env(VARIABLE, filter));
        said.expect(0);
        assert_eq!((phases(&said), said.stderr.lines().count()), (PHASES.to_vec(), PHASES.len()), "{filter}");
        assert_eq!(said.stdout, usual.stdout, "{filter}");
    }
    let quiet = run(analyzer([&experiment, Path::new("-q"), Path::new("--threads=1")])
        .env(VARIABLE, "replay::solvers=debug"));
    assert!(
        quiet.stderr.lines().all(|line| line.contains("replay::solvers: solver chosen")),
        "{}",
        quiet.stderr
    );
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.lines().count()), ("", 1), "{}", quiet.stderr);
}

#[test]
fn wrong_filter_is_told_once_with_status_2() {
    let directory = fresh();
    let experiment = directory.path().join("exp");
    copy(&archive("barrier.4"), &experiment);
    let refused = run(analyzer([&experiment]).env(VARIABLE, "replay=loud"));
    refused.expect(2);
    assert!(
        refused.stderr.starts_with("replay-analyze: REPLAY_LOG is \"replay=loud\", expected "),
        "{}",
        refused.stderr
    );
    assert_eq!((refused.stdout.as_str(), refused.stderr.lines().count()), ("", 1));
    if let Some(launcher) = mpirun("a wrong filter under mpirun") {
        let command = [program().as_ref(), experiment.as_os_str()];
        let refused = run(launched(launcher, 3, command).env(VARIABLE, "debgu"));
        refused.expect(2);
        assert_eq!(refused.messages().len(), 1, "{}", refused.stderr);
    }
    assert!(!experiment.join("trace.cubex").exists());
}
