//! A token that is passed around a ring: the rank that has it works, all others wait.

use super::{Pattern, Plan};
use crate::job::Job;
use crate::location::{Location, START, STARTED};
use crate::mpi::{BETWEEN, CALL, MESSAGE};
use crate::objects::Objects;
use crate::regions::function;
use crate::severities::Severities;

pub(super) const PATTERN: Pattern = Pattern {
    name: "ring",
    about: "a token goes round: receive it from the rank before, work, send it on (MPI_Recv, MPI_Send)",
    threads: 1,
    least_ranks: 1,
    functions: &["use_token"],
    options: &[],
    objects: Objects::NONE,
    plan,
    run,
    severities: Some(severities),
};
const USE_TOKEN: u32 = function(0);

/// Longest time of a rank with the token, including its transfer, in nanoseconds.
const SLOT: u64 = 2000;
const BYTES: u64 = 64;
const TAG: u32 = 1;

fn plan(job: &Job) -> Plan {
    let steps = job.steps(1, 8);
    Plan { steps, ticks: steps.saturating_mul(SLOT * u64::from(job.ranks)) }
}

/// Time at which a rank finishes its work in a round and calls `MPI_Send`, in nanoseconds since the start of
/// the program.
fn sends(job: &Job, rank: u32, round: u64) -> u64 {
    let slot = round * u64::from(job.ranks) + u64::from(rank);
    START + slot * SLOT + 300 + job.load(rank, round) + BETWEEN
}

fn run(location: &mut Location<'_>, steps: u64) -> Result<(), otf2::Error> {
    let (job, rank) = (location.job, location.rank);
    let [before, after] = job.neighbours(rank);
    for round in 0..steps {
        let comes = sends(job, before, round) + MESSAGE;
        // The first rank starts with the token, and gets it back in the end.
        if rank != 0 {
            location.receive(comes, before, TAG, BYTES)?;
        }
        location.work(USE_TOKEN, sends(job, rank, round) - BETWEEN)?;
        location.send(after, TAG, BYTES)?;
        if rank == 0 {
            location.receive(comes, before, TAG, BYTES)?;
        }
    }
    Ok(())
}

/// A rank waits from its last message on until the rank before sends.
fn severities(job: &Job, rank: u32) -> Severities {
    let [before, _] = job.neighbours(rank);
    // The next call after a send.
    let next = |round| sends(job, rank, round) + CALL + BETWEEN;
    let wait = |round: u64| {
        let since = match (rank, round) {
            (0, _) => next(round),
            (_, 0) => STARTED + BETWEEN,
            _ => next(round - 1),
        };
        sends(job, before, round).saturating_sub(since)
    };
    let mut severities = Severities::default();
    severities.add("mpi_latesender", (0..plan(job).steps).map(wait).sum());
    severities.add("mpi_latereceiver", 0);
    severities
}
