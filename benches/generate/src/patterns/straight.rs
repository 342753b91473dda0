//! A program without any loop: each call is another one in the source (structure 7).

use super::{Pattern, Plan};
use crate::job::Job;
use crate::location::{Location, START};
use crate::mpi::{BETWEEN, Collective, MESSAGE};
use crate::objects::Objects;
use crate::regions::function;
use crate::slot::{SLOT, finished};

pub(super) const PATTERN: Pattern = Pattern {
    name: "straight",
    about: "no loop, if there are --call-sites: work, a message to the next rank (MPI_Send, MPI_Recv), every fourth time an \
            MPI_Allreduce instead, each call at a line of its own",
    threads: 1,
    least_ranks: 1,
    functions: &["stage"],
    options: &[],
    objects: Objects::NONE,
    plan,
    run,
    severities: None,
};
const STAGE: u32 = function(0);

/// Steps from one operation of all to the next.
const REDUCTION: u64 = 4;
const BYTES: u64 = 1024;
const TAG: u32 = 1;

/// Line of the first call, and lines of a step.
const FIRST_LINE: u64 = 10;
const LINES: u64 = 3;

fn plan(job: &Job) -> Plan {
    let steps = job.steps(REDUCTION, REDUCTION * 8 - 2);
    Plan { steps, ticks: steps.saturating_mul(SLOT) }
}

fn run(location: &mut Location<'_>, steps: u64) -> Result<(), otf2::Error> {
    let (job, rank) = (location.job, location.rank);
    let [before, after] = job.neighbours(rank);
    for step in 0..steps {
        let line = (FIRST_LINE + LINES * step) as u32;
        location.at_line(line);
        location.work(STAGE, finished(job, rank, step))?;
        location.at_line(line + 1);
        if step % REDUCTION == REDUCTION - 1 {
            location.collective(Collective::Allreduce, START + step * SLOT + SLOT - 500, 8)?;
            continue;
        }
        location.send(after, TAG, BYTES)?;
        location.at_line(line + 2);
        location.receive(finished(job, before, step) + BETWEEN + MESSAGE, before, TAG, BYTES)?;
    }
    Ok(())
}
