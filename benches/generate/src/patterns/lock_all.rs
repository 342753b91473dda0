//! Pairs of ranks that add to each other's windows under shared locks. A rank that does so waits until its partner, which
//! computes, calls MPI again: there is no progress outside of MPI.
//!
//! In a step the first rank of a pair calls MPI at `comes`, and accesses its partner until that one comes; the partner then
//! accesses the first rank until that one comes in the next step. What waits is the flush, every fourth step the access, from
//! `waits` on until the partner comes (rest of MPI 8.5).

use super::{Pattern, Plan};
use crate::gatherings::{self, FREEING};
use crate::job::Job;
use crate::location::{Location, START};
use crate::mpi::{BETWEEN, CALL, MESSAGE};
use crate::objects::Objects;
use crate::one_sided::Flush;
use crate::regions::function;
use crate::severities::Severities;

pub(super) const PATTERN: Pattern = Pattern {
    name: "lock-all",
    about: "pairs of ranks work in turn, add to the window of the other one and wait for its next call of MPI \
            (MPI_Win_lock_all, MPI_Accumulate, MPI_Win_flush, MPI_Win_unlock_all)",
    threads: 1,
    least_ranks: 2,
    functions: &["compute", "update", "alone"],
    options: &[],
    objects: Objects { window: true, ..Objects::NONE },
    plan,
    run,
    severities: Some(severities),
};
const COMPUTE: u32 = function(0);
const UPDATE: u32 = function(1);
const ALONE: u32 = function(2);

/// Duration of a step in nanoseconds.
const SLOT: u64 = 12_000;
/// Time within a step of the second rank of a pair.
const SECOND: u64 = 6000;
const BYTES: u64 = 64;
/// Events of a rank in a step.
const EVENTS: u64 = 17;

/// Stream of random numbers of a rank for its work before it waits.
const UPDATES: u64 = 1 << 40;

/// What completes an access in a step; `None` if the access itself waits for its target.
fn flush(step: u64) -> Option<Flush> {
    [Some(Flush::One), Some(Flush::Local), Some(Flush::All), None][(step % 4) as usize]
}

fn plan(job: &Job) -> Plan {
    let steps = job.steps(1, EVENTS);
    Plan { steps, ticks: (steps + 1) * SLOT + FREEING }
}

/// Time at which a rank calls MPI after it has computed. The first rank of a pair does so once more behind the last step.
fn comes(job: &Job, rank: u32, step: u64) -> u64 {
    let second = if rank % 2 == 1 { SECOND } else { 0 };
    START + step * SLOT + 500 + second + 3 * job.load(rank, step)
}

/// Time at which it begins to wait for its partner.
fn waits(job: &Job, rank: u32, step: u64) -> u64 {
    comes(job, rank, step) + 1000 + job.load(rank, UPDATES + step)
}

/// Time at which its partner comes.
fn partner_comes(job: &Job, rank: u32, step: u64) -> u64 {
    comes(job, rank ^ 1, if rank % 2 == 1 { step + 1 } else { step })
}

fn run(location: &mut Location<'_>, steps: u64) -> Result<(), otf2::Error> {
    location.create_window()?;
    if location.rank ^ 1 < location.job.ranks {
        in_pair(location, steps)?
    } else {
        alone(location, steps)?
    }
    location.free_window(START + (steps + 1) * SLOT)
}

fn in_pair(location: &mut Location<'_>, steps: u64) -> Result<(), otf2::Error> {
    let (job, rank) = (location.job, location.rank);
    let partner = rank ^ 1;
    for step in 0..steps {
        let (waits, back) = (waits(job, rank, step), partner_comes(job, rank, step) + MESSAGE);
        location.work(COMPUTE, comes(job, rank, step) - BETWEEN)?;
        location.lock_all()?;
        match flush(step) {
            Some(flush) => {
                location.accumulate_until(location.now() + BETWEEN + CALL, partner, BYTES)?;
                location.work(UPDATE, waits - BETWEEN)?;
                location.flush_until(back, flush)?;
            }
            None => {
                location.work(UPDATE, waits - BETWEEN)?;
                location.accumulate_until(back, partner, BYTES)?;
                location.flush_until(back + BETWEEN + CALL, Flush::One)?;
            }
        }
        location.unlock_all()?;
    }
    if rank < partner {
        location.wait_until(comes(job, rank, steps) - BETWEEN);
        location.lock_all()?;
        location.unlock_all()?;
    }
    Ok(())
}

/// Work of the last rank of an odd number, which has no partner.
fn alone(location: &mut Location<'_>, steps: u64) -> Result<(), otf2::Error> {
    for step in 0..steps {
        // As many events as others have, in two steps.
        let parts = EVENTS / 2 + step % 2;
        location.work_in_parts(ALONE, START + step * SLOT, SLOT, parts)?;
    }
    Ok(())
}

fn severities(job: &Job, rank: u32) -> Severities {
    let mut severities = Severities::default();
    gatherings::add_window(&mut severities, job, rank);
    let steps = if rank ^ 1 < job.ranks { plan(job).steps } else { 0 };
    for step in 0..steps {
        let wait = partner_comes(job, rank, step) - waits(job, rank, step);
        let [in_flush, in_access] = if flush(step).is_some() { [wait, 0] } else { [0, wait] };
        severities.add("mpi_rma_sync_wait_for_progress", in_flush);
        severities.add("mpi_rma_comm_wait_for_progress", in_access);
    }
    severities.add("mpi_rma_sync_lock_competition", 0);
    severities.add("mpi_rma_comm_lock_competition", 0);
    severities.add("bytes_put", steps * BYTES);
    severities
}
