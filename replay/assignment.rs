//! Assignment of processes to workers: consecutive blocks, balanced by the bytes of their event files.

use std::ops::Range;

/// Cuts `weights.len()` processes into `workers` consecutive blocks of about equal weight. All workers
/// compute the same cut. If there are more workers than processes, some blocks are empty.
pub fn blocks(weights: &[u64], workers: usize) -> Vec<Range<usize>> {
    // Every process costs something even if its files are empty.
    let weight = |at: usize| u128::from(weights[at]) + 1;
    let total: u128 = (0..weights.len()).map(weight).sum();
    let mut blocks = Vec::with_capacity(workers);
    let (mut start, mut done) = (0, 0);
    for worker in 1..=workers {
        let target = total * worker as u128 / workers as u128;
        let mut end = start;
        // A process belongs to the block in which its middle lies.
        while end < weights.len() && done + weight(end) / 2 < target {
            done += weight(end);
            end += 1;
        }
        blocks.push(start..end);
        start = end;
    }
    blocks.last_mut().expect("there is a worker").end = weights.len();
    blocks
}

/// The owner of each process.
#[derive(Clone, Debug)]
pub struct Owners {
    /// First process of each worker, in rising order.
    firsts: Vec<usize>,
}

impl Owners {
    /// Makes the owners of consecutive blocks of processes.
    pub fn new(blocks: &[Range<usize>]) -> Owners {
        Owners { firsts: blocks.iter().map(|block| block.start).collect() }
    }

    /// Returns the first process of a worker.
    pub fn first(&self, worker: usize) -> usize {
        self.firsts[worker]
    }

    /// Returns the processes of a worker, of so many in all.
    pub fn block(&self, worker: usize, processes: usize) -> Range<usize> {
        self.firsts[worker]..self.firsts.get(worker + 1).copied().unwrap_or(processes)
    }

    /// Returns the worker that owns a process.
    pub fn of(&self, process: usize) -> usize {
        // Of several workers with the same first process only the last one owns any.
        self.firsts.partition_point(|&first| first <= process) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_processes_are_shared_evenly() {
        assert_eq!(blocks(&[10; 8], 4), [0..2, 2..4, 4..6, 6..8]);
        assert_eq!(blocks(&[10; 3], 2), [0..1, 1..3]);
    }

    #[test]
    fn heavy_process_stands_alone() {
        assert_eq!(blocks(&[1000, 10, 10, 10], 2), [0..1, 1..4]);
    }

    #[test]
    fn worker_without_processes_owns_none() {
        let owners = Owners::new(&[0..2, 2..2, 2..3]);
        assert_eq!([owners.of(0), owners.of(1), owners.of(2)], [0, 0, 2]);
    }

    #[test]
    fn every_process_has_one_owner_for_any_number_of_workers() {
        for workers in 1..12 {
            for count in 0..9 {
                let weights: Vec<u64> = (0..count).map(|at| (at * at) % 7).collect();
                let blocks = blocks(&weights, workers);
                assert_eq!(blocks.len(), workers);
                assert_eq!(
                    blocks.iter().cloned().flatten().collect::<Vec<_>>(),
                    (0..count as usize).collect::<Vec<_>>()
                );
            }
        }
    }
}
