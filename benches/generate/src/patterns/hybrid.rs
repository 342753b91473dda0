//! Ranks with threads: a parallel region in each step, messages and reductions of the first thread in
//! between.

use model::Paradigm;
use otf2::Event;

use super::{Pattern, Plan};
use crate::definitions::TEAMS;
use crate::job::Job;
use crate::location::{Location, START};
use crate::mpi::{BETWEEN, Collective, MESSAGE};
use crate::objects::Objects;
use crate::regions::{CRITICAL, CRITICAL_BLOCK, LOOP, LOOP_BARRIER, PARALLEL, PARALLEL_BARRIER, function};

pub(super) const PATTERN: Pattern = Pattern {
    name: "hybrid",
    about: "ranks with threads: an OpenMP parallel region with a loop, a critical section and implicit barriers; then the \
            first thread sends to the next rank (MPI_Send, MPI_Recv), every fourth step an MPI_Allreduce",
    threads: 4,
    least_ranks: 1,
    functions: &["kernel"],
    options: &[],
    objects: Objects::NONE,
    plan,
    run,
    severities: None,
};
const KERNEL: u32 = function(0);

/// Duration of a step in nanoseconds, without the part that depends on the number of threads.
const SLOT: u64 = 20_000;
/// Time that a thread spends in the critical section.
const HOLD: u64 = 300;
/// Time from the start of one thread to that of the next.
const START_UP: u64 = 30;
/// Steps from one reduction to the next.
const REDUCTION: u64 = 4;
const BYTES: u64 = 2048;
const TAG: u32 = 1;
const LOCK: u32 = 0;
const MODEL: Paradigm = Paradigm::OPENMP;

/// Numbers of events: of a thread in a step, of the first thread in addition, and of a reduction.
const OF_A_THREAD: u64 = 22;
const OF_THE_FIRST: u64 = 8;
const OF_A_REDUCTION: u64 = 4;

fn slot(job: &Job) -> u64 {
    SLOT + u64::from(job.threads) * (HOLD + START_UP)
}

fn plan(job: &Job) -> Plan {
    let of_a_step = u64::from(job.threads) * OF_A_THREAD + OF_THE_FIRST;
    let steps = job.steps(REDUCTION, REDUCTION * of_a_step + OF_A_REDUCTION);
    Plan { steps, ticks: steps * slot(job) }
}

/// Time at which a thread finishes its part of the loop.
fn finished(job: &Job, rank: u32, thread: u32, step: u64) -> u64 {
    let who = rank.wrapping_mul(job.threads).wrapping_add(thread);
    START + step * slot(job) + 2000 + u64::from(thread) * START_UP + 10 * job.load(who, step)
}

/// Time at which all threads have finished and continue.
fn all_finished(job: &Job, rank: u32, step: u64) -> u64 {
    let last = (0..job.threads).map(|thread| finished(job, rank, thread, step)).max();
    last.unwrap_or(START) + 100
}

/// Time at which the first thread enters the critical section: all have arrived.
fn section(job: &Job, rank: u32, step: u64) -> u64 {
    all_finished(job, rank, step) + u64::from(job.threads) + 50
}

/// Time at which all threads have left the critical section and continue.
fn united(job: &Job, rank: u32, step: u64) -> u64 {
    section(job, rank, step) + u64::from(job.threads) * HOLD + 100
}

fn run(location: &mut Location<'_>, steps: u64) -> Result<(), otf2::Error> {
    let (job, rank, is_first) = (location.job, location.rank, location.thread == 0);
    let [before, after] = job.neighbours(rank);
    for step in 0..steps {
        let begin = START + step * slot(job);
        if is_first {
            let fork = Event::ThreadFork { model: MODEL, number_of_requested_threads: job.threads };
            location.event(begin, fork)?;
        }
        parallel(location, step)?;
        if !is_first {
            continue;
        }
        location.event(ends(job, rank, step), Event::ThreadJoin { model: MODEL })?;
        location.send(after, TAG, BYTES)?;
        location.receive(ends(job, before, step) + BETWEEN + MESSAGE, before, TAG, BYTES)?;
        if step % REDUCTION == REDUCTION - 1 {
            location.collective(Collective::Allreduce, begin + slot(job) - 1000, 8)?;
        }
    }
    Ok(())
}

/// Time at which all threads have left the parallel region.
fn ends(job: &Job, rank: u32, step: u64) -> u64 {
    united(job, rank, step) + 100 + u64::from(job.threads)
}

/// Writes the events of a thread in a parallel region.
fn parallel(location: &mut Location<'_>, step: u64) -> Result<(), otf2::Error> {
    let (job, rank, thread) = (location.job, location.rank, location.thread);
    let thread_team = TEAMS + rank;
    let begin = START + step * slot(job) + 200 + u64::from(thread) * START_UP;
    location.event(begin, Event::ThreadTeamBegin { thread_team })?;
    location.enter(10, PARALLEL)?;
    location.enter(20, LOOP)?;
    let (first, finished) = (location.now(), finished(job, rank, thread, step));
    for part in 1..4 {
        location.work(KERNEL, first + (finished - first) * part / 3)?;
    }
    location.enter(10, LOOP_BARRIER)?;
    let all_finished = all_finished(job, rank, step);
    location.event(all_finished + u64::from(thread), Event::Leave { region: LOOP_BARRIER })?;
    location.leave(10, LOOP)?;
    critical(location, step, section(job, rank, step))?;
    location.enter(10, PARALLEL_BARRIER)?;
    let united = united(job, rank, step) + u64::from(thread);
    location.event(united, Event::Leave { region: PARALLEL_BARRIER })?;
    location.leave(20, PARALLEL)?;
    location.after(10, Event::ThreadTeamEnd { thread_team })
}

/// All threads pass the critical section one after the other; the first one changes from step to step.
fn critical(location: &mut Location<'_>, step: u64, begin: u64) -> Result<(), otf2::Error> {
    let threads = u64::from(location.job.threads);
    let turn = (u64::from(location.thread) + step) % threads;
    let acquisition_order = (step * threads + turn + 1) as u32;
    location.enter(10, CRITICAL)?;
    let acquire = Event::ThreadAcquireLock { model: MODEL, lock_id: LOCK, acquisition_order };
    location.event(begin + turn * HOLD, acquire)?;
    location.work(CRITICAL_BLOCK, location.now() + HOLD - 80)?;
    location.after(20, Event::ThreadReleaseLock { model: MODEL, lock_id: LOCK, acquisition_order })?;
    location.leave(10, CRITICAL)
}
