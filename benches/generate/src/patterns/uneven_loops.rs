//! A loop that some ranks repeat once or twice more than others: before the first iteration that all have, and behind the last
//! one. The numbers of iterations of neighbours differ, those of their messages correspond (structure 2.10, 7).

use super::{Pattern, Plan};
use crate::job::Job;
use crate::location::Location;
use crate::mpi::{BETWEEN, CALL, MESSAGE};
use crate::objects::Objects;
use crate::regions::{RECV, SEND, function};
use crate::slot::{SLOT, finished};

pub(super) const PATTERN: Pattern = Pattern {
    name: "uneven-loops",
    about: "all ranks work and send to the next rank (MPI_Send, MPI_Recv) in a loop; ranks 1, 4, 7, … have an iteration more \
            at its begin, ranks 2, 5, 8, … one at its begin and one at its end, with MPI_PROC_NULL",
    threads: 1,
    least_ranks: 1,
    functions: &["step"],
    options: &[],
    objects: Objects::NONE,
    plan,
    run,
    severities: None,
};
const STEP: u32 = function(0);

/// Iterations that only some ranks have.
const BEFORE_ALL: u64 = 1;
const BEHIND_ALL: u64 = 1;
const BYTES: u64 = 1024;
const TAG: u32 = 1;

/// Lines of the calls.
const SEND_LINE: u32 = 21;
const RECEIVE_LINE: u32 = 22;

fn plan(job: &Job) -> Plan {
    let steps = job.steps(1, 8);
    Plan { steps, ticks: (steps + BEFORE_ALL + BEHIND_ALL).saturating_mul(SLOT) }
}

fn run(location: &mut Location<'_>, steps: u64) -> Result<(), otf2::Error> {
    let (job, rank) = (location.job, location.rank);
    let [before, after] = job.neighbours(rank);
    let of_all = BEFORE_ALL..BEFORE_ALL + steps;
    let first = if rank % 3 == 0 { of_all.start } else { 0 };
    let end = if rank % 3 == 2 { of_all.end + BEHIND_ALL } else { of_all.end };
    for step in first..end {
        location.work(STEP, finished(job, rank, step))?;
        location.at_line(SEND_LINE);
        if of_all.contains(&step) {
            location.send(after, TAG, BYTES)?;
            location.at_line(RECEIVE_LINE);
            location.receive(finished(job, before, step) + BETWEEN + MESSAGE, before, TAG, BYTES)?;
            continue;
        }
        // To and from MPI_PROC_NULL: calls without messages.
        location.enter(BETWEEN, SEND)?;
        location.leave(CALL, SEND)?;
        location.at_line(RECEIVE_LINE);
        location.enter(BETWEEN, RECV)?;
        location.leave(CALL, RECV)?;
    }
    Ok(())
}
