//! Workers on MPI processes. The only file that names MPI.
//!
//! Nothing here blocks inside the MPI library: with more workers than cores, a library that never yields would burn whole
//! scheduler quanta. We test and yield a few times, then sleep for a moment between tests.

use std::env;
use std::time::Duration;

use mpi::Threading;
use mpi::environment::Universe;
use mpi::request::Request;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Destination, Source};

use super::{Batch, Exchange};
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
        let processes = Processes { world: universe.world(), _universe: universe };
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

    fn fail(&mut self) -> usize {
        let lengths = self.lengths(&vec![FAILED; self.workers()]);
        first_failed(&lengths).unwrap_or(self.worker())
    }
}
