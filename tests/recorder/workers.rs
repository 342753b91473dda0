//! A master and workers whose tasks sleep: what is predicted for other numbers of workers, from one recording, is what the program takes
//! with them (what-if 6.3).

use crate::support::process::run;
use crate::support::record::{Invocation, Subject, clean};
use cubex::Report;
use details::what_if::{MasterFacts, WHAT_IF, WhatIfFile};
use std::process::Command;

/// Tasks, least and most milliseconds of one, microseconds of service: five or six workers are best, others far from it. All is so
/// long that what a processor does for others meanwhile hardly matters.
const ARGUMENTS: [&str; 4] = ["24", "40", "160", "20000"];

/// Numbers of workers that are measured.
const NUMBERS: std::ops::RangeInclusive<u32> = 1..=7;

/// How often each is measured at most, until it is as predicted.
const RUNS: usize = 4;

/// The largest error of a prediction, as a share.
const ERROR: f64 = 0.05;

/// The largest error of the sleep itself: where it is more, the machine is too busy to tell anything.
const EXACT: f64 = 0.03;

/// How often all is tried: whatever else runs on the machine makes sleeping longer, but not every time.
const ATTEMPTS: usize = 4;

/// The program with so many workers; who waits in MPI leaves the processor to others.
fn farm(test: &str, workers: u32) -> Option<Subject> {
    let subject = Subject::new(test, "workers/farm.c", workers + 1, &ARGUMENTS)?;
    Some(subject.with("OMPI_MCA_mpi_yield_when_idle", "1"))
}

/// What a recording with three workers says; `None` if the program cannot be run here.
fn predicted(attempt: usize) -> Option<MasterFacts> {
    let subject = farm(&format!("workers_farm_{attempt}"), 3)?;
    subject.run_recorded(Invocation::InFront).expect_success();
    let mut command = Command::new(env!("CARGO_BIN_EXE_replay-analyze"));
    clean(&mut command);
    run(command.arg("--what-if").arg(&subject.experiment), &subject.folder).expect_success();
    let report = Report::open(subject.experiment.join("trace.cubex")).unwrap();
    let mut file = WhatIfFile::parse(&report.member(WHAT_IF).unwrap().unwrap()).unwrap();
    let master = file.masters.pop().unwrap();
    assert_eq!((master.rank, &master.workers[..], master.tasks), (0, &[1, 2, 3][..], 24));
    Some(master)
}

/// The shortest time of the program with so many workers, in seconds; it is not tried again once it is near what was predicted.
fn measured(workers: u32, predicted: f64) -> Option<f64> {
    let subject = farm(&format!("workers_bare_{workers}"), workers)?;
    let mut shortest = f64::INFINITY;
    for _ in 0..RUNS {
        let seconds: f64 = subject.run_bare().expect_success().stdout.trim().parse().unwrap();
        shortest = shortest.min(seconds);
        if error(predicted, shortest).abs() <= ERROR {
            break;
        }
    }
    Some(shortest)
}

/// Seconds that the program sleeps with one worker: all services, and all tasks.
fn asleep() -> f64 {
    let [tasks, least, most, service] = ARGUMENTS.map(|it| it.parse::<u32>().unwrap());
    let task = |at: u32| 1000 * least + 1000 * (most - least) * (at * 7919 % 101) / 100;
    f64::from((0..tasks).map(|at| service + task(at)).sum::<u32>()) * 1e-6
}

fn error(predicted: f64, measured: f64) -> f64 {
    (predicted - measured) / measured
}

#[test]
fn prediction_from_three_workers_is_what_other_numbers_take() {
    let mut failed = Vec::new();
    for attempt in 0..ATTEMPTS {
        let Some(master) = predicted(attempt) else { return };
        let Some(best) = &master.best else {
            println!("workers: attempt {attempt}: not known: {:?}", master.unknown);
            failed.push(format!("not known: {:?}", master.unknown));
            continue;
        };
        let index = |workers: u32, seconds: f64| f64::from(workers) * seconds * seconds;
        let mut least = (f64::INFINITY, 0);
        let mut errors = Vec::new();
        for workers in NUMBERS {
            let predicted = master.times.iter().find(|it| it.workers == workers).unwrap().seconds;
            let Some(seconds) = measured(workers, predicted) else { return };
            if error(predicted, seconds).abs() > ERROR {
                errors
                    .push(format!("{workers} workers: {predicted:.3} s predicted, {seconds:.3} s measured"));
            }
            if index(workers, seconds) < least.0 {
                least = (index(workers, seconds), workers);
            }
        }
        if errors.is_empty() && least.1.abs_diff(best.workers) > 1 {
            errors.push(format!("best are {} workers, not {}", least.1, best.workers));
        }
        if errors.is_empty() {
            return;
        }
        println!("workers: attempt {attempt}: {errors:?}");
        failed.extend(errors);
    }
    let Some(seconds) = measured(1, asleep()) else { return };
    if error(asleep(), seconds).abs() > EXACT {
        println!("workers: not tried: who sleeps {:.3} s here takes {seconds:.3} s", asleep());
        return;
    }
    panic!("{}", failed.join("\n"));
}
