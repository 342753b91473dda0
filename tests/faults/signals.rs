//! Signals while the report is written: at any write, at both ends of it, before and after it is published.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::process::Signal;
use skip::{Need, skip};

use super::after;
use super::disk::names;
use super::job::Job;
use super::provoke::provoked;
use crate::support::run::{Finished, analyze, mpirun, run};
use crate::support::{archive, fresh, written};

/// Signals by which users and systems end a process.
const SIGNALS: [i32; 8] = [
    Signal::TERM.as_raw(),
    Signal::INT.as_raw(),
    Signal::HUP.as_raw(),
    Signal::QUIT.as_raw(),
    Signal::USR1.as_raw(),
    Signal::USR2.as_raw(),
    Signal::ALARM.as_raw(),
    Signal::XCPU.as_raw(),
];

/// Fault that gives files hidden names at once, as on file systems without nameless files (EOPNOTSUPP).
const NAMED: &str = "tmpfile:0:error 95,";

/// A directory for a report, with or without an older one in it.
struct ReportDirectory {
    directory: tempfile::TempDir,
    old: Option<[Vec<u8>; 2]>,
    /// The expected bytes of report and statistics.
    new: [Vec<u8>; 2],
}

impl ReportDirectory {
    fn new(has_old: bool) -> ReportDirectory {
        let directory = fresh();
        let report = directory.path().join("r.cubex");
        let mut made = ["comms.7", "barrier.4"].map(|name| {
            analyze([&archive(name), Path::new("-q"), Path::new("-o"), &report]).expect(0);
            Some(written(&report))
        });
        let mut place = ReportDirectory {
            directory,
            old: made[1].take().filter(|_| has_old),
            new: made[0].take().unwrap(),
        };
        place.restore();
        place
    }

    fn report(&self) -> PathBuf {
        self.directory.path().join("r.cubex")
    }

    /// Arguments of an analysis that writes there.
    fn arguments(&self) -> [PathBuf; 4] {
        [archive("comms.7"), "--threads=1".into(), "-o".into(), self.report()]
    }

    /// Restores the initial state.
    fn restore(&mut self) {
        for name in names(self.directory.path()) {
            fs::remove_file(self.directory.path().join(name)).unwrap();
        }
        for (path, bytes) in
            [self.report(), self.report().with_extension("stat")].iter().zip(self.old.iter().flatten())
        {
            fs::write(path, bytes).unwrap();
        }
    }

    /// Runs an analysis that meets these faults; `None` without a compiler.
    fn run(&self, test: &str, faults: &str) -> Option<Finished> {
        Some(run(&mut after(&provoked(test, faults)?, self.arguments())))
    }

    /// Fails the test unless the directory is in its initial state.
    #[track_caller]
    fn expect_untouched(&self, what: &str) {
        let found = names(self.directory.path());
        match &self.old {
            Some(old) => {
                assert_eq!(found, ["r.cubex", "r.stat"], "{what}");
                assert!(written(&self.report()) == *old, "{what}: the old report is another one");
            }
            None => assert!(found.is_empty(), "{what}: {found:?} is left"),
        }
    }

    /// Fails the test unless the new report is there, and nothing else.
    #[track_caller]
    fn expect_new(&self, what: &str) {
        assert_eq!(names(self.directory.path()), ["r.cubex", "r.stat"], "{what}");
        assert!(written(&self.report()) == self.new, "{what}: the new report is another one");
    }
}

/// Whether the file system of test files has nameless files.
fn has_nameless_files(test: &str) -> bool {
    let flags = OFlags::TMPFILE.bits().cast_signed();
    let opened = OpenOptions::new().write(true).custom_flags(flags).open(fresh().path());
    if opened.is_err() {
        skip(Need::System, format!("{test}: every file has a name on this file system"));
    }
    opened.is_ok()
}

/// Numbers of calls at which the fault comes: each of the first ones, then ever fewer.
fn moments() -> impl Iterator<Item = u32> {
    (1..8).chain((3..).map(|power| 1 << power))
}

/// Runs the analysis with a fault at many write calls, until there are no more; returns the number of faults.
fn at_each_write(
    place: &mut ReportDirectory,
    before: &str,
    fault: impl Fn(usize) -> String,
    check: impl Fn(&ReportDirectory, usize, &Finished),
) -> usize {
    let mut hits = 0;
    for call in ["write", "pwrite", "fsync"] {
        for moment in moments() {
            let faults = format!("{before}{call}:{moment}:{}", fault(hits));
            let Some(ended) = place.run("signals while a report is written", &faults) else { return hits };
            if ended.status == Some(0) {
                place.expect_new(&faults);
                place.restore();
                break;
            }
            check(place, hits, &ended);
            place.expect_untouched(&faults);
            hits += 1;
        }
    }
    // Both files are synced; each is written in one piece at least, and there are rows in the report.
    assert!(hits >= 5, "{hits} moments only");
    hits
}

#[test]
fn signal_at_any_write_ends_the_process_by_it_and_leaves_nothing() {
    for (has_old, before) in [(false, ""), (true, ""), (false, NAMED), (true, NAMED)] {
        let signal = |hits: usize| SIGNALS[hits % SIGNALS.len()];
        let hits = at_each_write(
            &mut ReportDirectory::new(has_old),
            before,
            |hits| format!("signal {}", signal(hits)),
            |_, hits, ended| assert_eq!(ended.signal, Some(signal(hits)), "{}", ended.stderr),
        );
        println!("{hits} moments");
    }
}

#[test]
fn kill_at_any_write_leaves_nothing_where_files_need_no_names() {
    if !has_nameless_files("SIGKILL while a report is written") {
        return;
    }
    for has_old in [false, true] {
        let kill = Signal::KILL.as_raw();
        at_each_write(
            &mut ReportDirectory::new(has_old),
            "",
            |_| format!("signal {kill}"),
            |_, _, ended| assert_eq!(ended.signal, Some(kill)),
        );
    }
}

/// The report counts as published when the first file gets its name.
#[test]
fn signal_between_the_two_files_is_put_off_and_both_are_there() {
    for (has_old, before) in [(true, ""), (false, NAMED), (true, NAMED)] {
        let mut place = ReportDirectory::new(has_old);
        for (rename, signal) in [(1, SIGNALS[0]), (2, SIGNALS[1]), (2, SIGNALS[2])] {
            let faults = format!("{before}rename:{rename}:passing {signal}");
            let Some(ended) = place.run("signals between two files", &faults) else { return };
            ended.expect(0);
            place.expect_new(&faults);
            place.restore();
        }
    }
}

/// A process must still react to signals if a file system hangs.
#[test]
fn process_that_hangs_when_all_is_decided_ends_by_the_signal_after_a_while() {
    for before in ["", NAMED] {
        let place = ReportDirectory::new(true);
        let faults = format!("{before}rename:1:signal {}", SIGNALS[0]);
        let Some(ended) = place.run("a rename that hangs", &faults) else { return };
        assert_eq!(ended.signal, Some(SIGNALS[0]), "{}", ended.stderr);
        place.expect_untouched(&faults);
    }
}

#[test]
fn signal_that_is_ignored_stays_ignored() {
    let place = ReportDirectory::new(true);
    let Some(first) = provoked("an ignored signal", &format!("fsync:1:passing {}", Signal::HUP.as_raw()))
    else {
        return;
    };
    run(&mut after(&format!("trap '' HUP; {first}"), place.arguments())).expect(0);
    place.expect_new("ignored");
}

/// Starts three processes, of which the first meets faults.
fn of_three(place: &ReportDirectory, faults: &str) -> Option<Job> {
    let test = "signals for some of three processes";
    let launcher = mpirun(test)?;
    let first = format!("[ $rank != 0 ] || {{ {}; }}", provoked(test, faults)?);
    Some(Job::launched_after(launcher, 3, &first, place.arguments()))
}

/// Starts three processes and waits until the first is stopped.
fn stopped(place: &ReportDirectory, faults: &str) -> Option<Job> {
    let mut job = of_three(place, faults)?;
    job.wait_for(|job| job.stands_still(0).then_some(())).expect("the first process stands still");
    Some(job)
}

/// Fault that stops the first process at this call.
fn stop_at(call: &str) -> String {
    format!("{call}:passing {}", Signal::STOP.as_raw())
}

#[test]
fn signal_for_the_writer_of_three_processes_leaves_nothing() {
    for (has_old, before) in [(false, ""), (true, NAMED)] {
        let mut place = ReportDirectory::new(has_old);
        for call in ["write:1", "pwrite:2", "fsync:1", "fsync:2"] {
            let faults = format!("{before}{call}:signal {}", SIGNALS[0]);
            let Some(job) = of_three(&place, &faults) else { return };
            assert_ne!(job.end().status, Some(0), "{call}");
            place.expect_untouched(call);
            place.restore();
        }
    }
}

#[test]
fn signal_for_all_three_processes_leaves_nothing() {
    for has_old in [false, true] {
        let place = ReportDirectory::new(has_old);
        let faults = format!("{},fsync:1:signal {}", stop_at("fsync:1"), SIGNALS[0]);
        let Some(job) = stopped(&place, &faults) else { return };
        (1..3).for_each(|worker| job.signal(worker, Signal::TERM));
        job.go_on(0);
        assert_ne!(job.end().status, Some(0));
        place.expect_untouched("all");
    }
}

#[test]
fn signal_for_another_of_three_processes_before_all_is_decided_leaves_nothing() {
    for has_old in [false, true] {
        let place = ReportDirectory::new(has_old);
        let Some(mut job) = stopped(&place, &stop_at("fsync:2")) else { return };
        job.signal(1, Signal::TERM);
        job.wait_for(|job| (!job.runs(1)).then_some(()));
        job.go_on(0);
        assert_ne!(job.end().status, Some(0));
        place.expect_untouched("another");
    }
}

#[test]
fn signal_for_another_of_three_processes_when_all_is_decided_is_put_off() {
    let place = ReportDirectory::new(true);
    let Some(job) = stopped(&place, &stop_at("rename:1")) else { return };
    job.signal(1, Signal::TERM);
    job.signal(2, Signal::INT);
    job.go_on(0);
    job.end().expect(0);
    place.expect_new("decided");
}

/// The first process stops at every row that it writes: no signal of the launcher gets through to it.
#[test]
fn signal_for_the_launcher_leaves_nothing() {
    if !has_nameless_files("a signal for the launcher") {
        return;
    }
    for has_old in [false, true] {
        let place = ReportDirectory::new(has_old);
        let Some(job) = stopped(&place, &stop_at("pwrite:0")) else { return };
        job.signal_launcher(Signal::TERM);
        assert_ne!(job.end().status, Some(0));
        place.expect_untouched("launcher");
    }
}
