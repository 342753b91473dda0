//! One-sided communication between fences: each rank puts its borders into the windows of its four neighbours.
//!
//! All ranks wait in a fence for the last one to come (rest of MPI 8.2). As long as neighbours still access the window of a
//! rank that waits, that is an early fence.

use super::{Pattern, Plan};
use crate::draw::{below, draw};
use crate::gatherings::{self, FREEING};
use crate::grid::Grid;
use crate::job::Job;
use crate::location::{Location, START};
use crate::mpi::{BETWEEN, CALL};
use crate::objects::Objects;
use crate::regions::function;
use crate::severities::Severities;

pub(super) const PATTERN: Pattern = Pattern {
    name: "fence",
    about: "a grid of ranks with a window (MPI_Win_allocate); each works, puts borders to its four neighbours (MPI_Put), and \
            waits for all ranks (MPI_Win_fence)",
    threads: 1,
    least_ranks: 1,
    functions: &["relax"],
    options: &[],
    objects: Objects { window: true, ..Objects::NONE },
    plan,
    run,
    severities: Some(severities),
};
const RELAX: u32 = function(0);

/// Duration of a step in nanoseconds.
const SLOT: u64 = 13_000;
/// Largest duration of a fence when all ranks are there.
const DURATION: u64 = 1000;
/// Time from one put to the next.
const PUT: u64 = CALL + BETWEEN;
const BYTES: u64 = 8192;

/// Stream of random numbers of a rank for durations.
const DURATIONS: u64 = 1 << 32;

/// The fence before the first step, as a step of its own.
const OPENING: u64 = u64::MAX - 7;

fn plan(job: &Job) -> Plan {
    let neighbours = Grid::of(job.ranks).around(0).count() as u64;
    let steps = job.steps(1, 6 + 4 * neighbours);
    Plan { steps, ticks: steps * SLOT + FREEING }
}

/// Time at which a rank begins to put.
fn puts(job: &Job, rank: u32, step: u64) -> u64 {
    START + step * SLOT + 2000 + 6 * job.load_before_all(rank, step) + BETWEEN
}

/// Time at which a rank calls the fence, if it has so many neighbours.
fn fences(job: &Job, rank: u32, step: u64, neighbours: u64) -> u64 {
    puts(job, rank, step) + neighbours * PUT
}

/// Time at which a rank calls the fence before the first step.
fn opens(job: &Job, rank: u32) -> u64 {
    START - 40_000 + 5 * job.load_before_all(rank, OPENING)
}

fn run(location: &mut Location<'_>, steps: u64) -> Result<(), otf2::Error> {
    let (job, rank) = (location.job, location.rank);
    let neighbours: Vec<u32> = Grid::of(job.ranks).around(rank).collect();
    location.create_window()?;
    location.wait_until(opens(job, rank) - BETWEEN);
    location.fence(opens(job, job.last(OPENING)) + DURATION)?;
    for step in 0..steps {
        location.work(RELAX, puts(job, rank, step) - BETWEEN)?;
        for &neighbour in &neighbours {
            location.put(neighbour, BYTES)?;
        }
        let last = fences(job, job.last(step), step, neighbours.len() as u64);
        let drawn = draw(job.seed, DURATIONS + u64::from(rank), step);
        location.fence(last + DURATION / 2 + below(drawn, DURATION / 2))?;
    }
    location.free_window(START + steps * SLOT)
}

fn severities(job: &Job, rank: u32) -> Severities {
    let mut severities = Severities::default();
    gatherings::add_window(&mut severities, job, rank);
    let steps = plan(job).steps;
    let neighbours: Vec<u32> = Grid::of(job.ranks).around(rank).collect();
    let number = neighbours.len() as u64;
    severities.add("mpi_rma_wait_at_fence", opens(job, job.last(OPENING)) - opens(job, rank));
    for step in 0..steps {
        let fence = |rank| fences(job, rank, step, number);
        let (mine, last) = (fence(rank), fence(job.last(step)));
        // Neighbours in opposite directions come in pairs: one puts to this rank where this one puts to the other.
        let accessed = |(direction, &from): (u64, &u32)| puts(job, from, step) + (direction ^ 1) * PUT + CALL;
        let accessed = (0..).zip(&neighbours).map(accessed).max().unwrap_or(0);
        severities.add("mpi_rma_wait_at_fence", last - mine);
        severities.add("mpi_rma_early_fence", accessed.min(last).saturating_sub(mine));
    }
    let mut partners = neighbours;
    partners.sort_unstable();
    partners.dedup();
    let (others, partners) = (u64::from(job.ranks - 1), partners.len() as u64);
    severities.add("mpi_rma_pairsync_count", (steps + 1) * others);
    severities.add("mpi_rma_pairsync_unneeded_count", others + steps * (others - partners));
    severities.add("bytes_put", steps * number * BYTES);
    severities
}
