//! Tests of the agreement: processes as threads, with loops of any kind, that come to it whenever they do.

use super::*;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Exchanges between threads, each of which is a process: the numbers of each exchange, by process.
type Hub = Arc<Mutex<Vec<Vec<Numbers>>>>;

struct Member {
    hub: Hub,
    processes: usize,
    next: usize,
}

impl Exchange for Member {
    fn begin(&mut self, mine: Numbers) {
        let mut hub = self.hub.lock().unwrap();
        if hub.len() == self.next {
            hub.push(Vec::new());
        }
        hub[self.next].push(mine);
        self.next += 1;
    }

    fn test(&mut self) -> Option<Numbers> {
        let hub = self.hub.lock().unwrap();
        let all = &hub[self.next - 1];
        let largest = |at: usize| all.iter().map(|numbers| numbers[at]).max().unwrap();
        (all.len() == self.processes).then(|| [0, 1, 2, 3].map(largest))
    }

    fn wait(&mut self) -> Option<Numbers> {
        let begin = Instant::now();
        loop {
            if let Some(numbers) = self.test() {
                return Some(numbers);
            }
            assert!(begin.elapsed() < Duration::from_secs(60), "a process waits for ever");
            std::thread::yield_now();
        }
    }
}

/// A loop of a process: how many iterations it has, and behind which one it is found.
#[derive(Clone, Copy)]
struct Phase {
    iterations: u64,
    found: u64,
    /// Whether all processes meet in each iteration.
    meets: bool,
}

/// What a process has recorded: the loop and the iteration, and the windows that it tells of.
type Told = (Vec<(usize, u64)>, Vec<IterationWindow>);

/// Runs processes with these loops, one behind the other, with pauses that are drawn.
fn run(processes: Vec<Vec<Phase>>, wanted: u64, skip: u64, seed: u64) -> Vec<Told> {
    let hub = Hub::default();
    let barrier = Arc::new(std::sync::Barrier::new(processes.len()));
    let count = processes.len();
    let start = |(rank, phases): (usize, Vec<Phase>)| {
        let (hub, barrier) = (hub.clone(), barrier.clone());
        std::thread::spawn(move || {
            let mut state = seed.wrapping_mul(31).wrapping_add(rank as u64);
            let mut plan = Plan::new(Member { hub, processes: count, next: 0 }, wanted, skip);
            let (mut recorded, mut meetings) = (Vec::new(), 0);
            for (number, phase) in phases.into_iter().enumerate() {
                for iteration in 1..=phase.iterations {
                    if iteration > phase.found {
                        plan.header(iteration, 20, meetings);
                        if plan.is_open() {
                            recorded.push((number, iteration));
                        }
                    }
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    if state >> 62 == 0 {
                        std::thread::yield_now();
                    }
                    if iteration == phase.found && !plan.is_open() {
                        plan.follow(number as u32, iteration);
                    }
                    if state >> 58 & 3 == 0 {
                        plan.poll(10);
                    }
                    if phase.meets {
                        barrier.wait();
                        meetings += 1;
                    }
                }
                plan.poll(PATIENCE + 1 + 20 * PATIENCE_FACTOR);
            }
            plan.end();
            (recorded, plan.windows().to_vec())
        })
    };
    let threads: Vec<_> = processes.into_iter().enumerate().map(start).collect();
    threads.into_iter().map(|thread| thread.join().unwrap()).collect()
}

/// Windows that all processes have agreed on, which must be the same.
#[track_caller]
fn agreed(told: &[Told]) -> Vec<(WindowScope, u64)> {
    let of = |(_, windows): &Told| {
        let settled = windows.iter().filter(|window| {
            assert!(window.scope != WindowScope::Asked, "{windows:?}");
            window.scope != WindowScope::Cancelled
        });
        settled.map(|window| (window.scope, window.first)).collect::<Vec<_>>()
    };
    let scopes = |told| of(told).into_iter().map(|(scope, _)| scope).collect::<Vec<_>>();
    for other in told {
        assert_eq!(scopes(&told[0]), scopes(other));
        let common = |told| of(told).into_iter().filter(|(scope, _)| *scope == WindowScope::Common);
        assert!(common(&told[0]).eq(common(other)), "{told:?}");
    }
    of(&told[0])
}

#[test]
fn processes_that_meet_in_each_iteration_record_the_same_ones_soon() {
    for seed in 0..20 {
        let phase = |found| vec![Phase { iterations: 60, found, meets: true }];
        let told = run([4, 5, 4].map(phase).to_vec(), 10, 0, seed);
        let windows = agreed(&told);
        assert_eq!(windows.len(), 1, "{told:?}");
        // The second one proposes at its second header, and all learn of it at the next one.
        assert!((7..20).contains(&windows[0].1), "{windows:?}");
        for (recorded, windows) in &told {
            let of_last = windows.last().unwrap();
            assert_eq!((of_last.last, of_last.begun), (of_last.first + 9, 60));
            assert!(of_last.is_whole);
            let all: Vec<_> = (of_last.first..=of_last.last).map(|iteration| (0, iteration)).collect();
            assert!(recorded.ends_with(&all), "{recorded:?}");
        }
    }
}

#[test]
fn skipped_iterations_are_not_recorded() {
    let phases = vec![vec![Phase { iterations: 80, found: 3, meets: true }]; 2];
    let told = run(phases, 5, 50, 1);
    assert_eq!(agreed(&told), [(WindowScope::Common, 51)]);
    assert_eq!(told[0].0, (51..56).map(|iteration| (0, iteration)).collect::<Vec<_>>());
}

#[test]
fn nobody_waits_for_a_process_without_a_loop_or_that_ends_early() {
    for seed in 0..20 {
        let phase = |iterations, found| vec![Phase { iterations, found, meets: false }];
        for odd in [phase(0, 0), phase(6, 5), phase(40, 40), phase(500, 490)] {
            let told = run(vec![phase(500, 4), odd, phase(500, 4)], 10, 0, seed);
            agreed(&told);
        }
    }
}

#[test]
fn whatever_processes_do_they_agree_and_end() {
    let mut state = 7_u64;
    let mut draw = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for seed in 0..100 {
        let count = draw(4) + 1;
        let processes = (0..count)
            .map(|_| {
                let phase = |_| {
                    let iterations = draw(400);
                    Phase { iterations, found: draw(iterations.min(60) + 1), meets: false }
                };
                (0..3).map(phase).collect()
            })
            .collect();
        let told = run(processes, 5, 0, seed);
        agreed(&told);
        for (recorded, windows) in told {
            let told: u64 = windows.iter().map(|it| (it.last + 1).saturating_sub(it.first)).sum();
            assert!(recorded.len() as u64 <= told + windows.len() as u64, "{recorded:?} {windows:?}");
        }
    }
}

#[test]
fn a_loop_behind_another_one_gets_a_window_of_its_own() {
    let phases = vec![
        Phase { iterations: 40, found: 4, meets: true },
        Phase { iterations: 60, found: 5, meets: true },
    ];
    let told = run(vec![phases; 3], 5, 0, 3);
    let windows = agreed(&told);
    assert_eq!(windows.len(), 2, "{windows:?}");
    assert!(told.iter().all(|(_, windows)| windows[0].begun == 40 && windows[1].begun == 60));
}
