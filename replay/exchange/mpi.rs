//! Workers on MPI processes. The only file that names MPI.
//!
//! Nothing here blocks inside the MPI library: with more workers than cores, a library that never yields would burn whole
//! scheduler quanta. We test and yield a few times, then sleep for a moment between tests.

use std::collections::VecDeque;
use std::env;
use std::ffi::c_void;
use std::time::Duration;

use mpi::datatype::Equivalence;
use mpi::environment::Universe;
use mpi::ffi;
use mpi::raw::AsRaw;
use mpi::request::Request;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Destination, Source};
use mpi::{Tag, Threading};

use super::{AWAKE, Batch, Exchange, LONGEST_NAP};
use crate::error::Error;

/// Words in one message: MPI counts are `int`, and smaller pieces flow while others are prepared.
const PIECE: usize = (64 << 20) / size_of::<u64>();

/// Stands for the length of a batch from a worker that has failed.
const FAILED: u64 = u64::MAX;

/// Tests without success before a worker sleeps between tests. Testing costs others their time where workers share
/// cores, and yielding costs us ours where other programs run: who has slept is woken at once.
const PATIENCE: u32 = 20;

/// How long a worker sleeps between tests. Large messages only move while both sides test, so it never sleeps for long.
const NAP: Duration = Duration::from_micros(20);

/// Tells posted words from batches that are exchanged.
const POSTED: Tag = 1;

/// The number of processes that a launcher says it started; `None` if no launcher started us. Starting MPI without
/// launcher would cost a third of a second, for nothing.
fn launched() -> Option<usize> {
    let size = |name| env::var(name).ok().and_then(|value| value.parse().ok());
    size("OMPI_COMM_WORLD_SIZE")
        .or_else(|| size("PMI_SIZE"))
        .or_else(|| size("SLURM_STEP_NUM_TASKS").filter(|_| env::var_os("SLURM_STEP_ID").is_some()))
        .or_else(|| env::var_os("PMIX_RANK").map(|_| 1))
}

/// This process among those that an MPI launcher started.
pub struct Processes {
    world: SimpleCommunicator,
    /// What was posted and may not have left yet.
    posted: VecDeque<Posted>,
    /// Ends MPI when dropped, after everything else.
    _universe: Universe,
}

impl std::fmt::Debug for Processes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "worker {} of {}", self.worker(), self.workers())
    }
}

impl Processes {
    /// Starts MPI if a launcher has started this process, and answers `None` otherwise.
    ///
    /// # Errors
    /// If the launcher is of another MPI than this program: then each process would believe to be alone.
    pub fn start() -> Result<Option<Processes>, Error> {
        let Some(launched) = launched() else { return Ok(None) };
        // Of several threads only the first calls MPI.
        let Some((universe, level)) = mpi::initialize_with_threading(Threading::Funneled) else {
            return Err(Error::new("MPI could not be started: it is running already"));
        };
        if level < Threading::Funneled {
            return Err(Error::new("this MPI does not support processes with threads; use another one"));
        }
        let processes = Processes { world: universe.world(), posted: VecDeque::new(), _universe: universe };
        if processes.workers() == 1 && launched > 1 {
            return Err(Error::new(format!(
                "the launcher started {launched} processes, but each is alone: it belongs to another MPI than the one \
                 that replay-analyze was built with; use that MPI's mpirun, or build again with MPICC set to this one's \
                 compiler"
            )));
        }
        abort_on_panic();
        Ok(Some(processes))
    }

    /// Tells all others how many words they will get, and learns what they send. `FAILED` says that there is nothing
    /// to come.
    fn lengths(&self, outgoing: &[u64]) -> Vec<u64> {
        let mut incoming = vec![0; outgoing.len()];
        mpi::request::scope(|scope| {
            let request = self.world.immediate_all_to_all_into(scope, outgoing, &mut incoming[..]);
            wait(vec![request]);
        });
        incoming
    }
}

/// The lowest worker that says that it has failed.
fn first_failed(lengths: &[u64]) -> Option<usize> {
    lengths.iter().position(|&length| length == FAILED)
}

/// An error of the program must not leave the other processes waiting.
fn abort_on_panic() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        report(panic);
        SimpleCommunicator::world().abort(2);
    }));
}

/// Tests requests until all are complete.
fn wait<'a, D: ?Sized, S: mpi::request::Scope<'a>>(mut requests: Vec<Request<'a, D, S>>) {
    let mut idle = 0;
    while !requests.is_empty() {
        let before = requests.len();
        requests = requests.into_iter().filter_map(|request| request.test().err()).collect();
        if requests.len() < before {
            idle = 0;
            continue;
        }
        idle += 1;
        if idle < PATIENCE {
            std::thread::yield_now();
        } else {
            std::thread::sleep(NAP);
        }
    }
}

/// How long to sleep before the next look, after nothing has come for so long; `None` as long as an answer may come any
/// moment. Always a small part of the time so far: two workers that wait for each other in turn must not learn from each
/// other to sleep.
fn nap(idle: Duration) -> Option<Duration> {
    (idle >= AWAKE).then(|| (idle / 4).min(LONGEST_NAP))
}

/// Words that MPI is sending.
struct Posted {
    /// MPI reads them until the request is complete; a vector's elements stay where they are when it is moved.
    _words: Batch,
    request: ffi::MPI_Request,
}

impl Posted {
    #[expect(unsafe_code, reason = "rsmpi's requests cannot own their buffers")]
    fn send(world: &SimpleCommunicator, worker: usize, words: Batch) -> Posted {
        // SAFETY: a null request is a value, which MPI_Isend replaces.
        let mut request = unsafe { ffi::RSMPI_REQUEST_NULL };
        let (datatype, count) = (u64::equivalent_datatype(), words.len() as i32);
        // SAFETY: the buffer has `count` words; it is kept, unchanged, until the request is complete: only `is_sent`, which
        // finds that out, lets `settle` drop it. The communicator is the live world, the worker one of its ranks.
        unsafe {
            ffi::MPI_Isend(
                words.as_ptr().cast::<c_void>(),
                count,
                datatype.as_raw(),
                worker as i32,
                POSTED,
                world.as_raw(),
                &raw mut request,
            );
        }
        Posted { _words: words, request }
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
    /// Drops what has left.
    fn settle(&mut self) {
        while let Some(first) = self.posted.front_mut() {
            if !first.is_sent() {
                return;
            }
            self.posted.pop_front();
        }
    }
}

impl Drop for Processes {
    /// MPI must not end while it still sends; after an error, nobody may be there to receive.
    fn drop(&mut self) {
        for _ in 0..1000 {
            self.settle();
            if self.posted.is_empty() {
                return;
            }
            std::thread::sleep(NAP);
        }
        std::mem::forget(std::mem::take(&mut self.posted));
    }
}

impl Exchange for Processes {
    fn worker(&self) -> usize {
        self.world.rank() as usize
    }

    fn workers(&self) -> usize {
        self.world.size() as usize
    }

    fn exchange(&mut self, mut outgoing: Vec<Batch>) -> Result<Vec<Batch>, Error> {
        let me = self.worker();
        let lengths: Vec<u64> = outgoing.iter().map(|batch| batch.len() as u64).collect();
        let lengths = self.lengths(&lengths);
        if let Some(failed) = first_failed(&lengths) {
            return Err(Error::worker_failed(failed));
        }
        let own = std::mem::take(&mut outgoing[me]);
        let length = |worker: usize| if worker == me { 0 } else { lengths[worker] as usize };
        let mut incoming: Vec<Batch> = (0..lengths.len()).map(|worker| vec![0; length(worker)]).collect();
        mpi::request::scope(|scope| {
            let mut requests = Vec::new();
            for (worker, batch) in incoming.iter_mut().enumerate() {
                let other = self.world.process_at_rank(worker as i32);
                requests
                    .extend(batch.chunks_mut(PIECE).map(|piece| other.immediate_receive_into(scope, piece)));
            }
            let mut sends = Vec::new();
            for (worker, batch) in outgoing.iter().enumerate() {
                let other = self.world.process_at_rank(worker as i32);
                sends.extend(batch.chunks(PIECE).map(|piece| other.immediate_send(scope, piece)));
            }
            wait(requests);
            wait(sends);
        });
        incoming[me] = own;
        Ok(incoming)
    }

    fn post(&mut self, worker: usize, words: Batch) {
        self.settle();
        self.posted.push_back(Posted::send(&self.world, worker, words));
    }

    fn poll(&mut self, idle: Duration) -> Option<(usize, Batch)> {
        self.settle();
        match nap(idle) {
            Some(nap) => std::thread::sleep(nap),
            None if !idle.is_zero() => std::thread::yield_now(),
            None => {}
        }
        let (message, status) = self.world.any_process().immediate_matched_probe_with_tag(POSTED)?;
        let mut words = vec![0; status.count(u64::equivalent_datatype()) as usize];
        let status = message.matched_receive_into(&mut words[..]);
        Some((status.source_rank() as usize, words))
    }

    fn fail(&mut self) -> usize {
        let lengths = self.lengths(&vec![FAILED; self.workers()]);
        first_failed(&lengths).unwrap_or(self.worker())
    }
}
