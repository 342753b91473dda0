//! A master that hands out tasks to so many workers, task by task (what-if 6.3).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use model::Ticks;

/// A task, or a chunk of several, in ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Task {
    /// From the master to the worker.
    pub there: Ticks,
    /// What the worker takes for it.
    pub work: Ticks,
    /// From the worker to the master.
    pub back: Ticks,
}

/// Ticks until the master has all results. It serves each worker once, then whoever's result comes first, of equals the lowest; each
/// service takes it so long.
pub(super) fn farm(tasks: impl IntoIterator<Item = Task>, service: Ticks, workers: u32) -> Ticks {
    let mut tasks = tasks.into_iter();
    let mut results = BinaryHeap::new();
    let mut clock = 0;
    let mut serve = |clock: &mut Ticks, worker: u32, results: &mut BinaryHeap<_>| {
        if let Some(Task { there, work, back }) = tasks.next() {
            *clock += service;
            results.push(Reverse((*clock + there + work + back, worker)));
        }
    };
    for worker in 0..workers {
        serve(&mut clock, worker, &mut results);
    }
    while let Some(Reverse((time, worker))) = results.pop() {
        clock = clock.max(time);
        serve(&mut clock, worker, &mut results);
    }
    clock
}

/// The number of workers with the smallest product of time and time over efficiency, x T(x)² (what-if 6.3); of equals the first.
pub(super) fn best(times: &[(u32, Ticks)]) -> Option<(u32, Ticks)> {
    let index = |&(workers, ticks): &(u32, Ticks)| {
        let ticks = u128::from(ticks.max(0).unsigned_abs());
        u128::from(workers).saturating_mul(ticks.saturating_mul(ticks))
    };
    times.iter().copied().min_by_key(index)
}

/// Numbers of workers that are tried are all up to this one.
const EACH: u32 = 64;

/// Numbers of workers that are tried: up to four times as many, and 32 at least; from 64 on in steps of a sixteenth.
pub(super) fn numbers(workers: u32) -> Vec<u32> {
    let most = workers.saturating_mul(4).max(32);
    let mut numbers: Vec<u32> = (1..=most.min(EACH)).collect();
    let mut next = EACH + EACH / 16;
    while next < most {
        numbers.push(next);
        next += next / 16;
    }
    numbers.extend([workers, most]);
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn equal(count: usize, work: Ticks) -> Vec<Task> {
        vec![Task { there: 1, work, back: 2 }; count]
    }

    #[test]
    fn one_worker_does_one_task_after_the_other() {
        assert_eq!(farm(equal(5, 100), 10, 1), 5 * (10 + 1 + 100 + 2));
        assert_eq!(farm([], 10, 3), 0);
    }

    #[test]
    fn equal_tasks_come_back_in_rounds_until_service_limits() {
        // Each worker is served 10 after the one before; a round takes what a task does, 113, if that is more than all services.
        assert_eq!(farm(equal(12, 100), 10, 4), 2 * (10 + 103) + 4 * 10 + 103);
        // With twelve, each is served once; with more nobody is left to serve.
        assert_eq!(farm(equal(12, 100), 10, 12), 12 * 10 + 103);
        assert_eq!(farm(equal(12, 100), 10, 40), 12 * 10 + 103);
        // Services in a row where tasks are short: the last result comes behind the last of them.
        assert_eq!(farm(equal(50, 5), 10, 8), 50 * 10 + 8);
    }

    #[test]
    fn next_task_goes_to_whose_result_comes_first() {
        let works = [50, 10, 10, 10, 10];
        let tasks = works.map(|work| Task { there: 0, work, back: 0 });
        // The second worker does four of the five tasks, until 45; the first one has its only result at 51.
        assert_eq!(farm(tasks, 1, 2), 51);
        assert_eq!(farm(tasks[1..].iter().copied(), 1, 1), 44);
    }

    #[test]
    fn best_number_weighs_time_and_efficiency() {
        assert_eq!(best(&[(1, 100), (2, 50), (4, 25), (8, 24)]), Some((4, 25)));
        // Half the time for four times as many is as good: the first of them.
        assert_eq!(best(&[(1, 4), (4, 2)]), Some((1, 4)));
        assert_eq!(best(&[]), None);
    }

    #[test]
    fn numbers_are_all_up_to_four_times_as_many_unless_these_are_many() {
        assert_eq!(numbers(3), (1..=32).collect::<Vec<_>>());
        assert_eq!(numbers(15), (1..=60).collect::<Vec<_>>());
        let many = numbers(100_000);
        assert!(many.len() < 300 && many.contains(&100_000) && many.last() == Some(&400_000));
        assert!(many.windows(2).all(|two| two[0] < two[1]));
    }
}
