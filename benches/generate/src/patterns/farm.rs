//! A master that hands out tasks one by one, each to whoever has sent a result, so that it is known what other numbers of workers
//! would take: tasks are equally long.
//!
//! With *x* workers, and a number of tasks that is a multiple of *x*, each of the rounds takes a service of the master, a message,
//! the task, and a message; the last worker is served *x* − 1 services behind the first.

use super::{Pattern, Plan};
use crate::job::Job;
use crate::location::{Location, START};
use crate::mpi::{BETWEEN, CALL, MESSAGE};
use crate::objects::Objects;
use crate::regions::function;

pub(super) const PATTERN: Pattern = Pattern {
    name: "farm",
    about: "rank 0 hands out equal tasks one by one, each to the rank whose result it has received (MPI_Send, MPI_Recv); \
            it has as many events as all others together",
    threads: 1,
    least_ranks: 2,
    functions: &["serve", "task"],
    options: &[],
    objects: Objects::NONE,
    plan,
    run,
    severities: None,
};
const SERVE: u32 = function(0);
const TASK: u32 = function(1);

/// Service, from receiving a result to sending the next task, in nanoseconds.
const SERVICE: u64 = 2000;
/// Time between two tasks that are sent in a round: all calls for one are over before the next result comes.
const SPACE: u64 = SERVICE + 200;
/// Time from sending until the receive is over.
const LATENCY: u64 = MESSAGE + 20;
const TASK_BYTES: u64 = 16;
const RESULT_BYTES: u64 = 64;
const TASK_TAG: u32 = 1;
const RESULT_TAG: u32 = 2;

/// Length of a task: the master waits in each round, however many workers there are.
fn work(job: &Job) -> u64 {
    50_000 + 2 * SERVICE * u64::from(job.ranks)
}

fn round(job: &Job) -> u64 {
    SERVICE + LATENCY + work(job) + LATENCY
}

fn plan(job: &Job) -> Plan {
    let steps = job.steps(1, 8);
    let around = SPACE * u64::from(job.ranks) + 10 * CALL;
    Plan { steps, ticks: steps.saturating_mul(round(job)).saturating_add(around) }
}

/// Time at which a worker gets its task in a step: the master calls `MPI_Send`.
fn given(job: &Job, worker: u32, step: u64) -> u64 {
    START + step * round(job) + u64::from(worker) * SPACE
}

fn run(location: &mut Location<'_>, steps: u64) -> Result<(), otf2::Error> {
    if location.rank == 0 { master(location, steps) } else { worker(location, steps) }
}

fn master(location: &mut Location<'_>, steps: u64) -> Result<(), otf2::Error> {
    let job = location.job;
    for step in 0..=steps {
        for worker in 1..job.ranks {
            let given = given(job, worker, step);
            if step > 0 {
                location.receive(given - SERVICE - (LATENCY - MESSAGE), worker, RESULT_TAG, RESULT_BYTES)?;
            }
            if step < steps {
                location.work(SERVE, given - BETWEEN)?;
                location.send(worker, TASK_TAG, TASK_BYTES)?;
            }
        }
    }
    Ok(())
}

fn worker(location: &mut Location<'_>, steps: u64) -> Result<(), otf2::Error> {
    let (job, rank) = (location.job, location.rank);
    for step in 0..steps {
        let given = given(job, rank, step);
        location.receive(given + MESSAGE, 0, TASK_TAG, TASK_BYTES)?;
        location.work(TASK, given + LATENCY + work(job) - BETWEEN)?;
        location.send(0, RESULT_TAG, RESULT_BYTES)?;
    }
    Ok(())
}
