//! A killed worker, as by a system short of memory, in each phase.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::job::Job;
use super::make::{self, RECURSE, Size, ring};
use crate::support::report::Table;
use crate::support::run::{Finished, analyze, mpirun};
use crate::support::{archive, fresh, written};

const PHASES: [&str; 8] = [
    "open",
    "read events",
    "correct clocks",
    "read events again",
    "match",
    "find wait states",
    "find root causes",
    "report",
];

/// A trace with enough to do in each phase: many definitions, many messages, many call paths.
fn long_trace(directory: &Path) {
    make::archive(directory, Size { regions: 40_000, ..Size::processes(3) }, |rank, events| {
        events.program(|events| {
            ring(events, rank, 3, 10_000);
            events.nest(5_000, &[RECURSE], |_| ());
        });
    });
}

/// Whether worker 0 is in this phase, judged by the phases that it has reported as done. In the first one,
/// which starts with MPI, the worker in question must have started to read.
fn is_in(job: &Job, phase: usize, worker: usize) -> bool {
    match phase {
        0 => job.maps(worker, "traces.def"),
        _ => job.log(0).lines().count() == phase,
    }
}

/// Starts the job until a worker is caught in a phase, and kills it there.
fn kill_in(phase: usize, worker: usize, start: impl Fn() -> Job) -> (Finished, Duration) {
    for _ in 0..20 {
        let mut job = start();
        let is_there = job.wait_for(|job| is_in(job, phase, worker).then_some(()));
        job.stop(worker);
        if is_there.is_some() && is_in(&job, phase, worker) {
            return job.kill(worker);
        }
        job.go_on(worker);
        job.end();
    }
    panic!("worker {worker} could not be caught in phase {:?}", PHASES[phase]);
}

/// Checks that the old report is unchanged, with at most hidden files beside it, none of them with a report's
/// name.
fn check(report: &Path, old: &[Vec<u8>; 2], what: &str) {
    assert!(written(report) == *old, "{what}: the old report is another one");
    for entry in fs::read_dir(report.parent().unwrap()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let is_hidden = name.starts_with('.') && !name.ends_with(".cubex") && !name.ends_with(".stat");
        assert!(["r.cubex", "r.stat", "exp"].contains(&&*name) || is_hidden, "{what}: {name} is left");
    }
}

fn kill_in_each_phase(worker: usize) {
    let Some(launcher) = mpirun("a killed worker") else { return };
    let directory = fresh();
    let experiment = directory.path().join("exp");
    long_trace(&experiment);
    let report = directory.path().join("r.cubex");
    analyze([&archive("barrier.4"), Path::new("-o"), &report]).expect(0);
    let old = written(&report);
    let arguments = [&experiment, Path::new("--clock-correction"), Path::new("-o"), &report];
    for (phase, name) in PHASES.into_iter().enumerate() {
        // On a busy machine the end may take longer once, but not every time.
        let ends_in_time = (0..3).any(|_| {
            let (finished, time) = kill_in(phase, worker, || {
                fs::write(&report, &old[0]).unwrap();
                fs::write(report.with_extension("stat"), &old[1]).unwrap();
                Job::launched(launcher, 3, arguments)
            });
            assert_ne!(finished.status, Some(0), "{name}");
            check(&report, &old, name);
            time < Duration::from_secs(5)
        });
        assert!(ends_in_time, "{name}: the job goes on for more than 5 s");
    }
    // Files left by killed processes do not disturb the next run.
    Job::launched(launcher, 3, arguments).end().expect(0);
    assert_eq!(Table::read(&report).locations, 3);
}

#[test]
fn first_worker_killed_in_each_phase_ends_the_job_and_leaves_the_old_report() {
    kill_in_each_phase(0);
}

#[test]
fn other_worker_killed_in_each_phase_ends_the_job_and_leaves_the_old_report() {
    kill_in_each_phase(1);
}
