//! Workers on MPI processes. The only file that names MPI.
//!
//! Nothing here blocks inside the MPI library: with more workers than cores, a library that never yields
//! would burn whole scheduler quanta. `waiting.rs` defines how a process waits.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::c_void;
use std::ops::Range;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use launched::Launched;
use mpi::datatype::Equivalence;
use mpi::environment::Universe;
use mpi::ffi;
use mpi::point_to_point::{Message, Status};
use mpi::raw::AsRaw;
use mpi::request::Request;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Source};
use mpi::{Tag, Threading};
use tracing::debug;

use super::batch::{halves, pair};
use super::waiting::{NAP, Patience, Placement, Waiting};
use super::{Batch, Exchange, misfits, tree, words};
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
pub struct Processes {
    world: SimpleCommunicator,
    waiting: Waiting,
    /// Time since it waits for posted words.
    patience: Patience,
    /// Messages that may not have been sent completely.
    sent: VecDeque<Sent>,
    /// Ends MPI when dropped, after everything else.
    _universe: Universe,
}

impl std::fmt::Debug for Processes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "worker {} of {}", self.worker(), self.workers())
    }
}

impl Processes {
    /// Starts MPI if a launcher has started this process; returns `None` otherwise, as that would take a third of a second for
    /// nothing, or if it has started one process in a step of a job.
    ///
    /// # Errors
    /// If the launcher is of another MPI than this program: then each process would seem to be alone, or MPI would abort.
    pub fn start() -> Result<Option<Processes>, Error> {
        let Some(launched) = Launched::of_this_process().filter(|it| !it.is_alone_in_step()) else {
            return Ok(None);
        };
        // That can be asked before MPI is started (MPI 4.1, 9.1.1).
        let library = mpi::environment::library_version().unwrap_or_default();
        if let Some(problem) = misfits::before_start(&launched, &library) {
            return Err(Error::new(problem));
        }
        // Of several threads only the first calls MPI.
        let Some((universe, level)) = mpi::initialize_with_threading(Threading::Funneled) else {
            return Err(Error::new("MPI could not be started: it is running already"));
        };
        if level < Threading::Funneled {
            return Err(Error::new("this MPI does not support processes with threads; use another one"));
        }
        let mut processes = Processes {
            world: universe.world(),
            waiting: Waiting::new(),
            sent: VecDeque::new(),
            patience: Patience::default(),
            _universe: universe,
        };
        if processes.workers() == 1 && launched.processes.is_some_and(|processes| processes > 1) {
            return Err(Error::new(misfits::alone(&launched, &library)));
        }
        abort_on_panic();
        processes.introduce();
        Ok(Some(processes))
    }

    /// Sends the place of this worker to all others.
    fn introduce(&mut self) {
        let place = self.waiting.place().encode();
        let mut places = vec![0; place.len() * self.workers()];
        mpi::request::scope(|scope| {
            let request = self.world.immediate_all_gather_into(scope, &place[..], &mut places[..]);
            complete(vec![request], &self.waiting);
        });
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
        self.sent.push_back(Sent::send(&self.world, worker, tag, words, part));
        self.waiting.ring(worker);
    }

    /// Waits for words from a worker.
    fn receive(&self, worker: usize, tag: Tag) -> Batch {
        let source = self.world.process_at_rank(int(worker));
        let mut patience = Patience::default();
        loop {
            match source.immediate_matched_probe_with_tag(tag) {
                Some((message, status)) => return self.take(message, status),
                None => self.waiting.pause(&mut patience),
            }
        }
    }

    /// Receives a message that has arrived.
    fn take(&self, message: Message, status: Status) -> Batch {
        let mut words = vec![0; number(status.count(u64::equivalent_datatype()))];
        mpi::request::scope(|scope| {
            let request = message.immediate_matched_receive_into(scope, &mut words[..]);
            complete(vec![request], &self.waiting);
        });
        words
    }

    /// First step of every exchange: along the tree of workers all get the number of failed ones, and the
    /// number of messages that each will receive. `sends` are the receivers of this worker's. Returns the
    /// number for this worker.
    fn agree(&mut self, failed: u64, sends: impl Iterator<Item = usize>) -> Result<u32, usize> {
        let (me, workers) = (self.worker(), self.workers());
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
fn abort_on_panic() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        report(panic);
        SimpleCommunicator::world().abort(2);
    }));
}

/// Tests requests until all are complete.
fn complete<'a, D: ?Sized, S: mpi::request::Scope<'a>>(
    mut requests: Vec<Request<'a, D, S>>,
    waiting: &Waiting,
) {
    loop {
        requests = requests.into_iter().filter_map(|request| request.test().err()).collect();
        if requests.is_empty() {
            return;
        }
        waiting.rest();
    }
}

/// A message that MPI is sending.
struct Sent {
    /// MPI reads a part of them until the request is complete; shared words do not change.
    _words: Arc<Batch>,
    request: ffi::MPI_Request,
}

impl Sent {
    #[expect(unsafe_code, reason = "rsmpi's requests cannot own their buffers")]
    fn send(
        world: &SimpleCommunicator,
        worker: usize,
        tag: Tag,
        words: &Arc<Batch>,
        part: Range<usize>,
    ) -> Sent {
        let part = &words[part];
        // SAFETY: a null request is a value, which MPI_Isend replaces.
        let mut request = unsafe { ffi::RSMPI_REQUEST_NULL };
        let (datatype, count) = (u64::equivalent_datatype(), int(part.len()));
        // SAFETY: the buffer has `count` words; it is kept, unchanged, until the request is complete: only
        // `is_sent`, which finds that out, lets `settle` drop it. The communicator is the live world, the
        // worker one of its ranks.
        unsafe {
            ffi::MPI_Isend(
                part.as_ptr().cast::<c_void>(),
                count,
                datatype.as_raw(),
                int(worker),
                tag,
                world.as_raw(),
                &raw mut request,
            );
        }
        Sent { _words: words.clone(), request }
    }

    #[expect(unsafe_code, reason = "rsmpi's requests cannot own their buffers")]
    fn is_sent(&mut self) -> bool {
        let mut is_sent = 0;
        // SAFETY: the request is that of `send`; once complete, MPI makes it null, which may be tested again.
        unsafe { ffi::MPI_Test(&raw mut self.request, &raw mut is_sent, ffi::RSMPI_STATUS_IGNORE) };
        is_sent != 0
    }
}

impl Processes {
    /// Drops messages that were sent completely.
    fn settle(&mut self) {
        while let Some(first) = self.sent.front_mut() {
            if !first.is_sent() {
                return;
            }
            self.sent.pop_front();
        }
    }
}

/// A rank or a number of words as MPI has it.
///
/// # Panics
/// If it is more than MPI can count.
fn int(number: usize) -> i32 {
    i32::try_from(number).expect("MPI counts in 31 bits")
}

/// A rank or a number of words from MPI; 0 for the negative ones of errors.
fn number(int: i32) -> usize {
    usize::try_from(int).unwrap_or(0)
}

impl Drop for Processes {
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

impl Exchange for Processes {
    fn worker(&self) -> usize {
        number(self.world.rank())
    }

    fn workers(&self) -> usize {
        number(self.world.size())
    }

    fn exchange(&mut self, mut outgoing: Vec<Batch>) -> Result<Vec<Batch>, Error> {
        let me = self.worker();
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
            let Some((message, status)) = self.world.any_process().immediate_matched_probe_with_tag(BATCH)
            else {
                self.settle();
                // Large messages make progress only while MPI is called.
                if self.sent.is_empty() {
                    self.waiting.pause(&mut patience);
                } else {
                    self.waiting.rest();
                }
                continue;
            };
            let batch = &mut incoming[number(status.source_rank())];
            let mut words = self.take(message, status);
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
        let look = || self.world.any_process().immediate_matched_probe_with_tag(POSTED);
        let (message, status) = look().or_else(|| {
            if idle.is_zero() {
                return None;
            }
            self.waiting.pause(&mut self.patience);
            look()
        })?;
        self.patience = Patience::default();
        let worker = number(status.source_rank());
        Some((worker, self.take(message, status)))
    }

    fn describe(&self) -> Option<String> {
        Some(self.waiting.describe())
    }

    fn fail(&mut self) -> usize {
        let me = self.worker();
        self.agree(me as u64, std::iter::empty()).err().unwrap_or(me)
    }
}
