//! Tree of all workers: data is combined upwards from higher workers to lower ones, and sent down again.
//!
//! It is flat: where processes share processors, each step upwards may take as long as another program is
//! allowed to run, and a worker that receives many messages at once takes less time for each.

use std::ops::Range;

/// Number of children of a worker, at most, in each level that it heads.
const WIDTH: usize = 32;

/// Parent of a worker; `None` for worker 0.
pub(super) fn parent(worker: usize) -> Option<usize> {
    let mut span = WIDTH;
    while worker > 0 && worker.is_multiple_of(span) {
        span *= WIDTH;
    }
    // The last digit that is not zero becomes zero.
    (worker > 0).then(|| worker - worker % span)
}

/// Children of a worker, the nearest first, each as the range of its subtree.
pub(super) fn children(worker: usize, workers: usize) -> Vec<Range<usize>> {
    let mut children = Vec::new();
    let mut span = 1;
    while worker.is_multiple_of(span * WIDTH) && worker + span < workers {
        let next = (1..WIDTH).map(|digit| worker + digit * span).take_while(|&child| child < workers);
        children.extend(next.map(|child| child..(child + span).min(workers)));
        span *= WIDTH;
    }
    children
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_worker_is_behind_one_child_of_each_above_it() {
        for workers in [1, 2, 31, 32, 33, 64, 1000, 1024, 1025, 1100, 40_000] {
            for worker in 0..workers {
                let mut next = worker + 1;
                for behind in children(worker, workers) {
                    assert_eq!((behind.start, parent(behind.start)), (next, Some(worker)));
                    next = behind.end;
                }
                let mut size = 1;
                while worker.is_multiple_of(size * WIDTH) && size < workers {
                    size *= WIDTH;
                }
                assert_eq!(next, (worker + size).min(workers), "{worker} of {workers}");
            }
        }
    }

    #[test]
    fn few_workers_give_to_the_first_one_and_many_in_few_steps() {
        assert!((1..32).all(|worker| parent(worker) == Some(0)));
        assert_eq!([32, 33, 1023, 1024, 1056].map(parent), [0, 32, 992, 0, 1024].map(Some));
        assert_eq!(children(32, 40), [33..34, 34..35, 35..36, 36..37, 37..38, 38..39, 39..40]);
    }
}
