//! Parts in operations as members have told them: in the order of operations, decoded where they are looked at.
//!
//! A part is many times larger than what says to which operation it belongs, so only that is sorted.

use std::marker::PhantomData;

use super::collectives::OperationKey;
use crate::exchange::Batch;
use crate::exchange::batch::BatchReader;
use crate::int::to_u32;
use crate::wire::Wire;

/// Parts in operations.
#[derive(Debug)]
pub(crate) struct Parts<T> {
    batches: Vec<Batch>,
    /// By operation and process.
    places: Vec<Place>,
    of: PhantomData<T>,
}

/// Where a part is.
#[derive(Clone, Copy, Debug)]
struct Place {
    operation: OperationKey,
    process: u32,
    /// The batch, and the first word there.
    batch: u32,
    word: usize,
}

impl<T: Wire> Parts<T> {
    /// Sorts the parts in these batches; `key` returns the operation and the process of a part.
    pub(super) fn new(batches: Vec<Batch>, key: impl Fn(&T) -> (OperationKey, u32)) -> Parts<T> {
        let mut places = Vec::new();
        for (batch, words) in batches.iter().enumerate() {
            let mut reader = BatchReader::new(words);
            while !reader.is_empty() {
                let word = words.len() - reader.rest().len();
                let (operation, process) = key(&T::get(&mut reader));
                places.push(Place { operation, process, batch: to_u32(batch), word });
            }
        }
        // The parts of each process come in few rising runs, for which this sort is fast.
        places.sort_by_key(|place| (place.operation, place.process));
        Parts { batches, places, of: PhantomData }
    }

    /// Calls a function with the parts in each operation, by process.
    pub(crate) fn for_each(&self, mut of_operation: impl FnMut(&[T])) {
        let mut parts = Vec::new();
        for places in self.places.chunk_by(|a, b| a.operation == b.operation) {
            parts.clear();
            parts.extend(places.iter().map(|place| {
                let words = &self.batches[place.batch as usize][place.word..];
                T::get(&mut BatchReader::new(words))
            }));
            of_operation(&parts);
        }
    }
}
