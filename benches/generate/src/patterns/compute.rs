//! Small functions that are called very often, with little communication.

use super::{Pattern, Plan};
use crate::draw::draw;
use crate::job::Job;
use crate::location::{Location, START};
use crate::mpi::Collective;
use crate::objects::Objects;
use crate::regions::function;

pub(super) const PATTERN: Pattern = Pattern {
    name: "compute",
    about: "calls of small functions, and an MPI_Allreduce after 768 events",
    threads: 1,
    least_ranks: 1,
    functions: &["advance", "assemble", "element", "solve", "smooth", "residual", "prolong", "update"],
    options: &[],
    objects: Objects::NONE,
    plan,
    run,
    severities: None,
};
const ADVANCE: u32 = function(0);
const ASSEMBLE: u32 = function(1);
const ELEMENT: u32 = function(2);
const SOLVE: u32 = function(3);
const SMOOTH: u32 = function(4);
const RESIDUAL: u32 = function(5);
const PROLONG: u32 = function(6);
const UPDATE: u32 = function(7);

/// Duration of a step in nanoseconds.
const SLOT: u64 = 6500;
/// Steps from one reduction to the next.
const REDUCTION: u64 = 16;

/// Stream of random numbers of a rank, besides the one for its work.
const CALLS: u64 = 1 << 32;

fn plan(job: &Job) -> Plan {
    let steps = job.steps(REDUCTION, REDUCTION * 48 + 4);
    Plan { steps, ticks: steps * SLOT }
}

fn run(location: &mut Location<'_>, steps: u64) -> Result<(), otf2::Error> {
    let (job, rank) = (location.job, location.rank);
    for step in 0..steps {
        let begin = START + step * SLOT;
        let mut chance = draw(job.seed, CALLS + u64::from(rank), step);
        // A few bits of one random number for each call.
        let mut some = || {
            chance = chance.rotate_left(5);
            30 + chance % 32
        };
        location.enter(some(), ADVANCE)?;
        location.enter(some(), ASSEMBLE)?;
        for _ in 0..8 {
            location.enter(some(), ELEMENT)?;
            location.leave(some(), ELEMENT)?;
        }
        location.leave(some(), ASSEMBLE)?;
        location.enter(some(), SOLVE)?;
        for _ in 0..4 {
            location.enter(some(), SMOOTH)?;
            location.enter(some(), RESIDUAL)?;
            location.leave(some(), RESIDUAL)?;
            location.leave(some(), SMOOTH)?;
            location.enter(some(), PROLONG)?;
            location.leave(some(), PROLONG)?;
        }
        location.leave(some(), SOLVE)?;
        location.work(UPDATE, begin + 3500 + 2 * job.load(rank, step))?;
        location.leave(some(), ADVANCE)?;
        if step % REDUCTION == REDUCTION - 1 {
            location.collective(Collective::Allreduce, begin + 6000, 8)?;
        }
    }
    Ok(())
}
