//! Parts in operations as members have told them: in the order of operations, decoded where they are looked at.
//!
//! A part is many times larger than what says to which operation it belongs, so only that is sorted.

use super::collectives::OperationKey;
use crate::error::Error;
use crate::exchange::batch::BatchReader;
use crate::exchange::{Batch, Exchange};
use crate::int::to_u32;
use crate::wire::Wire;

/// Parts in operations, before those who judge them have them.
#[derive(Debug)]
pub(super) struct Telling<T> {
    /// Those that this worker judges itself.
    own: Vec<T>,
    worker: usize,
    /// Others, by worker.
    outgoing: Vec<Batch>,
}

impl<T: Wire + Copy> Telling<T> {
    /// No parts yet, which workers tell each other by this exchange.
    pub(super) fn new(exchange: &dyn Exchange) -> Telling<T> {
        let (worker, workers) = (exchange.worker(), exchange.workers());
        Telling { own: Vec::new(), worker, outgoing: vec![Batch::new(); workers] }
    }

    /// The number of workers.
    pub(super) fn workers(&self) -> usize {
        self.outgoing.len()
    }

    /// Tells the worker that judges it of a part.
    pub(super) fn tell(&mut self, judge: usize, part: T) {
        match judge == self.worker {
            true => self.own.push(part),
            false => part.put(&mut self.outgoing[judge]),
        }
    }

    /// The parts that this worker judges; `key` returns the operation and the process of a part.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn exchange(
        self,
        exchange: &mut dyn Exchange,
        key: impl Fn(&T) -> (OperationKey, u32),
    ) -> Result<Parts<T>, Error> {
        Ok(Parts::new(self.own, exchange.exchange(self.outgoing)?, key))
    }
}

/// Parts in operations.
#[derive(Debug)]
pub(crate) struct Parts<T> {
    own: Vec<T>,
    batches: Vec<Batch>,
    /// By operation and process.
    places: Vec<Place>,
}

/// Where a part is.
#[derive(Clone, Copy, Debug)]
struct Place {
    operation: OperationKey,
    process: u32,
    /// The batch; `None` for one's own.
    batch: Option<u32>,
    /// The first word there, or the position among one's own.
    at: usize,
}

impl<T: Wire + Copy> Parts<T> {
    /// Sorts one's own parts, and those in these batches.
    fn new(own: Vec<T>, batches: Vec<Batch>, key: impl Fn(&T) -> (OperationKey, u32)) -> Parts<T> {
        let mut places = Vec::with_capacity(own.len());
        for (at, part) in own.iter().enumerate() {
            let (operation, process) = key(part);
            places.push(Place { operation, process, batch: None, at });
        }
        for (batch, words) in batches.iter().enumerate() {
            let mut reader = BatchReader::new(words);
            while !reader.is_empty() {
                let at = words.len() - reader.rest().len();
                let (operation, process) = key(&T::get(&mut reader));
                places.push(Place { operation, process, batch: Some(to_u32(batch)), at });
            }
        }
        // The parts of each process come in few rising runs, for which this sort is fast.
        places.sort_by_key(|place| (place.operation, place.process));
        Parts { own, batches, places }
    }

    /// Calls a function with the parts in each operation, by process.
    pub(crate) fn for_each(&self, mut of_operation: impl FnMut(&[T])) {
        let mut parts = Vec::new();
        for places in self.places.chunk_by(|a, b| a.operation == b.operation) {
            parts.clear();
            parts.extend(places.iter().map(|place| match place.batch {
                Some(batch) => T::get(&mut BatchReader::new(&self.batches[batch as usize][place.at..])),
                None => self.own[place.at],
            }));
            of_operation(&parts);
        }
    }
}
