//! Operations among the neighbours of a periodic grid of ranks, three of four times blocking ones.
//!
//! A rank has four neighbours, which it receives from and sends to. In a step it calls the operation at `begins`; if that does
//! not block it works on, and waits from `waits` on. It waits for the last of its neighbours to begin, and in the second case
//! for the last of them to come back to MPI (rest of MPI 4.3, 5.2).

use model::CollectiveOp;

use super::{Pattern, Plan};
use crate::collectives::Ended;
use crate::draw::{below, draw};
use crate::gatherings::{self, FREEING};
use crate::grid::Grid;
use crate::job::Job;
use crate::location::{Location, START};
use crate::mpi::{BETWEEN, CALL};
use crate::objects::{GRID, Objects};
use crate::regions::{INEIGHBOR_ALLTOALLV, NEIGHBOR_ALLTOALL, NEIGHBOR_ALLTOALLV, WAIT, function};
use crate::severities::Severities;

pub(super) const PATTERN: Pattern = Pattern {
    name: "neighborhood",
    about: "a grid of ranks (MPI_Cart_create); each works and swaps borders with its four neighbours \
            (MPI_Neighbor_alltoall, MPI_Neighbor_alltoallv); every fourth time it works on meanwhile \
            (MPI_Ineighbor_alltoallv, MPI_Wait)",
    threads: 1,
    least_ranks: 1,
    functions: &["relax", "interior"],
    options: &[],
    objects: Objects { grid: true, partners: Some(partners), ..Objects::NONE },
    plan,
    run,
    severities: Some(severities),
};
const RELAX: u32 = function(0);
const INTERIOR: u32 = function(1);

/// Duration of a step in nanoseconds.
const SLOT: u64 = 48_000;
/// Largest duration of an operation when all neighbours are there.
const DURATION: u64 = 1000;
const BYTES: u64 = 8192;

/// Steps from one of a kind to the next.
const KINDS: u64 = 4;
/// Events of as many steps.
const EVENTS: u64 = 28;

/// Streams of random numbers of ranks: for the work that overlaps, and for durations.
const OVERLAPS: u64 = 1 << 40;
const DURATIONS: u64 = 1 << 32;

fn partners(job: &Job, rank: u32) -> [Vec<u32>; 2] {
    let neighbors: Vec<u32> = Grid::of(job.ranks).around(rank).collect();
    [neighbors.clone(), neighbors]
}

/// Whether a step has the operation that does not block.
fn overlaps(step: u64) -> bool {
    step % KINDS == KINDS - 1
}

fn plan(job: &Job) -> Plan {
    let steps = job.steps(KINDS, EVENTS);
    Plan { steps, ticks: steps * SLOT + FREEING }
}

/// Time at which a rank calls the operation of a step.
fn begins(job: &Job, rank: u32, step: u64) -> u64 {
    START + step * SLOT + 2000 + 3 * job.distinct_load(rank, step) + BETWEEN
}

/// Time at which a rank begins to wait: in an operation that blocks at once.
fn waits(job: &Job, rank: u32, step: u64) -> u64 {
    let begins = begins(job, rank, step);
    if overlaps(step) { begins + 1000 + 3 * job.distinct_load(rank, OVERLAPS + step) } else { begins }
}

/// The latest of the times of the neighbours, if there are any.
fn latest(job: &Job, rank: u32, time: impl Fn(u32) -> u64) -> Option<u64> {
    Grid::of(job.ranks).around(rank).map(time).max()
}

/// Time at which all neighbours are in MPI, and the rank itself.
fn together(job: &Job, rank: u32, step: u64) -> u64 {
    let own = waits(job, rank, step);
    latest(job, rank, |rank| waits(job, rank, step)).map_or(own, |latest| latest.max(own))
}

/// Time at which the call that waits returns.
fn returns(job: &Job, rank: u32, step: u64) -> u64 {
    let drawn = draw(job.seed, DURATIONS + u64::from(rank), step);
    together(job, rank, step) + DURATION / 2 + below(drawn, DURATION / 2)
}

fn run(location: &mut Location<'_>, steps: u64) -> Result<(), otf2::Error> {
    let (job, rank) = (location.job, location.rank);
    let bytes = BYTES * Grid::of(job.ranks).around(rank).count() as u64;
    let ended = |collective_op| Ended { collective_op, communicator: GRID, bytes };
    // OTF2 has no code for operations among neighbours: recorders take this one (rest of MPI 3.3, R2).
    let exchange = ended(CollectiveOp::ALLTOALLV);
    location.create_grid()?;
    for step in 0..steps {
        let until = returns(job, rank, step);
        location.work(RELAX, begins(job, rank, step) - BETWEEN)?;
        if overlaps(step) {
            location.request(INEIGHBOR_ALLTOALLV, step)?;
            location.work(INTERIOR, waits(job, rank, step) - BETWEEN)?;
            location.complete(WAIT, until, &[(step, exchange)])?;
            continue;
        }
        let region = if step % 2 == 0 { NEIGHBOR_ALLTOALL } else { NEIGHBOR_ALLTOALLV };
        location.neighborhood(region, until, exchange)?;
    }
    location.free_grid(START + steps * SLOT)
}

fn severities(job: &Job, rank: u32) -> Severities {
    let mut severities = Severities::default();
    gatherings::add_grid(&mut severities, job, rank);
    // Alone, a rank waits for nobody, and nothing is known of its overlap.
    for step in 0..if job.ranks > 1 { plan(job).steps } else { 0 } {
        let (begins, waits) = (begins(job, rank, step), waits(job, rank, step));
        let last = latest(job, rank, |rank| self::begins(job, rank, step)).unwrap_or(begins);
        let arrival = last.saturating_sub(waits);
        if !overlaps(step) {
            severities.add("mpi_wait_neighbor", arrival);
            continue;
        }
        let together = together(job, rank, step);
        severities.add("mpi_nbcoll_wait_neighbor", arrival);
        severities.add("mpi_nbcoll_wait_for_progress", together - waits - arrival);
        severities.add("mpi_nbcoll_wait", together - waits);
        severities.add("mpi_nbcoll_completion", returns(job, rank, step) - together);
        let started = begins + CALL;
        let hidden = last.min(waits).saturating_sub(started);
        severities.add("mpi_overlap", waits - started);
        severities.add("mpi_overlap_hidden", hidden);
        severities.add("mpi_overlap_usable", waits - started - hidden);
    }
    severities
}
