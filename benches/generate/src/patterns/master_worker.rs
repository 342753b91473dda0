//! A master that sends a task to each worker, then receives their results one after the other.

use super::{Pattern, Plan};
use crate::draw::{below, draw};
use crate::job::Job;
use crate::location::{Location, START};
use crate::mpi::{BETWEEN, CALL, MESSAGE};
use crate::objects::Objects;
use crate::regions::function;

pub(super) const PATTERN: Pattern = Pattern {
    name: "master-worker",
    about: "rank 0 gives a task to each other rank, in turn, and takes the results in that order (MPI_Send, MPI_Recv); \
            it has three events for each ten of each worker, however many these are",
    threads: 1,
    least_ranks: 2,
    functions: &["task", "prepare", "compute", "check"],
    options: &[],
    objects: Objects::NONE,
    plan,
    run,
    severities: None,
};
const TASK: u32 = function(0);
const PREPARE: u32 = function(1);
const COMPUTE: u32 = function(2);
const CHECK: u32 = function(3);

/// Time between two tasks that the master sends, in nanoseconds.
const GIVEN: u64 = BETWEEN + CALL + 20;
/// Time between two results if all tasks were equal.
const RESULT: u64 = 200;
/// Largest part of a round that does not depend on the number of workers.
const SPARE: u64 = 30_000;
const TASK_BYTES: u64 = 256;
const RESULT_BYTES: u64 = 4096;
const TASK_TAG: u32 = 1;
const RESULT_TAG: u32 = 2;

/// Stream of random numbers for the first worker of a round.
const FIRST: u64 = u64::MAX;

fn round(job: &Job) -> u64 {
    SPARE + u64::from(job.ranks) * (GIVEN + RESULT)
}

fn plan(job: &Job) -> Plan {
    let steps = job.steps(1, 20);
    Plan { steps, ticks: steps.saturating_mul(round(job)) }
}

/// The worker that is first in a round.
fn first(job: &Job, step: u64) -> u32 {
    1 + below(draw(job.seed, FIRST, step), u64::from(job.ranks) - 1) as u32
}

/// Time at which the worker at a place in the order gets its task: the master calls `MPI_Send`.
fn given(job: &Job, place: u32, step: u64) -> u64 {
    START + step * round(job) + u64::from(place) * GIVEN + BETWEEN
}

/// Time at which the worker at this place finishes its task.
fn done(job: &Job, worker: u32, place: u32, step: u64) -> u64 {
    given(job, place, step) + 2000 + u64::from(place) * RESULT + 14 * job.load(worker, step)
}

fn run(location: &mut Location<'_>, steps: u64) -> Result<(), otf2::Error> {
    if location.rank == 0 { master(location, steps) } else { worker(location, steps) }
}

fn master(location: &mut Location<'_>, steps: u64) -> Result<(), otf2::Error> {
    let job = location.job;
    let workers = job.ranks - 1;
    for step in 0..steps {
        let first = first(job, step);
        let worker = |place: u32| 1 + (first - 1 + place) % workers;
        for place in 0..workers {
            let begins = given(job, place, step);
            location.wait_until(begins - BETWEEN);
            location.send(worker(place), TASK_TAG, TASK_BYTES)?;
        }
        for place in 0..workers {
            let worker = worker(place);
            let comes = done(job, worker, place, step) + BETWEEN + MESSAGE;
            location.receive(comes, worker, RESULT_TAG, RESULT_BYTES)?;
        }
    }
    Ok(())
}

fn worker(location: &mut Location<'_>, steps: u64) -> Result<(), otf2::Error> {
    let (job, rank) = (location.job, location.rank);
    let workers = job.ranks - 1;
    for step in 0..steps {
        let place = (rank - 1 + workers - (first(job, step) - 1)) % workers;
        location.receive(given(job, place, step) + MESSAGE, 0, TASK_TAG, TASK_BYTES)?;
        let done = done(job, rank, place, step);
        location.enter(BETWEEN, TASK)?;
        location.work(PREPARE, location.now() + 150)?;
        let left = done - location.now();
        for part in 1..5 {
            location.work(COMPUTE, done - left + left * part / 5)?;
        }
        location.work(CHECK, done - 10)?;
        location.leave(10, TASK)?;
        location.send(0, RESULT_TAG, RESULT_BYTES)?;
    }
    Ok(())
}
