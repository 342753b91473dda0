//! Halo exchange on a grid of ranks: each swaps borders with its four neighbours, with a reduction now and
//! then.

use otf2::Event;

use super::{Pattern, Plan};
use crate::definitions::WORLD;
use crate::grid::Grid;
use crate::job::Job;
use crate::location::{Location, START};
use crate::mpi::{BETWEEN, CALL, Collective, MESSAGE};
use crate::objects::Objects;
use crate::regions::function;

pub(super) const PATTERN: Pattern = Pattern {
    name: "stencil",
    about: "a grid of ranks; each works, swaps borders with its four neighbours (MPI_Irecv, MPI_Isend, MPI_Waitall); \
            every tenth step an MPI_Allreduce",
    threads: 1,
    least_ranks: 1,
    functions: &["relax", "exchange", "residual"],
    options: &[],
    objects: Objects::NONE,
    plan,
    run,
    severities: None,
};
const RELAX: u32 = function(0);
const EXCHANGE: u32 = function(1);
const RESIDUAL: u32 = function(2);

/// Duration of a step in nanoseconds.
const SLOT: u64 = 24_000;
/// Time within a step at which all ranks have all borders.
const SWAPPED: u64 = 19_000;
/// Steps from one reduction to the next.
const REDUCTION: u64 = 10;
const BYTES: u64 = 8192;

fn plan(job: &Job) -> Plan {
    let neighbours = Grid::of(job.ranks).around(0).count() as u64;
    let steps = job.steps(REDUCTION, REDUCTION * (6 + 8 * neighbours) + 6);
    Plan { steps, ticks: steps * SLOT }
}

/// Time at which a rank finishes its work.
#[inline]
fn finished(job: &Job, rank: u32, step: u64) -> u64 {
    START + step * SLOT + 5000 + 10 * job.load(rank, step)
}

fn run(location: &mut Location<'_>, steps: u64) -> Result<(), otf2::Error> {
    let (job, rank) = (location.job, location.rank);
    // Neighbours in opposite directions come in pairs, at the same positions on all ranks.
    let neighbours: Vec<u32> = Grid::of(job.ranks).around(rank).collect();
    let number = neighbours.len() as u64;
    let sends_after = |direction: u64| BETWEEN + (number + direction) * (CALL + BETWEEN) + BETWEEN;
    for step in 0..steps {
        location.work(RELAX, finished(job, rank, step))?;
        location.enter(BETWEEN, EXCHANGE)?;
        let request = 2 * number * step;
        for direction in 0..number {
            location.irecv(request + direction)?;
        }
        for (direction, &to) in (0..).zip(&neighbours) {
            location.isend(to, direction, BYTES, request + number + u64::from(direction))?;
        }
        let comes = |(direction, &from): (u64, &u32)| {
            finished(job, from, step) + sends_after(direction ^ 1) + MESSAGE
        };
        let complete = (0..).zip(&neighbours).map(comes).max().unwrap_or(0);
        let sends = (0..number).map(|it| Event::MpiIsendComplete { request_id: request + number + it });
        let receives = (0..).zip(&neighbours).map(|(direction, &sender)| Event::MpiIrecv {
            sender,
            communicator: WORLD,
            msg_tag: direction ^ 1,
            msg_length: BYTES,
            request_id: request + u64::from(direction),
        });
        location.wait_all(complete, sends.chain(receives))?;
        location.leave(BETWEEN, EXCHANGE)?;
        if step % REDUCTION == REDUCTION - 1 {
            location.enter(BETWEEN, RESIDUAL)?;
            location.collective(Collective::Allreduce, START + step * SLOT + SWAPPED, 8)?;
            location.leave(BETWEEN, RESIDUAL)?;
        }
    }
    Ok(())
}
