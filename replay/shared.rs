//! Data that the threads of a process of the analysis read from each other, instead of exchanging it.

use std::ops::Range;
use std::sync::Arc;

use crate::causes::Graph;
use crate::clock_correction::Stations;
use crate::exchange::shelf::Shelf;
use crate::matching::Channels;
use crate::operations::Operations;

/// The data that the threads of a process share.
#[derive(Debug)]
pub struct Shared {
    threads: usize,
    /// Operations, during matching.
    pub(crate) operations: Shelf<Arc<Operations>>,
    /// The processes that have used each channel, during matching.
    pub(crate) channels: Shelf<Arc<Channels>>,
    /// The graph of each thread: the dependencies of its locations backwards through time.
    pub(crate) graphs: Shelf<Arc<Graph>>,
    /// The stations of each thread: the dependencies of its locations forward through time, if clocks are
    /// corrected.
    pub(crate) stations: Shelf<Arc<Stations>>,
}

impl Shared {
    /// Makes empty shelves for this number of threads.
    pub fn new(threads: usize) -> Shared {
        Shared {
            threads,
            operations: Shelf::new(threads),
            channels: Shelf::new(threads),
            graphs: Shelf::new(threads),
            stations: Shelf::new(threads),
        }
    }

    /// Returns the thread of a worker.
    pub(crate) fn thread(&self, worker: usize) -> usize {
        worker % self.threads
    }

    /// Returns the workers that are threads of the same process as this one.
    pub(crate) fn team(&self, worker: usize) -> Range<usize> {
        let first = worker - self.thread(worker);
        first..first + self.threads
    }
}
