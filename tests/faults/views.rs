//! Processes of one analysis that see different files: on nodes whose file system is missing or stale.
//!
//! A launcher can give each process a working directory of its own, in which the same relative path is
//! another file.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::make::{self, Size, ring};
use crate::support::run::{Finished, mpirun, program, run};
use crate::support::{self, fresh};

/// Two directories with the same experiment of three processes in them.
struct Views {
    directory: tempfile::TempDir,
}

impl Views {
    fn new() -> Views {
        let directory = fresh();
        let exp = directory.path().join("0/exp");
        make::archive(&exp, Size::processes(3), |rank, events| {
            events.program(|events| ring(events, rank, 3, 10));
        });
        support::copy(&exp, &directory.path().join("1/exp"));
        Views { directory }
    }

    /// A path as worker 0 sees it, or the others.
    fn path(&self, view: usize, path: &str) -> PathBuf {
        self.directory.path().join(view.to_string()).join(path)
    }

    /// Runs one process in the first directory, two in the second.
    fn analyze(&self, launcher: &Path, options: [&str; 2]) -> Finished {
        let mut command: Command = support::run::launched(launcher, 1, ["-wdir"]);
        command.arg(self.path(0, "")).args([program(), "exp", options[0]]);
        command.args([":", "-n", "2", "-wdir"]).arg(self.path(1, "")).args([program(), "exp", options[1]]);
        let done = run(&mut command);
        assert!(!self.path(1, "exp/trace.cubex").exists(), "only worker 0 writes");
        done
    }

    /// Expects one message with these parts, status 2 and no report.
    fn expect_refusal(&self, launcher: &Path, options: [&str; 2], parts: &[&str]) {
        let refused = self.analyze(launcher, options);
        refused.expect(2);
        let [message] = refused.messages()[..] else { panic!("not one message:\n{}", refused.stderr) };
        assert!(parts.iter().all(|part| message.contains(part)), "{parts:?} are not in: {message}");
        assert!(!self.path(0, "exp/trace.cubex").exists());
    }
}

#[test]
fn same_files_in_another_place_are_analysed() {
    let Some(launcher) = mpirun("different views") else { return };
    let views = Views::new();
    views.analyze(launcher, ["-q", "-q"]).expect(0);
    let report = fs::read(views.path(0, "exp/trace.cubex")).unwrap();
    run(&mut support::run::analyzer([views.path(1, "exp"), "-q".into()])).expect(0);
    assert!(fs::read(views.path(1, "exp/trace.cubex")).unwrap() == report);
}

#[test]
fn experiment_that_one_worker_does_not_see_is_told_once() {
    let Some(launcher) = mpirun("an experiment missing for some") else { return };
    let views = Views::new();
    fs::remove_dir_all(views.path(1, "exp")).unwrap();
    views.expect_refusal(launcher, ["-q", "-q"], &["exp: there is no such file or directory"]);
}

#[test]
fn definitions_that_one_worker_cannot_read_are_told_once() {
    let Some(launcher) = mpirun("definitions unreadable for some") else { return };
    let views = Views::new();
    fs::remove_file(views.path(1, "exp/traces.def")).unwrap();
    views.expect_refusal(launcher, ["-q", "-q"], &["traces.def", "no global definitions"]);
    fs::create_dir(views.path(1, "exp/traces.def")).unwrap();
    views.expect_refusal(launcher, ["-q", "-q"], &["traces.def", "not a regular file"]);
}

#[test]
fn other_definitions_on_one_worker_are_told_instead_of_a_wrong_report() {
    let Some(launcher) = mpirun("different definitions") else { return };
    let views = Views::new();
    fs::remove_dir_all(views.path(1, "exp")).unwrap();
    let size = Size { regions: 8, ..Size::processes(3) };
    make::archive(&views.path(1, "exp"), size, |rank, events| ring(events, rank, 3, 10));
    views.expect_refusal(
        launcher,
        ["-q", "-q"],
        &["traces.def", "worker 1 reads other definitions", "try again"],
    );
}

#[test]
fn other_options_on_one_worker_are_told() {
    let Some(launcher) = mpirun("different options") else { return };
    let options = ["-q", "--semantics=reference"];
    Views::new().expect_refusal(launcher, options, &["worker 1 has other options"]);
    Views::new().expect_refusal(launcher, ["-q", "--threads=2"], &["worker 1 has other options"]);
}

/// The other processes must not wait for one that never started.
#[test]
fn wrong_usage_or_question_of_one_worker_ends_all() {
    let Some(launcher) = mpirun("wrong usage of some") else { return };
    let refused = Views::new().analyze(launcher, ["-q", "--bogus"]);
    refused.expect(2);
    assert_eq!(refused.stderr.matches("--bogus' found").count(), 1, "{}", refused.stderr);
    let refused = Views::new().analyze(launcher, ["--help", "-q"]);
    assert_eq!(refused.stdout.matches("Usage:").count(), 1, "{}", refused.stdout);
}

#[test]
fn events_that_their_worker_cannot_read_are_told_once() {
    let Some(launcher) = mpirun("events unreadable for some") else { return };
    let views = Views::new();
    fs::remove_file(views.path(1, "exp/traces/2.evt")).unwrap();
    fs::create_dir(views.path(1, "exp/traces/2.evt")).unwrap();
    views.expect_refusal(launcher, ["-q", "-q"], &["traces/2.evt", "not a regular file"]);
}

#[test]
fn events_that_their_worker_does_not_see_are_a_finding() {
    let Some(launcher) = mpirun("events missing for some") else { return };
    let views = Views::new();
    fs::remove_file(views.path(1, "exp/traces/2.evt")).unwrap();
    let done = views.analyze(launcher, ["--strict", "--strict"]);
    done.expect(1);
    assert!(done.stdout.contains("missing events"), "{}", done.stdout);
}
