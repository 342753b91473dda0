//! Pairs of ranks that work alternately.

use super::{Pattern, Plan};
use crate::draw::{below, draw};
use crate::job::Job;
use crate::location::{Location, START, STARTED};
use crate::mpi::{BETWEEN, CALL, MESSAGE};
use crate::objects::Objects;
use crate::regions::function;
use crate::severities::Severities;

pub(super) const PATTERN: Pattern = Pattern {
    name: "ping-pong",
    about: "pairs of ranks work in turn, each waits for the other one's message; one of eight times the message is large, \
            and its sender waits until the receiver is ready (MPI_Send, MPI_Recv)",
    threads: 1,
    least_ranks: 2,
    functions: &["ping", "pong", "alone"],
    options: &[],
    objects: Objects::NONE,
    plan,
    run,
    severities: Some(severities),
};
const PING: u32 = function(0);
const PONG: u32 = function(1);
const ALONE: u32 = function(2);

/// Duration of a step in nanoseconds.
const SLOT: u64 = 12_000;
/// Duration of a large message when both ranks are ready.
const TRANSFER: u64 = 1500;
const SMALL: u64 = 64;
const LARGE: u64 = 1 << 20;
const TAG: u32 = 1;

/// Schedule of a pair in a step. Times are those of calls of MPI, in nanoseconds since the start of the
/// program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Exchange {
    /// Time at which the first rank sends.
    ping: u64,
    /// Time at which the second rank is ready to receive, if the message is large: it then works before,
    /// instead of after.
    ready: Option<u64>,
    /// Time at which the second rank sends.
    pong: u64,
}

/// Schedule of a pair in a step; `first` is the rank that sends first, an even one.
fn exchange(job: &Job, first: u32, step: u64) -> Exchange {
    let begin = START + step * SLOT;
    let ping = begin + 500 + 3 * job.load(first, step) + BETWEEN;
    let work = job.load(first + 1, step);
    if below(draw(job.seed, u64::from(first) << 32, step), 8) == 0 {
        let ready = begin + 4500 + 2 * work + BETWEEN;
        return Exchange { ping, ready: Some(ready), pong: ready + TRANSFER + 100 };
    }
    Exchange { ping, ready: None, pong: ping + MESSAGE + 300 + 3 * work }
}

fn plan(job: &Job) -> Plan {
    let steps = job.steps(1, 8);
    Plan { steps, ticks: steps * SLOT }
}

fn run(location: &mut Location<'_>, steps: u64) -> Result<(), otf2::Error> {
    let (job, rank) = (location.job, location.rank);
    let (first, partner) = (rank & !1, rank ^ 1);
    for step in 0..steps {
        if partner == job.ranks {
            // The last rank of an odd number has no partner.
            location.work_in_parts(ALONE, START + step * SLOT, SLOT, 4)?;
            continue;
        }
        let Exchange { ping, ready, pong } = exchange(job, first, step);
        if rank == first {
            location.work(PING, ping - BETWEEN)?;
            match ready {
                Some(ready) => location.send_until(ready + TRANSFER, partner, TAG, LARGE)?,
                None => location.send(partner, TAG, SMALL)?,
            }
            location.receive(pong + MESSAGE, partner, TAG, SMALL)?;
            continue;
        }
        match ready {
            Some(ready) => {
                location.work(PONG, ready - BETWEEN)?;
                location.receive(ready + TRANSFER - 50, first, TAG, LARGE)?;
            }
            None => {
                location.receive(ping + MESSAGE, first, TAG, SMALL)?;
                location.work(PONG, pong - BETWEEN)?;
            }
        }
        location.wait_until(pong - BETWEEN);
        location.send(first, TAG, SMALL)?;
    }
    Ok(())
}

/// The first rank of a pair waits for the answer, or until the second one is ready; the second one for a small message.
fn severities(job: &Job, rank: u32) -> Severities {
    let mut severities = Severities::default();
    let (first, next_call) = (rank & !1, CALL + BETWEEN);
    let has_partner = rank ^ 1 < job.ranks;
    let (mut late_sender, mut late_receiver) = (0, 0);
    for step in 0..if has_partner { plan(job).steps } else { 0 } {
        let Exchange { ping, ready, pong } = exchange(job, first, step);
        match ready {
            _ if rank == first => {
                late_sender += pong - ready.map_or(ping + next_call, |ready| ready + TRANSFER + BETWEEN);
                late_receiver += ready.map_or(0, |ready| ready - ping);
            }
            None => {
                let last = step.checked_sub(1).map(|last| exchange(job, first, last).pong + next_call);
                late_sender += ping - last.unwrap_or(STARTED + BETWEEN);
            }
            Some(_) => {}
        }
    }
    severities.add("mpi_latesender", late_sender);
    severities.add("mpi_latereceiver", late_receiver);
    severities
}
