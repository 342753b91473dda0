//! Call stacks of sixty functions, on 512 call paths.

use super::{Pattern, Plan};
use crate::draw::draw;
use crate::job::Job;
use crate::location::{Location, START};
use crate::mpi::BETWEEN;
use crate::mpi::MESSAGE;
use crate::objects::Objects;
use crate::regions::function;

pub(super) const PATTERN: Pattern = Pattern {
    name: "deep-calls",
    about: "functions nested 60 deep, in about 7,000 call paths; every 16th step a message to the next rank (MPI_Send, \
            MPI_Recv)",
    threads: 1,
    least_ranks: 1,
    functions: &[
        "visit",
        "descend",
        "split",
        "evaluate",
        "merge",
        "lookup",
        "insert",
        "balance",
        "walk",
        "select",
        "expand",
        "reduce",
        "bind",
        "apply",
        "simplify",
        "rewrite",
        "match_rule",
        "unify",
        "resolve",
        "substitute",
        "collect",
        "compare",
        "copy_node",
        "hash_node",
    ],
    options: &[],
    objects: Objects::NONE,
    plan,
    run,
    severities: None,
};
const FUNCTIONS: u64 = PATTERN.functions.len() as u64;

/// Depth of the calls below `main`.
const DEPTH: u64 = 60;
/// Number of calls from one fork of call paths to the next.
const STRETCH: u64 = 6;
/// Number of forks, at each of which a call path continues in one of two ways.
const FORKS: u64 = DEPTH / STRETCH - 1;

/// Duration of a step in nanoseconds.
const SLOT: u64 = 12_000;
/// Steps from one message to the next.
const MESSAGES: u64 = 16;
const BYTES: u64 = 1024;
const TAG: u32 = 1;

/// Stream of random numbers of a step, besides the one for the work of ranks.
const WAY: u64 = u64::MAX;

fn plan(job: &Job) -> Plan {
    let wanted = job.events_inside();
    // From `main` to the first leaf and back from the last one.
    let (mut events, mut steps, mut leaf) = (2 * DEPTH, 0, 0);
    let is_enough = |steps, events| job.iterations.map_or(events >= wanted, |iterations| steps >= iterations);
    while steps == 0 || !is_enough(steps, events) {
        let (next, forks) = next(job, leaf, steps);
        events += 2 * forks * STRETCH + if is_message(steps) { 6 } else { 0 };
        leaf = next;
        steps += 1;
    }
    Plan { steps, ticks: steps * SLOT }
}

fn is_message(step: u64) -> bool {
    step % MESSAGES == MESSAGES - 1
}

/// The next leaf, and the number of forks between it and the current one: mostly small. All ranks take the
/// same path.
fn next(job: &Job, leaf: u64, step: u64) -> (u64, u64) {
    let drawn = draw(job.seed, WAY, step);
    let forks = (u64::from(drawn.trailing_zeros()) + 1).min(FORKS);
    let other = 1 << (forks - 1);
    let any = (drawn >> 32) % other;
    ((leaf & !(other - 1) ^ other) + any, forks)
}

/// The function at a depth of the path to a leaf; the two behind a fork differ.
fn function_at(leaf: u64, depth: u64) -> u32 {
    let behind = leaf >> (FORKS - (depth / STRETCH).min(FORKS));
    function(((depth * 5 + behind * 7) % FUNCTIONS) as u32)
}

/// Time at which a rank finishes the work in a leaf.
fn finished(job: &Job, rank: u32, step: u64) -> u64 {
    START + step * SLOT + 7000 + 3 * job.load(rank, step)
}

fn run(location: &mut Location<'_>, steps: u64) -> Result<(), otf2::Error> {
    let (job, rank) = (location.job, location.rank);
    let [before, after] = job.neighbours(rank);
    let mut leaf = 0;
    enter(location, leaf, 0)?;
    for step in 0..steps {
        let (next, forks) = next(job, leaf, step);
        let common = DEPTH - forks * STRETCH;
        leave(location, leaf, common)?;
        leaf = next;
        enter(location, leaf, common)?;
        location.wait_until(finished(job, rank, step));
        if is_message(step) {
            location.send(after, TAG, BYTES)?;
            location.receive(finished(job, before, step) + BETWEEN + MESSAGE, before, TAG, BYTES)?;
        }
    }
    leave(location, leaf, 0)
}

/// Enters all functions below a depth.
fn enter(location: &mut Location<'_>, leaf: u64, from: u64) -> Result<(), otf2::Error> {
    (from..DEPTH).try_for_each(|depth| location.enter(20 + depth % 4 * 10, function_at(leaf, depth)))
}

/// Leaves all functions below a depth.
fn leave(location: &mut Location<'_>, leaf: u64, to: u64) -> Result<(), otf2::Error> {
    (to..DEPTH).rev().try_for_each(|depth| location.leave(20 + depth % 3 * 10, function_at(leaf, depth)))
}
