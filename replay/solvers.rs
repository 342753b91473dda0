//! Solvers: the workers that run a location-to-location computation on behalf of others.
//!
//! Such a computation advances step by step, and each step from one worker to another costs a message. The
//! data that it needs of a worker's locations, the worker's *part*, is a small fraction of all that the
//! worker has. So as few workers as sizes and memory allow bring the parts together, run the computation
//! without messages, and return the results in bulk. The length of the chains need not be known for that. If
//! not all parts fit at one worker, each solver runs it for a few consecutive workers, and sends messages to
//! the other solvers (see [`relay`]).

use std::ops::Range;
use std::sync::Arc;

use tracing::debug;

use crate::error::Error;
use crate::exchange::shelf::Shelf;
use crate::exchange::{Batch, Exchange, share};
use crate::int::to_u32;
use crate::relay::{self, Recurrence};
use crate::tools::Tools;
use crate::wire::{self, Wire};

/// The most bytes of parts of others that one worker brings together: those of two to three million wait
/// states, which it solves in half a second. With more of them, more solvers are worth their messages.
pub const TOGETHER: u64 = 256 << 20;

/// The most bytes that a solver stores for a location during the computation.
const WAY: u64 = 192;

/// The data that a location-to-location computation needs of a worker's locations.
pub trait Part: Wire {
    /// The first location; the others follow without gap.
    fn first(&self) -> u32;

    /// The number of locations.
    fn lines(&self) -> usize;

    /// The number of words in a batch.
    fn words(&self) -> usize;

    /// An estimate of the bytes that its solver needs: the part, the data of its locations during the
    /// computation, and half as much as the part for everything else.
    fn bytes(&self) -> u64 {
        (self.words() * size_of::<u64>()) as u64 * 3 / 2 + self.lines() as u64 * WAY
    }
}

/// The solver of each worker.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Solvers {
    /// The first workers of all groups: each is the solver of its group.
    firsts: Vec<usize>,
    workers: usize,
}

impl Solvers {
    /// Chooses as few solvers as possible: `sizes` are the bytes of all workers' parts, `rooms` the bytes
    /// that each worker may use in addition.
    fn new(sizes: &[u64], rooms: &[u64]) -> Solvers {
        let mut firsts = vec![0];
        // The room that the first worker of the group has left.
        let mut left = rooms[0];
        for (worker, &size) in sizes.iter().enumerate().skip(1) {
            match left.checked_sub(size) {
                Some(rest) => left = rest,
                None => {
                    firsts.push(worker);
                    left = rooms[worker];
                }
            }
        }
        Solvers { firsts, workers: sizes.len() }
    }

    /// Returns the solver of a worker.
    pub fn of(&self, worker: usize) -> usize {
        self.firsts[self.firsts.partition_point(|&first| first <= worker) - 1]
    }

    /// Returns the workers for which a worker solves.
    fn group(&self, worker: usize) -> Range<usize> {
        match self.firsts.binary_search(&worker) {
            Ok(at) => worker..self.firsts.get(at + 1).copied().unwrap_or(self.workers),
            Err(_) => worker..worker,
        }
    }

    /// Runs a location-to-location computation.
    pub fn run<R: Recurrence>(&self, work: &mut R, exchange: &mut dyn Exchange) {
        match self.firsts.len() {
            // The other workers go on to the next exchange.
            1 if exchange.worker() > 0 => {}
            1 => relay::run_alone(work),
            _ => relay::run(work, exchange),
        }
    }
}

/// The parts for which a worker solves, as one sequence of locations.
#[derive(Debug)]
pub struct Group<P> {
    /// The solver of each worker.
    pub solvers: Solvers,
    /// The workers that this one solves for.
    pub workers: Range<usize>,
    /// Their parts.
    pub parts: Vec<Arc<P>>,
    /// The first location of all; the others follow without gap.
    first: u32,
    /// The index of each part's first location among all, and the number of all.
    lines: Vec<usize>,
}

impl<P: Part> Group<P> {
    fn new(solvers: Solvers, workers: Range<usize>, parts: Vec<Arc<P>>) -> Group<P> {
        let first = parts.iter().find(|part| part.lines() > 0).map_or(0, |part| part.first());
        let lines = firsts(&parts, P::lines);
        Group { solvers, workers, parts, first, lines }
    }

    /// Returns the number of locations.
    pub fn lines(&self) -> usize {
        self.lines[self.parts.len()]
    }

    /// Returns the index of a location among those of the group.
    pub fn at(&self, location: u32) -> usize {
        (location - self.first) as usize
    }

    /// Returns the location at an index.
    pub fn location(&self, at: usize) -> u32 {
        self.first + to_u32(at)
    }

    /// Returns the part of the location at an index.
    pub fn part_of(&self, at: usize) -> usize {
        self.lines.partition_point(|&first| first <= at) - 1
    }

    /// Returns the index of a part's first location.
    pub fn first_line(&self, part: usize) -> usize {
        self.lines[part]
    }

    /// Returns the part of a worker, if it is in the group.
    pub fn has(&self, worker: usize) -> Option<usize> {
        self.workers.contains(&worker).then(|| worker - self.workers.start)
    }

    /// Returns results to their workers: `batches` has one for each part here. Returns the batch from this
    /// worker's solver.
    ///
    /// # Errors
    /// If a worker failed.
    pub fn give_back(&self, batches: Vec<Batch>, exchange: &mut dyn Exchange) -> Result<Batch, Error> {
        let mut outgoing = vec![Batch::new(); exchange.workers()];
        for (worker, batch) in self.workers.clone().zip(batches) {
            outgoing[worker] = batch;
        }
        let solver = self.solvers.of(exchange.worker());
        Ok(exchange.exchange(outgoing)?.swap_remove(solver))
    }

    /// Sends this worker's words to its solver. Returns on a solver the words of each worker of the group, in
    /// the order of parts.
    ///
    /// # Errors
    /// If a worker failed.
    pub fn bring(&self, words: Batch, exchange: &mut dyn Exchange) -> Result<Vec<Batch>, Error> {
        let mut outgoing = vec![Batch::new(); exchange.workers()];
        outgoing[self.solvers.of(exchange.worker())] = words;
        let mut incoming = exchange.exchange(outgoing)?;
        incoming.truncate(self.workers.end);
        Ok(incoming.split_off(self.workers.start.min(incoming.len())))
    }
}

/// Returns the index of the first thing of each part among those of all parts, and the number of all.
pub fn firsts<P>(parts: &[Arc<P>], count: impl Fn(&P) -> usize) -> Vec<usize> {
    let ends = parts.iter().scan(0, |sum, part| {
        *sum += count(part);
        Some(*sum)
    });
    [0].into_iter().chain(ends).collect()
}

/// Brings the parts of all workers together; `shelf` is one of the process. After it no worker may fail until
/// [`run`](Solvers::run) is over, where others wait for posted words and do not learn of failures.
///
/// # Errors
/// If a worker failed.
pub fn bring_together<P: Part>(
    tools: &Tools<'_>,
    own: P,
    shelf: &Shelf<Arc<P>>,
    exchange: &mut dyn Exchange,
) -> Result<Group<P>, Error> {
    let me = exchange.worker();
    let told = share(exchange, vec![own.bytes(), tools.memory.left().min(tools.together)])?;
    let column = |at: usize| told.iter().map(|words| words[at]).collect::<Vec<u64>>();
    let solvers = Solvers::new(&column(0), &column(1));
    let workers = solvers.group(me);
    let (bytes, room) = (told[me][0], told[me][1]);
    debug!(
        worker = me,
        solver = solvers.of(me),
        solvers = solvers.firsts.len(),
        bytes,
        room,
        "solver chosen"
    );
    if solvers.firsts.len() == exchange.workers() {
        return Ok(Group::new(solvers, workers, vec![Arc::new(own)]));
    }
    tools.memory.check(workers.clone().map(|worker| told[worker][0]).sum())?;
    // Threads of a process read each other's parts from the shelf.
    let team = tools.shared.team(me);
    let mut outgoing = vec![Batch::new(); exchange.workers()];
    let solver = solvers.of(me);
    if !team.contains(&solver) {
        outgoing[solver].reserve_exact(own.words());
        own.put(&mut outgoing[solver]);
    }
    shelf.put(tools.shared.thread(me), vec![Arc::new(own)]);
    let mut told = exchange.exchange(outgoing)?;
    let near = shelf.take();
    let part = |worker: usize| match team.contains(&worker) {
        true => near[worker - team.start].clone(),
        // Taking one batch at a time keeps only one part in memory twice.
        false => Arc::new(wire::one::<P>(&std::mem::take(&mut told[worker]))),
    };
    let parts = workers.clone().map(part).collect();
    Ok(Group::new(solvers, workers, parts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_solve_for_all_within_what_each_has_room_for() {
        let solvers = Solvers::new(&[5, 5, 5, 5], &[100; 4]);
        assert_eq!((solvers.firsts.as_slice(), solvers.group(0), solvers.group(1)), (&[0][..], 0..4, 1..1));
        let solvers = Solvers::new(&[9, 5, 5, 5], &[10, 10, 0, 5]);
        assert_eq!(solvers.firsts, [0, 3]);
        assert_eq!([0, 1, 2, 3].map(|worker| solvers.of(worker)), [0, 0, 0, 3]);
        let solvers = Solvers::new(&[5, 5, 5], &[0, 4, 4]);
        assert_eq!([0, 1, 2].map(|worker| solvers.group(worker)), [0..1, 1..2, 2..3]);
    }
}
