//! What the threads of a process of the analysis look up at each other: operations, and who has used which channel.

use std::ops::Range;
use std::sync::Arc;

use super::channels::Channels;
use crate::exchange::shelf::Shelf;
use crate::operations::Operations;

/// What the threads of a process share while partners of operations are found.
#[derive(Debug)]
pub struct Shared {
    threads: usize,
    pub(super) operations: Shelf<Arc<Operations>>,
    pub(super) channels: Shelf<Arc<Channels>>,
}

impl Shared {
    /// For so many threads.
    pub fn new(threads: usize) -> Shared {
        Shared { threads, operations: Shelf::new(threads), channels: Shelf::new(threads) }
    }

    /// The thread that a worker is.
    pub(super) fn thread(&self, worker: usize) -> usize {
        worker % self.threads
    }

    /// The workers that are threads of the same process as this one.
    pub(super) fn team(&self, worker: usize) -> Range<usize> {
        let first = worker - self.thread(worker);
        first..first + self.threads
    }
}
