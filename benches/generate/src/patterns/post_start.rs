//! One-sided communication with post, start, complete and wait on a periodic grid: each rank puts into the windows of the
//! ranks in the east and in the south, which have to post before.
//!
//! In a step a rank posts, starts, puts, works on, completes, and waits for those in the west and in the north to complete.
//! The library waits for posts in `MPI_Win_start`, in one of four steps in `MPI_Put`, in another one in `MPI_Win_complete`.
//! What each call waits is told by the times of the posts and of the completes (rest of MPI 8.3).

use super::{Pattern, Plan};
use crate::gatherings::{self, FREEING};
use crate::grid::Grid;
use crate::job::Job;
use crate::location::{Location, START};
use crate::mpi::{BETWEEN, CALL, MESSAGE};
use crate::objects::Objects;
use crate::regions::function;
use crate::severities::Severities;

pub(super) const PATTERN: Pattern = Pattern {
    name: "post-start",
    about: "a grid of ranks with a window; each works, puts to its neighbours in the east and in the south, and works on \
            (MPI_Win_post, MPI_Win_start, MPI_Put, MPI_Win_complete, MPI_Win_wait)",
    threads: 1,
    least_ranks: 1,
    functions: &["relax", "interior"],
    options: &[],
    objects: Objects { window: true, partners: Some(partners), ..Objects::NONE },
    plan,
    run,
    severities: Some(severities),
};
const RELAX: u32 = function(0);
const INTERIOR: u32 = function(1);

/// Duration of a step in nanoseconds.
const SLOT: u64 = 48_000;
const BYTES: u64 = 8192;

/// Steps from one without an access to the south to the next.
const LESS: u64 = 8;

/// Stream of random numbers of a rank for its work between puts and complete.
const INTERIORS: u64 = 1 << 40;

/// Calls of which one waits for posts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waiting {
    Start,
    Put,
    Complete,
}

fn waiting(step: u64) -> Waiting {
    match step % 4 {
        2 => Waiting::Put,
        3 => Waiting::Complete,
        _ => Waiting::Start,
    }
}

/// The ranks in the west and in the north, and those in the east and in the south.
fn partners(job: &Job, rank: u32) -> [Vec<u32>; 2] {
    let around: Vec<u32> = Grid::of(job.ranks).around(rank).collect();
    // Both directions of each dimension.
    let side = |which: usize| around.chunks_exact(2).map(|both| both[which]).collect();
    [side(0), side(1)]
}

fn plan(job: &Job) -> Plan {
    let targets = partners(job, 0)[1].len() as u64;
    let less = if targets > 1 { 4 } else { 0 };
    let steps = job.steps(LESS, LESS * (16 + 4 * targets) - less);
    Plan { steps, ticks: steps * SLOT + FREEING }
}

/// The targets that are accessed in a step: in the east only, or all of them.
fn accessed(targets: &[u32], step: u64) -> &[u32] {
    if step % LESS == LESS - 1 { &targets[..targets.len().min(1)] } else { targets }
}

/// A call: its start and its end.
#[derive(Clone, Copy)]
struct Span {
    begin: u64,
    end: u64,
}

impl Span {
    /// The call that follows, and returns at once.
    fn then(self) -> Span {
        Span { begin: self.end + BETWEEN, end: self.end + BETWEEN + CALL }
    }

    /// The same call, if it waits until a time.
    fn until(self, time: u64) -> Span {
        Span { end: self.end.max(time), ..self }
    }
}

/// The calls of a rank in a step, without the last one.
struct Epoch {
    start: Span,
    puts: Vec<Span>,
    complete: Span,
}

/// The post of a rank.
fn post(job: &Job, rank: u32, step: u64) -> Span {
    let begin = START + step * SLOT + 1000 + 3 * job.distinct_load(rank, step) + BETWEEN;
    Span { begin, end: begin + CALL }
}

fn epoch(job: &Job, rank: u32, step: u64) -> Epoch {
    let [_, targets] = partners(job, rank);
    let come = |target: &u32| post(job, *target, step).begin + MESSAGE;
    let all_come = targets.iter().map(come).max().unwrap_or(0);
    let if_waits = |which, time| if waiting(step) == which { time } else { 0 };
    let start = post(job, rank, step).then().until(if_waits(Waiting::Start, all_come));
    let mut puts = Vec::new();
    let mut last = start;
    for target in accessed(&targets, step) {
        last = last.then().until(if_waits(Waiting::Put, come(target)));
        puts.push(last);
    }
    let begin = last.end + 200 + 3 * job.distinct_load(rank, INTERIORS + step);
    let complete = Span { begin, end: begin + CALL }.until(if_waits(Waiting::Complete, all_come));
    Epoch { start, puts, complete }
}

/// Returns when the last origin of a rank completes, and the wait for that.
fn wait(job: &Job, rank: u32, step: u64, complete: Span) -> (u64, Span) {
    let [origins, _] = partners(job, rank);
    let completed = origins.iter().map(|&origin| epoch(job, origin, step).complete.begin).max().unwrap_or(0);
    (completed, complete.then().until(completed + MESSAGE))
}

fn run(location: &mut Location<'_>, steps: u64) -> Result<(), otf2::Error> {
    let (job, rank) = (location.job, location.rank);
    let [_, targets] = partners(job, rank);
    location.create_window()?;
    for step in 0..steps {
        let Epoch { start, puts, complete } = epoch(job, rank, step);
        location.work(RELAX, post(job, rank, step).begin - BETWEEN)?;
        location.post()?;
        location.start_until(start.end)?;
        for (&target, put) in targets.iter().zip(puts) {
            location.put_until(put.end, target, BYTES)?;
        }
        location.work(INTERIOR, complete.begin - BETWEEN)?;
        location.complete_until(complete.end)?;
        let (_, wait) = wait(job, rank, step, complete);
        location.wait_for_accesses(wait.end)?;
    }
    location.free_window(START + steps * SLOT)
}

fn severities(job: &Job, rank: u32) -> Severities {
    let mut severities = Severities::default();
    gatherings::add_window(&mut severities, job, rank);
    let [origins, targets] = partners(job, rank);
    for step in 0..plan(job).steps {
        let Epoch { start, puts, complete } = epoch(job, rank, step);
        let posts: Vec<u64> = targets.iter().map(|&target| post(job, target, step).begin).collect();
        // A post in a call is what it has waited for.
        let late_post = |call: Span, posts: &[u64]| {
            let last = posts.iter().filter(|&&post| post <= call.end).max();
            last.map_or(0, |post| post.saturating_sub(call.begin))
        };
        severities.add("mpi_rma_sync_late_post", late_post(start, &posts) + late_post(complete, &posts));
        let of_put = |(put, post): (&Span, &u64)| late_post(*put, &[*post]);
        severities.add("mpi_rma_comm_late_post", puts.iter().zip(&posts).map(of_put).sum());

        let (completed, wait) = wait(job, rank, step, complete);
        let early_wait = completed.min(wait.end).saturating_sub(wait.begin);
        // The rank in the west puts to the east first, that in the north to the south last.
        let accesses = (0..).zip(&origins);
        let accesses = accesses.filter_map(|(at, &origin)| epoch(job, origin, step).puts.get(at).copied());
        let accessed = accesses.map(|put: Span| put.end).max().unwrap_or(wait.begin);
        let late = (wait.begin + early_wait).saturating_sub(accessed.max(wait.begin));
        severities.add("mpi_rma_early_wait", early_wait);
        severities.add("mpi_rma_late_complete", late);

        let number = targets.len() as u64;
        severities.add("mpi_rma_pairsync_count", 2 * number);
        severities.add("mpi_rma_pairsync_unneeded_count", 2 * (number - puts.len() as u64));
        severities.add("bytes_put", puts.len() as u64 * BYTES);
    }
    severities
}
