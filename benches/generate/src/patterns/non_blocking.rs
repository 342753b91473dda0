//! Non-blocking collective operations of all ranks: each starts one, works on, and waits for it. Progress is made in calls
//! of MPI only, except in every fourth step, in which all ranks work long enough to hide the operation.
//!
//! In a step, with times of calls since its start (rest of MPI 4.3, 4.4): a rank starts the operation at `requested`, and
//! waits for it from `waits` on. One rank is the last to start (`X`), one is the last to come back to MPI (`G`), later than
//! all starts. So the wait of a rank is `G − waits`: until `X` for the arrival of that rank, then for progress. Of the time
//! from the return of the starting call until `waits` the part before `X` is hidden waiting.

use model::CollectiveOp;

use super::{Pattern, Plan};
use crate::collectives::Ended;
use crate::definitions::WORLD;
use crate::draw::{below, draw};
use crate::job::Job;
use crate::location::{Location, START};
use crate::mpi::{BETWEEN, CALL};
use crate::objects::Objects;
use crate::regions::{IALLREDUCE, IALLTOALL, IBARRIER, WAIT, WAITALL, function};
use crate::severities::Severities;

pub(super) const PATTERN: Pattern = Pattern {
    name: "non-blocking",
    about: "all ranks work, call MPI_Iallreduce or MPI_Ialltoall, work on, and call MPI_Wait; every fourth time they call \
            MPI_Iallreduce, MPI_Ibarrier and MPI_Waitall, every fourth time they work until the operation is complete",
    threads: 1,
    least_ranks: 1,
    functions: &["prepare", "overlap"],
    options: &[],
    objects: Objects::NONE,
    plan,
    run,
    severities: Some(severities),
};
const PREPARE: u32 = function(0);
const OVERLAP: u32 = function(1);

/// Duration of a step in nanoseconds.
const SLOT: u64 = 15_000;
/// Time from a start to the next one, if there are two.
const SECOND: u64 = 600;
/// Time within a step at which the last rank comes back to MPI; the others are back before.
const LAST_BACK: u64 = 12_000;
/// Time within a step at which all have started, and ranks that hide the operation come back at the earliest.
const HIDDEN: u64 = 8000;
/// Those come back at multiples of this, so that nobody does during the call of another one, which could be taken for
/// waiting for progress.
const APART: u64 = 100;
/// Largest duration of an operation when all ranks are in MPI.
const DURATION: u64 = 1000;
const BYTES: u64 = 64;

/// Steps from one of a kind to the next.
const KINDS: u64 = 4;
/// Events of as many steps.
const EVENTS: u64 = 46;

/// Streams of random numbers: of a step, for the rank that comes back last; of ranks, for the work that overlaps, and for
/// durations.
const BACK: u64 = u64::MAX - 2;
const OVERLAPS: u64 = 1 << 40;
const DURATIONS: u64 = 1 << 32;

/// Operations of a step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Allreduce,
    AllreduceAndBarrier,
    Alltoall,
    Hidden,
}

fn kind(step: u64) -> Kind {
    match step % KINDS {
        0 => Kind::Allreduce,
        1 => Kind::AllreduceAndBarrier,
        2 => Kind::Alltoall,
        _ => Kind::Hidden,
    }
}

fn plan(job: &Job) -> Plan {
    let steps = job.steps(KINDS, EVENTS);
    Plan { steps, ticks: steps * SLOT }
}

/// Time at which a rank starts the first operation of a step.
fn requested(job: &Job, rank: u32, step: u64) -> u64 {
    START + step * SLOT + 2000 + 4 * job.load_before_all(rank, step) + BETWEEN
}

/// Time at which it starts the last one.
fn last_requested(job: &Job, rank: u32, step: u64) -> u64 {
    let later = if kind(step) == Kind::AllreduceAndBarrier { SECOND } else { 0 };
    requested(job, rank, step) + later
}

/// Time at which a rank begins to wait.
fn waits(job: &Job, rank: u32, step: u64) -> u64 {
    let (begin, overlap) = (START + step * SLOT, job.load(rank, OVERLAPS + step));
    match kind(step) {
        Kind::Hidden => begin + HIDDEN + overlap / 25 * APART + BETWEEN,
        _ if rank == job.any(BACK, step) => begin + LAST_BACK + overlap + BETWEEN,
        _ => last_requested(job, rank, step) + 1000 + 3 * overlap + BETWEEN,
    }
}

/// Time at which the call that waits returns.
fn returns(job: &Job, rank: u32, step: u64) -> u64 {
    if kind(step) == Kind::Hidden {
        return waits(job, rank, step) + CALL;
    }
    let drawn = draw(job.seed, DURATIONS + u64::from(rank), step);
    waits(job, job.any(BACK, step), step) + DURATION / 2 + below(drawn, DURATION / 2)
}

fn run(location: &mut Location<'_>, steps: u64) -> Result<(), otf2::Error> {
    let (job, rank) = (location.job, location.rank);
    let ended = |collective_op, bytes| Ended { collective_op, communicator: WORLD, bytes };
    let allreduce = ended(CollectiveOp::ALLREDUCE, BYTES);
    let alltoall = ended(CollectiveOp::ALLTOALL, BYTES * u64::from(job.ranks));
    let barrier = ended(CollectiveOp::BARRIER, 0);
    for step in 0..steps {
        let (kind, request) = (kind(step), 2 * step);
        location.work(PREPARE, requested(job, rank, step) - BETWEEN)?;
        let (region, first) =
            if kind == Kind::Alltoall { (IALLTOALL, alltoall) } else { (IALLREDUCE, allreduce) };
        location.request(region, request)?;
        if kind == Kind::AllreduceAndBarrier {
            location.work(OVERLAP, last_requested(job, rank, step) - BETWEEN)?;
            location.request(IBARRIER, request + 1)?;
        }
        location.work(OVERLAP, waits(job, rank, step) - BETWEEN)?;
        let until = returns(job, rank, step);
        match kind {
            Kind::AllreduceAndBarrier => {
                location.complete(WAITALL, until, &[(request, first), (request + 1, barrier)])?;
            }
            _ => location.complete(WAIT, until, &[(request, first)])?,
        }
    }
    Ok(())
}

/// A rank waits for the operation that it started last, since all come back to MPI for that later than for the first one.
fn severities(job: &Job, rank: u32) -> Severities {
    let mut severities = Severities::default();
    // Alone, a rank waits for nobody, and nothing is known of its overlap.
    for step in 0..if job.ranks > 1 { plan(job).steps } else { 0 } {
        let (kind, waits) = (kind(step), waits(job, rank, step));
        let last = last_requested(job, job.last(step), step);
        let back = if kind == Kind::Hidden { waits } else { self::waits(job, job.any(BACK, step), step) };
        let arrival = last.saturating_sub(waits);
        let metric = match kind {
            Kind::AllreduceAndBarrier => "mpi_nbcoll_wait_barrier",
            _ => "mpi_nbcoll_wait_nxn",
        };
        severities.add(metric, arrival);
        severities.add("mpi_nbcoll_wait_for_progress", back - waits - arrival);
        severities.add("mpi_nbcoll_wait", back - waits);
        severities.add("mpi_nbcoll_completion", returns(job, rank, step) - back);
        let mut overlap = |requested: u64, last: u64| {
            let started = requested + CALL;
            let hidden = last.min(waits).saturating_sub(started);
            severities.add("mpi_overlap", waits - started);
            severities.add("mpi_overlap_hidden", hidden);
            severities.add("mpi_overlap_usable", waits - started - hidden);
        };
        overlap(last_requested(job, rank, step), last);
        if kind == Kind::AllreduceAndBarrier {
            overlap(requested(job, rank, step), requested(job, job.last(step), step));
        }
    }
    severities
}
