//! Random steps over very many call sites: no two iterations of its loop are alike, nor are two ranks. It shows what an
//! analysis of the structure costs at worst (structure 7).
//!
//! All ranks do the same kind of step at the same time, so that messages and operations match; but each rank draws the site of
//! the call among all of that kind.

use super::{Pattern, Plan};
use crate::draw::{below, draw};
use crate::job::Job;
use crate::location::{Location, START};
use crate::mpi::{BETWEEN, Collective, MESSAGE};
use crate::objects::Objects;
use crate::regions::COMM_RANK;

pub(super) const PATTERN: Pattern = Pattern {
    name: "random-sites",
    about: "random steps over many call sites, each rank its own: most call MPI_Comm_rank, others MPI_Send and MPI_Recv, or \
            MPI_Allreduce; they differ only with --call-sites",
    threads: 1,
    least_ranks: 1,
    functions: &[],
    options: &["sites"],
    objects: Objects::NONE,
    plan,
    run,
    severities: None,
};

/// Kinds of sites. In as many steps there is one operation of all, two exchanges, and calls without communication.
const KINDS: u64 = 16;
const ALLREDUCE: u64 = 0;
const SEND: u64 = 1;
const RECEIVE: u64 = 2;
/// Events of as many steps.
const EVENTS: u64 = 4 + 2 * 6 + 13 * 2;

/// Line of the first call.
const FIRST_LINE: u64 = 10;

/// Duration of a step in nanoseconds.
const SLOT: u64 = 5000;
const BYTES: u64 = 64;
const TAG: u32 = 1;

/// Streams of random numbers: of all ranks, for the order of steps; of a rank, for its sites.
const ORDER: u64 = u64::MAX - 1;
const SITES: u64 = 1 << 32;
const SITES_OF_RECEIVES: u64 = 1 << 33;

fn plan(job: &Job) -> Plan {
    let steps = job.steps(KINDS, EVENTS);
    Plan { steps, ticks: steps.saturating_mul(SLOT) }
}

/// The kind of a step: each once in sixteen steps, in an order that changes.
fn kind(job: &Job, step: u64) -> u64 {
    let drawn = draw(job.seed, ORDER, step / KINDS);
    // A factor that is odd permutes the numbers.
    (step % KINDS * ((drawn % KINDS) | 1) + drawn / KINDS % KINDS) % KINDS
}

/// The line of a call of a kind.
fn line(job: &Job, stream: u64, step: u64, kind: u64) -> u32 {
    let sites = u64::from(job.tuning.sites) / KINDS;
    (FIRST_LINE + kind + KINDS * below(draw(job.seed, stream, step), sites.max(1))) as u32
}

/// Time at which a rank is ready to call MPI in a step.
fn ready(job: &Job, rank: u32, step: u64) -> u64 {
    START + step * SLOT + 500 + 2 * job.load(rank, step)
}

fn run(location: &mut Location<'_>, steps: u64) -> Result<(), otf2::Error> {
    let (job, rank) = (location.job, location.rank);
    let [before, after] = job.neighbours(rank);
    for step in 0..steps {
        let (kind, sites) = (kind(job, step), SITES + u64::from(rank));
        location.wait_until(ready(job, rank, step));
        location.at_line(line(job, sites, step, if kind == RECEIVE { SEND } else { kind }));
        match kind {
            ALLREDUCE => location.collective(Collective::Allreduce, START + step * SLOT + SLOT - 500, 8)?,
            SEND | RECEIVE => {
                location.send(after, TAG, BYTES)?;
                location.at_line(line(job, SITES_OF_RECEIVES + u64::from(rank), step, RECEIVE));
                location.receive(ready(job, before, step) + BETWEEN + MESSAGE, before, TAG, BYTES)?;
            }
            _ => {
                location.enter(BETWEEN, COMM_RANK)?;
                location.leave(BETWEEN, COMM_RANK)?;
            }
        }
    }
    Ok(())
}
