//! Pairs of ranks of which every other one has a loop; the others do the same without one (structure 7).

use super::{Pattern, Plan};
use crate::job::Job;
use crate::location::{Location, START};
use crate::mpi::{BETWEEN, MESSAGE};
use crate::objects::Objects;
use crate::regions::function;
use crate::slot::{SLOT, finished};

pub(super) const PATTERN: Pattern = Pattern {
    name: "some-loops",
    about: "pairs of ranks work and swap messages (MPI_Send, MPI_Recv); with --call-sites, ranks 0, 1, 4, 5, … do so in a \
            loop, the others each time at lines of their own",
    threads: 1,
    least_ranks: 2,
    functions: &["stage", "alone"],
    options: &[],
    objects: Objects::NONE,
    plan,
    run,
    severities: None,
};
const STAGE: u32 = function(0);
const ALONE: u32 = function(1);

const BYTES: u64 = 1024;
const TAG: u32 = 1;

/// Line of the first call, and lines of a step, which all steps of a loop share.
const FIRST_LINE: u64 = 10;
const LINES: u64 = 3;

fn plan(job: &Job) -> Plan {
    let steps = job.steps(1, 8);
    Plan { steps, ticks: steps.saturating_mul(SLOT) }
}

fn run(location: &mut Location<'_>, steps: u64) -> Result<(), otf2::Error> {
    let (job, rank) = (location.job, location.rank);
    let (partner, has_loop) = (rank ^ 1, rank / 2 % 2 == 0);
    for step in 0..steps {
        if partner == job.ranks {
            // The last rank of an odd number has no partner.
            location.work_in_parts(ALONE, START + step * SLOT, SLOT, 4)?;
            continue;
        }
        let line = (FIRST_LINE + if has_loop { 0 } else { LINES * step }) as u32;
        location.at_line(line);
        location.work(STAGE, finished(job, rank, step))?;
        location.at_line(line + 1);
        location.send(partner, TAG, BYTES)?;
        location.at_line(line + 2);
        location.receive(finished(job, partner, step) + BETWEEN + MESSAGE, partner, TAG, BYTES)?;
    }
    Ok(())
}
