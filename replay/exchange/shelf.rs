//! Shared lists of the threads of a process, without copying or sending.

use std::mem::take;
use std::sync::{Arc, Mutex};

use super::lock;

/// A shelf that the threads of a process share: each puts items down, then each takes those of all.
///
/// Between putting and taking there has to be an exchange, and another one before items are put down again:
/// so a thread that fails leaves no other one waiting.
#[derive(Debug)]
pub struct Shelf<T> {
    places: Mutex<Places<T>>,
}

#[derive(Debug)]
struct Places<T> {
    /// Items that each thread has put down.
    of_threads: Vec<Vec<T>>,
    /// The items of all threads, from the first taking to the last.
    all: Option<Arc<[T]>>,
    /// Number of threads that have taken them.
    taken: usize,
}

impl<T> Shelf<T> {
    /// An empty shelf for so many threads.
    pub fn new(threads: usize) -> Shelf<T> {
        let of_threads = (0..threads).map(|_| Vec::new()).collect();
        Shelf { places: Mutex::new(Places { of_threads, all: None, taken: 0 }) }
    }

    /// Puts a thread's items down.
    ///
    /// # Panics
    /// If there is no such thread.
    pub fn put(&self, thread: usize, things: Vec<T>) {
        lock(&self.places).of_threads[thread] = things;
    }

    /// Takes the items of all threads, in the order of threads.
    pub fn take(&self) -> Arc<[T]> {
        let mut places = lock(&self.places);
        let all = places.all.take();
        let all = all.unwrap_or_else(|| places.of_threads.iter_mut().flat_map(take).collect());
        places.taken = (places.taken + 1) % places.of_threads.len();
        if places.taken > 0 {
            places.all = Some(all.clone());
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thread_takes_the_things_of_all_and_nothing_stays() {
        let shelf = Shelf::new(2);
        for round in 0..3 {
            shelf.put(1, vec![round + 1]);
            shelf.put(0, vec![round, 7]);
            let taken = [shelf.take(), shelf.take()];
            assert_eq!(*taken[0], [round, 7, round + 1]);
            assert!(Arc::ptr_eq(&taken[0], &taken[1]));
            assert_eq!(Arc::strong_count(&taken[0]), 2);
        }
    }
}
