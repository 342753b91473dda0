//! Exchange of batches between workers, independent of traces and of the contents of batches.
//!
//! A *worker* is one of the processes or threads of the analysis; the word *rank* is kept for the traced
//! program. Every worker calls [`Exchange::exchange`] equally often: the pipeline is the same for all, and a
//! worker that fails reports it in the next exchange, which ends the job for all instead of leaving the
//! others waiting.

pub mod batch;
#[cfg(any(feature = "mpi", feature = "mpi-dlopen"))]
pub mod mpi;
pub mod shelf;
mod solo;
pub mod threads;

pub use batch::Batch;
pub use solo::Solo;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::error::Error;

/// Locks data that threads share. A panic ends the process, so a poisoned lock is never met.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many words all batches have, for diagnostics.
fn words(batches: &[Batch]) -> usize {
    batches.iter().map(Vec::len).sum()
}

/// A transport of batches between workers.
pub trait Exchange {
    /// The number of this worker, from 0.
    fn worker(&self) -> usize;

    /// The number of workers.
    fn workers(&self) -> usize;

    /// Sends `outgoing[w]` to worker *w*, and returns the batches for this one, in the order of workers.
    /// Every worker must call it, with one batch for each worker, itself included; empty batches cost next to
    /// nothing.
    ///
    /// # Errors
    /// If a worker has failed, or the transport has.
    fn exchange(&mut self, outgoing: Vec<Batch>) -> Result<Vec<Batch>, Error>;

    /// Sends words to another worker without waiting for it. Posted words arrive in order at each worker,
    /// between two calls of [`exchange`](Exchange::exchange).
    fn post(&mut self, worker: usize, words: Batch);

    /// Receives words that another worker has posted, if any. `idle` is the time since the last ones: the
    /// longer it is, the longer this may sleep before it polls. With 0 it only polls.
    fn poll(&mut self, idle: Duration) -> Option<(usize, Batch)>;

    /// Description of how this worker waits for others; `None` if there is nothing to say.
    fn describe(&self) -> Option<String> {
        None
    }

    /// Reports to the other workers that this one has failed: their current or next exchange ends with an
    /// error. No further exchange is allowed. Returns the first worker that failed in this exchange, so that
    /// one message is printed where all fail alike.
    fn fail(&mut self) -> usize;
}

/// Sends `words` to every worker, and returns the words of each.
///
/// # Errors
/// If a worker has failed.
pub fn share(exchange: &mut dyn Exchange, words: Batch) -> Result<Vec<Batch>, Error> {
    let outgoing = vec![words; exchange.workers()];
    exchange.exchange(outgoing)
}

/// Sends `words` to worker 0, which gets those of all, in the order of workers; the others get empty batches.
///
/// # Errors
/// If a worker has failed.
pub fn gather(exchange: &mut dyn Exchange, words: Batch) -> Result<Vec<Batch>, Error> {
    let mut outgoing = vec![Batch::new(); exchange.workers()];
    outgoing[0] = words;
    exchange.exchange(outgoing)
}

/// Reduces the values of all workers along a binary tree; worker 0 gets the result, the others parts of it.
/// `combine` gets the value of a worker and that of the next higher workers, in this order: an associative
/// operation gives the same result for any number of workers.
///
/// # Errors
/// If a worker has failed.
pub fn reduce<T>(
    exchange: &mut dyn Exchange,
    mut value: T,
    encode: impl Fn(&T) -> Batch,
    mut combine: impl FnMut(&mut T, &[u64]),
) -> Result<T, Error> {
    let (worker, workers) = (exchange.worker(), exchange.workers());
    let mut distance = 1;
    while distance < workers {
        let mut outgoing = vec![Batch::new(); workers];
        if worker % (2 * distance) == distance {
            outgoing[worker - distance] = encode(&value);
        }
        for batch in exchange.exchange(outgoing)? {
            if !batch.is_empty() {
                combine(&mut value, &batch);
            }
        }
        distance *= 2;
    }
    Ok(value)
}

/// Broadcasts the words of worker 0 to all, along a binary tree.
///
/// # Errors
/// If a worker has failed.
pub fn broadcast(exchange: &mut dyn Exchange, mut words: Batch) -> Result<Batch, Error> {
    let (worker, workers) = (exchange.worker(), exchange.workers());
    let mut distance = workers.next_power_of_two();
    while distance > 1 {
        distance /= 2;
        let mut outgoing = vec![Batch::new(); workers];
        if worker % (2 * distance) == 0 && worker + distance < workers {
            outgoing[worker + distance].clone_from(&words);
        }
        if let Some(heard) = exchange.exchange(outgoing)?.into_iter().find(|batch| !batch.is_empty()) {
            words = heard;
        }
    }
    Ok(words)
}
