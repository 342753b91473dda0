//! Exclusive locks of one window: all ranks but the first update its data in turn, while it computes.
//!
//! In a round the worker at a place in the order asks at `asks` for the lock, gets it when the worker before has released it
//! at `turn`, and holds it until the turn of the next one. So it waits `turn − asks` (rest of MPI 8.4), unless it is the first
//! of the round: rounds do not overlap. Rank 0 calls MPI before the first round and after the last one only, so that nobody
//! can wait for its progress (rest of MPI 8.5).

use super::{Pattern, Plan};
use crate::draw::{below, draw};
use crate::gatherings::{self, FREEING};
use crate::job::Job;
use crate::location::{Location, START};
use crate::mpi::{BETWEEN, CALL};
use crate::objects::Objects;
use crate::regions::function;
use crate::severities::Severities;

pub(super) const PATTERN: Pattern = Pattern {
    name: "locks",
    about: "all ranks but rank 0 work, and update its window in turn under an exclusive lock (MPI_Win_lock, MPI_Put, \
            MPI_Win_unlock); rank 0 computes",
    threads: 1,
    least_ranks: 2,
    functions: &["compute", "update", "serve"],
    options: &[],
    objects: Objects { window: true, ..Objects::NONE },
    plan,
    run,
    severities: Some(severities),
};
const COMPUTE: u32 = function(0);
const UPDATE: u32 = function(1);
const SERVE: u32 = function(2);

/// The rank with the window that is updated.
const TARGET: u32 = 0;
/// Time from one turn to the next in nanoseconds.
const TURN: u64 = 4000;
/// Time in a round before the first turn, and behind the last one.
const BEFORE: u64 = 4000;
const BEHIND: u64 = 4000;
/// Time from the release of a lock until another rank has it.
const GRANT: u64 = 200;
/// Duration of a release.
const RELEASE: u64 = 100;
const BYTES: u64 = 64;
/// Events of a worker in a round.
const EVENTS: u64 = 15;

/// Stream of random numbers for the first worker of a round.
const FIRST: u64 = u64::MAX;

fn round(job: &Job) -> u64 {
    BEFORE + u64::from(job.ranks - 1) * TURN + BEHIND
}

fn plan(job: &Job) -> Plan {
    let steps = job.steps(1, EVENTS);
    Plan { steps, ticks: steps.saturating_mul(round(job)).saturating_add(FREEING) }
}

/// The place of a worker in the order of a round.
fn place(job: &Job, worker: u32, step: u64) -> u32 {
    let workers = job.ranks - 1;
    let first = below(draw(job.seed, FIRST, step), workers.into()) as u32;
    (worker - 1 + workers - first) % workers
}

/// Time of a turn: the worker of the one before has released the lock.
fn turn(job: &Job, place: u32, step: u64) -> u64 {
    START + step * round(job) + BEFORE + u64::from(place) * TURN
}

/// Time at which a worker asks for the lock: about its turn, or every other round soon after the start, like all others.
fn asks(job: &Job, worker: u32, step: u64) -> u64 {
    let load = job.load(worker, step);
    match step % 2 {
        0 => turn(job, place(job, worker, step), step) + 5 * load - 3000,
        _ => turn(job, 0, step) + 2 * load - 3000,
    }
}

fn run(location: &mut Location<'_>, steps: u64) -> Result<(), otf2::Error> {
    location.create_window()?;
    if location.rank == TARGET {
        serve(location, steps)?
    } else {
        work(location, steps)?
    }
    location.free_window(START + steps * round(location.job))
}

fn serve(location: &mut Location<'_>, steps: u64) -> Result<(), otf2::Error> {
    let round = round(location.job);
    for step in 0..steps {
        // As many events as workers have, in two rounds.
        let parts = EVENTS / 2 + step % 2;
        location.work_in_parts(SERVE, START + step * round, round, parts)?;
    }
    Ok(())
}

fn work(location: &mut Location<'_>, steps: u64) -> Result<(), otf2::Error> {
    let (job, rank) = (location.job, location.rank);
    for step in 0..steps {
        let place = place(job, rank, step);
        let asks = asks(job, rank, step);
        location.work(COMPUTE, asks - BETWEEN)?;
        let granted = if place == 0 { 0 } else { turn(job, place, step) + GRANT };
        location.lock_until(granted.max(asks + CALL), TARGET)?;
        location.put(TARGET, BYTES)?;
        let release = turn(job, place + 1, step);
        location.work(UPDATE, release - RELEASE - BETWEEN)?;
        location.unlock_until(release, TARGET)?;
    }
    Ok(())
}

fn severities(job: &Job, rank: u32) -> Severities {
    let mut severities = Severities::default();
    gatherings::add_window(&mut severities, job, rank);
    let steps = if rank == TARGET { 0 } else { plan(job).steps };
    let wait = |step| match place(job, rank, step) {
        0 => 0,
        place => turn(job, place, step).saturating_sub(asks(job, rank, step)),
    };
    severities.add("mpi_rma_sync_lock_competition", (0..steps).map(wait).sum());
    severities.add("mpi_rma_comm_lock_competition", 0);
    severities.add("mpi_rma_sync_wait_for_progress", 0);
    severities.add("mpi_rma_comm_wait_for_progress", 0);
    severities.add("bytes_put", steps * BYTES);
    severities
}
