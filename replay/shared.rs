//! What the threads of a process of the analysis look up at each other, instead of telling it.

use std::ops::Range;
use std::sync::Arc;

use crate::causes::Graph;
use crate::clock_correction::Stations;
use crate::exchange::shelf::Shelf;
use crate::matching::Channels;
use crate::operations::Operations;

/// What the threads of a process share.
#[derive(Debug)]
pub struct Shared {
    threads: usize,
    /// Operations, while partners are found.
    pub(crate) operations: Shelf<Arc<Operations>>,
    /// Who has used which channel, while partners are found.
    pub(crate) channels: Shelf<Arc<Channels>>,
    /// What goes backwards through time at the locations of each thread.
    pub(crate) graphs: Shelf<Arc<Graph>>,
    /// What goes forward through time at the locations of each thread, where clocks are corrected.
    pub(crate) stations: Shelf<Arc<Stations>>,
}

impl Shared {
    /// For so many threads.
    pub fn new(threads: usize) -> Shared {
        Shared {
            threads,
            operations: Shelf::new(threads),
            channels: Shelf::new(threads),
            graphs: Shelf::new(threads),
            stations: Shelf::new(threads),
        }
    }

    /// The thread that a worker is.
    pub(crate) fn thread(&self, worker: usize) -> usize {
        worker % self.threads
    }

    /// The workers that are threads of the same process as this one.
    pub(crate) fn team(&self, worker: usize) -> Range<usize> {
        let first = worker - self.thread(worker);
        first..first + self.threads
    }
}
