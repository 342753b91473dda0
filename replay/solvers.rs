//! Which worker goes from location to location for which others.
//!
//! What goes from location to location goes in steps, and each step from one worker to another costs a message. What such a way
//! needs to know of a worker's locations, its *part*, is a small part of all that it knows. So as few workers as sizes and memory
//! allow bring the parts together, go all the way without messages, and give back in bulk what came out. Nobody has to know how
//! long the chains are. If not all fit at one worker, each goes for a few consecutive ones, and tells the others (see
//! [`relay`]).

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

/// Bytes of the parts of others that one worker brings together, at most: those of two to three million wait states, which it goes through
/// in half a second. With more of them, more workers are worth their messages.
pub const TOGETHER: u64 = 256 << 20;

/// Bytes that are kept of a location on its way, at most.
const WAY: u64 = 192;

/// What goes from location to location has to know of a worker's locations.
pub trait Part: Wire {
    /// The first location; the others follow without gap.
    fn first(&self) -> u32;

    /// How many locations it is of.
    fn lines(&self) -> usize;

    /// Words in a batch.
    fn words(&self) -> usize;

    /// Bytes that whoever solves for it takes, about: the part, what is kept of its locations on the way, and half as much as the
    /// part for what is kept of everything else in it.
    fn bytes(&self) -> u64 {
        (self.words() * size_of::<u64>()) as u64 * 3 / 2 + self.lines() as u64 * WAY
    }
}

/// For each worker, the one that solves for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Solvers {
    /// The first workers of all groups: each solves for its group.
    firsts: Vec<usize>,
    workers: usize,
}

impl Solvers {
    /// As few as can be: `sizes` are the bytes of all workers' parts, `rooms` those that each may take more.
    fn new(sizes: &[u64], rooms: &[u64]) -> Solvers {
        let mut firsts = vec![0];
        // What the first of the group can still take.
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

    /// The worker that solves for this one.
    pub fn of(&self, worker: usize) -> usize {
        self.firsts[self.firsts.partition_point(|&first| first <= worker) - 1]
    }

    /// Those that a worker solves for.
    fn group(&self, worker: usize) -> Range<usize> {
        match self.firsts.binary_search(&worker) {
            Ok(at) => worker..self.firsts.get(at + 1).copied().unwrap_or(self.workers),
            Err(_) => worker..worker,
        }
    }

    /// Runs what goes from location to location.
    pub fn run<R: Recurrence>(&self, work: &mut R, exchange: &mut dyn Exchange) {
        match self.firsts.len() {
            // The others come to the next exchange.
            1 if exchange.worker() > 0 => {}
            1 => relay::run_alone(work),
            _ => relay::run(work, exchange),
        }
    }
}

/// The parts that a worker solves for, and where to find things in them.
#[derive(Debug)]
pub struct Group<P> {
    /// Who solves for whom.
    pub solvers: Solvers,
    /// The workers that this one solves for.
    pub workers: Range<usize>,
    /// Their parts.
    pub parts: Vec<Arc<P>>,
    /// The first location of all; the others follow without gap.
    first: u32,
    /// Where the locations of each part begin among those of all, and the end of all.
    lines: Vec<usize>,
}

impl<P: Part> Group<P> {
    fn new(solvers: Solvers, workers: Range<usize>, parts: Vec<Arc<P>>) -> Group<P> {
        let first = parts.iter().find(|part| part.lines() > 0).map_or(0, |part| part.first());
        let lines = firsts(&parts, P::lines);
        Group { solvers, workers, parts, first, lines }
    }

    /// The number of locations.
    pub fn lines(&self) -> usize {
        self.lines[self.parts.len()]
    }

    /// A location among all that are here.
    pub fn at(&self, location: u32) -> usize {
        (location - self.first) as usize
    }

    /// The location at a number.
    pub fn location(&self, at: usize) -> u32 {
        self.first + to_u32(at)
    }

    /// The part that a location is in, by its number here.
    pub fn part_of(&self, at: usize) -> usize {
        self.lines.partition_point(|&first| first <= at) - 1
    }

    /// The number of a part's first location.
    pub fn first_line(&self, part: usize) -> usize {
        self.lines[part]
    }

    /// The part of a worker, if it is here.
    pub fn has(&self, worker: usize) -> Option<usize> {
        self.workers.contains(&worker).then(|| worker - self.workers.start)
    }

    /// Gives each worker what its solver has for it: a batch for each part here. Answers what this worker's solver has.
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

    /// Gives this worker's words to its solver. Answers there what each worker has given, in the order of parts.
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

/// Where things of each part begin among those of all, and the end of all.
pub fn firsts<P>(parts: &[Arc<P>], count: impl Fn(&P) -> usize) -> Vec<usize> {
    let ends = parts.iter().scan(0, |sum, part| {
        *sum += count(part);
        Some(*sum)
    });
    [0].into_iter().chain(ends).collect()
}

/// Brings the parts of all workers together; `shelf` is one of the process. Behind it nobody may fail before
/// [`run`](Solvers::run) is over, where others wait for words and hear of no failure.
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
    // Threads of a process show each other their parts.
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
        // The words of one at a time are there twice.
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
