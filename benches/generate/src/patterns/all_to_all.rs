//! Collective operations of all ranks: mostly N-to-N, now and then with a root.

use super::{Pattern, Plan};
use crate::draw::{below, draw};
use crate::job::Job;
use crate::location::{Location, START};
use crate::mpi::{BETWEEN, Collective};
use crate::objects::Objects;
use crate::regions::function;

pub(super) const PATTERN: Pattern = Pattern {
    name: "all-to-all",
    about: "all ranks work and call MPI_Alltoall; three of eight times MPI_Bcast, MPI_Reduce or MPI_Barrier instead",
    threads: 1,
    least_ranks: 1,
    functions: &["transform"],
    options: &[],
    objects: Objects::NONE,
    plan,
    run,
    severities: None,
};
const TRANSFORM: u32 = function(0);

/// Duration of a step in nanoseconds.
const SLOT: u64 = 14_000;
/// Largest duration of an operation without waiting.
const DURATION: u64 = 1500;
const BYTES: u64 = 64;

/// Streams of random numbers of a step, besides those for the work of ranks.
const ROOT: u64 = u64::MAX - 1;
const DURATIONS: u64 = 1 << 32;

fn plan(job: &Job) -> Plan {
    let steps = job.steps(1, 6);
    Plan { steps, ticks: steps * SLOT }
}

/// Time at which a rank finishes its work.
fn finished(job: &Job, rank: u32, step: u64) -> u64 {
    START + step * SLOT + 2000 + 8 * job.load_before_all(rank, step)
}

fn operation(job: &Job, step: u64) -> Collective {
    let root = job.any(ROOT, step);
    match step % 8 {
        2 => Collective::Bcast { root },
        4 => Collective::Reduce { root },
        6 => Collective::Barrier,
        _ => Collective::Alltoall,
    }
}

fn run(location: &mut Location<'_>, steps: u64) -> Result<(), otf2::Error> {
    let (job, rank) = (location.job, location.rank);
    for step in 0..steps {
        let mine = finished(job, rank, step);
        location.work(TRANSFORM, mine)?;
        let operation = operation(job, step);
        let needs = match operation {
            Collective::Bcast { root } => finished(job, root, step),
            Collective::Reduce { root } if root != rank => mine,
            _ => finished(job, job.last(step), step),
        };
        // All ranks call the operation equally long after their work.
        let begins = needs.max(mine) + BETWEEN;
        let duration = DURATION / 2 + below(draw(job.seed, DURATIONS + u64::from(rank), step), DURATION / 2);
        location.collective(operation, begins + duration, BYTES)?;
    }
    Ok(())
}
