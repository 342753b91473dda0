//! A loop with a loop inside, whose iterations are known: number, length, noise, and which of them are unlike the others
//! (structure 7).
//!
//! An iteration begins with a call of MPI, as receives are posted before the work. So the work belongs to the iteration also
//! for who knows calls only (structure 2.13).

use otf2::Event;

use super::{Pattern, Plan};
use crate::definitions::WORLD;
use crate::iteration::{DURATION, Iteration};
use crate::job::{Job, LONGEST};
use crate::location::{Location, START};
use crate::mpi::{BETWEEN, Collective};
use crate::objects::Objects;
use crate::regions::function;

pub(super) const PATTERN: Pattern = Pattern {
    name: "iterations",
    about: "iterations with borders to and from two neighbours (MPI_Irecv, MPI_Isend, MPI_Waitall), then an inner loop with \
            MPI_Allreduce; an MPI_Bcast before, an MPI_Reduce behind; noise and unlike iterations can be chosen",
    threads: 1,
    least_ranks: 1,
    functions: &[
        "read_input",
        "setup",
        "post",
        "relax",
        "exchange",
        "solve",
        "smooth",
        "checkpoint",
        "report",
    ],
    options: &["noise", "trend", "every", "slow", "inner"],
    objects: Objects::NONE,
    plan,
    run,
    severities: None,
};
const READ_INPUT: u32 = function(0);
const SETUP: u32 = function(1);
const POST: u32 = function(2);
const RELAX: u32 = function(3);
const EXCHANGE: u32 = function(4);
const SOLVE: u32 = function(5);
const SMOOTH: u32 = function(6);
const CHECKPOINT: u32 = function(7);
const REPORT: u32 = function(8);

/// Time before the first iteration, and behind the last one, in nanoseconds.
const PROLOGUE: u64 = 20_000;
const EPILOGUE: u64 = 2000;
const BYTES: u64 = 8192;
const INPUT_BYTES: u64 = 256;

/// Stream of random numbers of a rank, besides those for its work.
const INPUT: u64 = u64::MAX - 5;

/// Tags of messages to the left and to the right.
const TO_LEFT: u32 = 0;
const TO_RIGHT: u32 = 1;

fn plan(job: &Job) -> Plan {
    let messages = if job.ranks > 1 { 18 } else { 0 };
    let repetitions = u64::from(job.tuning.inner.start() + job.tuning.inner.end());
    let steps = job.steps(1, 8 + messages + 3 * repetitions);
    let mut end = START + PROLOGUE;
    for number in 1..=steps {
        end = Iteration::new(job, number, end).end(job);
        if end > LONGEST {
            break;
        }
    }
    Plan { steps, ticks: end + EPILOGUE - START }
}

fn run(location: &mut Location<'_>, steps: u64) -> Result<(), otf2::Error> {
    let job = location.job;
    prologue(location)?;
    let mut begin = START + PROLOGUE;
    for number in 1..=steps {
        let iteration = Iteration::new(job, number, begin);
        exchange(location, &iteration, number)?;
        begin = solve(location, &iteration)?;
    }
    location.enter(BETWEEN, REPORT)?;
    let over = location.now() + BETWEEN + if location.rank == 0 { DURATION } else { DURATION / 2 };
    location.collective(Collective::Reduce { root: 0 }, over, 8)?;
    location.leave(BETWEEN, REPORT)
}

/// The first rank gives what it has read to all.
fn prologue(location: &mut Location<'_>) -> Result<(), otf2::Error> {
    let job = location.job;
    let ready = |rank| START + 2000 + 8 * job.load(rank, INPUT);
    location.wait_until(ready(location.rank));
    location.enter(BETWEEN, READ_INPUT)?;
    let from = ready(0).max(ready(location.rank)) + 2 * BETWEEN;
    location.collective(Collective::Bcast { root: 0 }, from + DURATION, INPUT_BYTES)?;
    location.leave(BETWEEN, READ_INPUT)?;
    location.work(SETUP, START + PROLOGUE)
}

/// Work, and borders to and from both neighbours.
fn exchange(location: &mut Location<'_>, iteration: &Iteration, number: u64) -> Result<(), otf2::Error> {
    let (job, rank) = (location.job, location.rank);
    let [left, right] = job.neighbours(rank);
    let has_neighbours = left != rank;
    let request = 4 * number;
    location.enter(BETWEEN, POST)?;
    if has_neighbours {
        location.irecv(request)?;
        location.irecv(request + 1)?;
    }
    location.leave(BETWEEN, POST)?;
    location.work(RELAX, iteration.finished(job, rank))?;
    location.enter(BETWEEN, EXCHANGE)?;
    if has_neighbours {
        location.isend(left, TO_LEFT, BYTES, request + 2)?;
        location.isend(right, TO_RIGHT, BYTES, request + 3)?;
        let sends = [2, 3].map(|send| Event::MpiIsendComplete { request_id: request + send });
        let received = |(sender, msg_tag, receive): (u32, u32, u64)| Event::MpiIrecv {
            sender,
            communicator: WORLD,
            msg_tag,
            msg_length: BYTES,
            request_id: request + receive,
        };
        let receives = [(left, TO_RIGHT, 0), (right, TO_LEFT, 1)].map(received);
        location.wait_all(iteration.comes(job, rank), sends.into_iter().chain(receives))?;
    }
    location.leave(BETWEEN, EXCHANGE)
}

/// The inner loop, and the additional call of some iterations. Returns the end of the iteration.
fn solve(location: &mut Location<'_>, iteration: &Iteration) -> Result<u64, otf2::Error> {
    let (job, rank) = (location.job, location.rank);
    location.enter(BETWEEN, SOLVE)?;
    for (work, end) in iteration.repetitions(job) {
        location.work(SMOOTH, location.now() + 10 + work.ticks(job, rank))?;
        location.collective(Collective::Allreduce, end, 8)?;
    }
    location.leave(BETWEEN, SOLVE)?;
    if iteration.has_call(job) {
        location.enter(BETWEEN, CHECKPOINT)?;
        location.collective(Collective::Barrier, location.now() + BETWEEN + DURATION, 0)?;
        location.leave(BETWEEN, CHECKPOINT)?;
    }
    Ok(location.now())
}
