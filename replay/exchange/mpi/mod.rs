//! Workers on MPI processes. MPI is named in this folder only.
//!
//! What workers say to each other is here; how a message is sent and received, in the carriers. Nothing here blocks
//! inside the MPI library: with more workers than cores, a library that never yields would burn whole scheduler
//! quanta. `waiting.rs` defines how a process waits.

mod carrier;
#[cfg(feature = "mpi-dlopen")]
mod opened;
#[cfg(feature = "mpi")]
mod rsmpi;
mod tree;
mod waiting;

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use launched::{Launched, Library, misfits};
use tracing::debug;

use carrier::{Carrier, Tag};
use waiting::{NAP, Patience, Placement, Waiting};

use super::batch::{halves, pair};
use super::{Batch, Exchange, words};
use crate::error::Error;
use crate::int::{to_u32, to_usize};

/// Words in one message: MPI counts are `int`, and smaller pieces flow while others are prepared.
const PIECE: usize = (64 << 20) / size_of::<u64>();

/// Code for "no worker has failed".
const NOBODY: u64 = u64::MAX;

/// Message tags: posted words, messages up and down the tree of workers, batches.
const POSTED: Tag = 1;
const UP: Tag = 2;
const DOWN: Tag = 3;
const BATCH: Tag = 4;

/// This process among those that an MPI launcher started.
struct Processes<C: Carrier> {
    library: Library,
    worker: usize,
    workers: usize,
    waiting: Waiting,
    /// Time since it waits for posted words.
    patience: Patience,
    /// Messages that may not have been sent completely.
    sent: VecDeque<C::Sent>,
    /// Ends MPI when dropped, after everything else.
    carrier: C,
}

/// Starts MPI if a launcher has started this process; returns `None` otherwise, as that would take a third of a second
/// for nothing, or if it has started one process in a step of a job. `asked` is the path of the library to use; without
/// it, that is the one that this program is linked with, or else one that is found. `threads` is how many this process will have.
///
/// # Errors
/// If there is no MPI, or the launcher is of another one: then each process would seem to be alone, or MPI would abort.
pub fn start(asked: Option<&Path>, threads: usize) -> Result<Option<Box<dyn Exchange>>, Error> {
    let Some(launched) = Launched::of_this_process().filter(|it| !it.is_alone_in_step()) else {
        return Ok(None);
    };
    #[cfg(feature = "mpi")]
    if asked.is_none() {
        return join(&launched, threads, rsmpi::library(), rsmpi::start).map(Some);
    }
    #[cfg(feature = "mpi-dlopen")]
    {
        let search = mpi_library::Search { launched: &launched, asked, by: "--mpi or REPLAY_MPI" };
        let (mpi, library) = search.open(opened::open).map_err(Error::new)?;
        join(&launched, threads, library, || opened::start(mpi)).map(Some)
    }
    #[cfg(not(feature = "mpi-dlopen"))]
    Err(cannot_open(&rsmpi::library()))
}

/// What is wrong if a library was asked for, and this program opens none.
#[cfg(not(feature = "mpi-dlopen"))]
fn cannot_open(library: &Library) -> Error {
    Error::new(format!(
        "this replay-analyze was built with {library}, and opens no other MPI: leave out --mpi and REPLAY_MPI, or build it with \
         the feature mpi-dlopen"
    ))
}

/// Joins the other processes through a library that `start` starts.
fn join<C: Carrier>(
    launched: &Launched,
    threads: usize,
    library: Library,
    start: impl FnOnce() -> Result<C, Error>,
) -> Result<Box<dyn Exchange>, Error> {
    if let Some(problem) = misfits::before_start(launched, &library) {
        return Err(Error::new(problem));
    }
    let carrier = start()?;
    let (worker, workers) = carrier.rank_and_size();
    if workers == 1 && launched.processes.is_some_and(|processes| processes > 1) {
        return Err(Error::new(misfits::alone(launched, &library)));
    }
    abort_on_panic(carrier.aborter());
    let waiting = Waiting::new(threads);
    let (patience, sent) = (Patience::default(), VecDeque::new());
    let mut processes = Processes { carrier, library, worker, workers, waiting, patience, sent };
    processes.introduce();
    Ok(Box::new(processes))
}

impl<C: Carrier> Processes<C> {
    /// Sends the place of this worker to all others.
    fn introduce(&mut self) {
        let place = self.waiting.place().encode();
        let places = self.carrier.all_gather(&place, || self.waiting.rest());
        let places: Vec<Placement> = places.chunks_exact(Placement::WORDS).map(Placement::decode).collect();
        self.waiting.learn(&places);
    }

    /// Sends words without waiting.
    fn send(&mut self, worker: usize, tag: Tag, words: Batch) {
        let all = 0..words.len();
        self.send_part(worker, tag, &Arc::new(words), all);
    }

    /// Sends a part of the words without waiting.
    fn send_part(&mut self, worker: usize, tag: Tag, words: &Arc<Batch>, part: Range<usize>) {
        self.settle();
        self.sent.push_back(self.carrier.send(worker, tag, words, part));
        self.waiting.ring(worker);
    }

    /// Waits for words from a worker.
    fn receive(&self, worker: usize, tag: Tag) -> Batch {
        let mut patience = Patience::default();
        loop {
            match self.take(Some(worker), tag) {
                Some((_, words)) => return words,
                None => self.waiting.pause(&mut patience),
            }
        }
    }

    /// Receives words that have arrived, with their sender.
    fn take(&self, from: Option<usize>, tag: Tag) -> Option<(usize, Batch)> {
        self.carrier.receive(from, tag, || self.waiting.rest())
    }

    /// First step of every exchange: along the tree of workers all get the number of failed ones, and the
    /// number of messages that each will receive. `sends` are the receivers of this worker's. Returns the
    /// number for this worker.
    fn agree(&mut self, failed: u64, sends: impl Iterator<Item = usize>) -> Result<u32, usize> {
        let (me, workers) = (self.worker, self.workers);
        let mut failed = failed;
        let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
        sends.for_each(|worker| *counts.entry(to_u32(worker)).or_default() += 1);
        for behind in tree::children(me, workers) {
            let words = self.receive(behind.start, UP);
            failed = failed.min(words[0]);
            for (worker, count) in words[1..].iter().map(|&word| halves(word)) {
                *counts.entry(worker).or_default() += count;
            }
        }
        let encode = |failed, counts: &BTreeMap<u32, u32>, range: Range<usize>| {
            let counts = counts.range(to_u32(range.start)..to_u32(range.end));
            [failed].into_iter().chain(counts.map(|(&worker, &count)| pair(worker, count))).collect()
        };
        if let Some(parent) = tree::parent(me) {
            self.send(parent, UP, encode(failed, &counts, 0..workers));
            let words = self.receive(parent, DOWN);
            failed = words[0];
            counts = words[1..].iter().map(|&word| halves(word)).collect();
        }
        // Children with the most workers behind them first.
        for behind in tree::children(me, workers).into_iter().rev() {
            self.send(behind.start, DOWN, encode(failed, &counts, behind));
        }
        match failed {
            NOBODY => Ok(counts.get(&to_u32(me)).copied().unwrap_or(0)),
            failed => Err(to_usize(failed)),
        }
    }
}

/// Aborts the job on a panic: an error of the program must not leave the other processes waiting.
fn abort_on_panic(abort: Box<dyn Fn() + Send + Sync>) {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        report(panic);
        abort();
    }));
}

impl<C: Carrier> Processes<C> {
    /// Drops messages that were sent completely.
    fn settle(&mut self) {
        while let Some(first) = self.sent.front_mut() {
            if !self.carrier.is_sent(first) {
                return;
            }
            self.sent.pop_front();
        }
    }
}

impl<C: Carrier> Drop for Processes<C> {
    /// MPI must not end while it still sends; after an error, the receiver may be gone.
    fn drop(&mut self) {
        for _ in 0..1000 {
            self.settle();
            if self.sent.is_empty() {
                return;
            }
            sleep(NAP);
        }
        std::mem::forget(std::mem::take(&mut self.sent));
    }
}

impl<C: Carrier> Exchange for Processes<C> {
    fn worker(&self) -> usize {
        self.worker
    }

    fn workers(&self) -> usize {
        self.workers
    }

    fn exchange(&mut self, mut outgoing: Vec<Batch>) -> Result<Vec<Batch>, Error> {
        let me = self.worker;
        let own = std::mem::take(&mut outgoing[me]);
        debug!(process = me, words = words(&outgoing), "batches for other processes");
        let pieces = |batch: &Batch| batch.len().div_ceil(PIECE);
        let sends = outgoing.iter().enumerate().flat_map(|(to, batch)| (0..pieces(batch)).map(move |_| to));
        let mut expected = self.agree(NOBODY, sends).map_err(Error::worker_failed)?;
        // From here on all have entered this exchange: a worker that receives a batch has left the previous
        // one.
        let workers = outgoing.len();
        for (to, batch) in outgoing.into_iter().enumerate() {
            let batch = Arc::new(batch);
            for first in (0..batch.len()).step_by(PIECE) {
                let end = batch.len().min(first + PIECE);
                self.send_part(to, BATCH, &batch, first..end);
            }
        }
        let mut incoming = vec![Batch::new(); workers];
        let mut patience = Patience::default();
        while expected > 0 {
            let Some((from, mut words)) = self.take(None, BATCH) else {
                self.settle();
                // Large messages make progress only while MPI is called.
                if self.sent.is_empty() {
                    self.waiting.pause(&mut patience);
                } else {
                    self.waiting.rest();
                }
                continue;
            };
            let batch = &mut incoming[from];
            match batch.is_empty() {
                true => *batch = words,
                false => batch.append(&mut words),
            }
            expected -= 1;
            patience = Patience::default();
        }
        self.settle();
        while !self.sent.is_empty() {
            self.waiting.rest();
            self.settle();
        }
        incoming[me] = own;
        Ok(incoming)
    }

    fn post(&mut self, worker: usize, words: Batch) {
        self.send(worker, POSTED, words);
    }

    fn poll(&mut self, idle: Duration) -> Option<(usize, Batch)> {
        self.settle();
        if idle.is_zero() {
            self.patience = Patience::default();
        }
        let words = self.take(None, POSTED).or_else(|| {
            if idle.is_zero() {
                return None;
            }
            self.waiting.pause(&mut self.patience);
            self.take(None, POSTED)
        })?;
        self.patience = Patience::default();
        Some(words)
    }

    fn describe(&self) -> Option<String> {
        Some(format!("MPI: {}\n{}", self.library, self.waiting.describe()))
    }

    fn fail(&mut self) -> usize {
        let me = self.worker;
        self.agree(me as u64, std::iter::empty()).err().unwrap_or(me)
    }
}
