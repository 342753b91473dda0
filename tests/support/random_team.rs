//! A random team of threads: barriers and locks between fork and join. The threads of a process have one
//! clock.

use model::Paradigm;

use super::random::Random;
use super::trace::{Step, Stream};

/// Number of acquisitions of each kind of lock, and the time of its last release.
#[derive(Default)]
pub(super) struct Locks([(u32, u64); KINDS]);

const KINDS: usize = 4;

/// A thread under construction.
struct TeamThread<'s> {
    stream: &'s mut Stream,
    now: u64,
}

impl TeamThread<'_> {
    /// Adds an event a little later.
    fn then(&mut self, random: &mut Random, step: Step) {
        self.now += random.below(12) as u64;
        self.stream.at(self.now, step);
    }

    fn enter(&mut self, random: &mut Random, region: &str) {
        self.then(random, Step::Enter(region.into()));
    }
}

/// The main thread forks two or three threads at `now`; returns the time of the join.
pub(super) fn team(
    random: &mut Random,
    locks: &mut Locks,
    main: &mut Stream,
    workers: &mut Vec<Stream>,
    now: u64,
    has_mutexes: bool,
) -> u64 {
    let count = 1 + random.below(2);
    for thread in workers.len()..count {
        workers.push(Stream { thread: thread as u32 + 1, ..Stream::new(main.rank) });
    }
    main.at(now, Step::Fork);
    let streams = [main].into_iter().chain(&mut workers[..count]);
    let mut members: Vec<TeamThread<'_>> =
        streams.map(|stream| TeamThread { stream, now: now + 1 }).collect();
    for member in &mut members {
        member.then(random, Step::TeamBegin);
        member.enter(random, "!$omp parallel");
    }
    for _ in 0..random.below(4) {
        match random.below(if has_mutexes { 5 } else { 3 }) {
            0 => barrier(random, &mut members, "!$omp barrier"),
            kind => lock(random, &mut members, &mut locks.0[kind - 1], kind - 1),
        }
    }
    barrier(random, &mut members, "!$omp implicit barrier");
    for member in &mut members {
        member.then(random, Step::Leave);
        member.then(random, Step::TeamEnd);
    }
    let joined = members.iter().map(|member| member.now).max().unwrap_or(now);
    members[0].stream.at(joined, Step::Join);
    joined
}

fn barrier(random: &mut Random, members: &mut [TeamThread<'_>], region: &str) {
    members.iter_mut().for_each(|member| member.enter(random, region));
    let last = members.iter().map(|member| member.now).max().unwrap_or(0);
    for member in members {
        member.now = member.now.max(last);
        member.then(random, Step::Leave);
    }
}

/// Every member acquires a lock once: of a critical section, an OpenMP lock, a mutex, or the mutex of a
/// condition.
fn lock(random: &mut Random, members: &mut [TeamThread<'_>], state: &mut (u32, u64), kind: usize) {
    const CALLS: [&str; KINDS] =
        ["!$omp critical", "omp_set_lock", "pthread_mutex_lock", "pthread_cond_wait"];
    let model = if kind < 2 { Paradigm::OPENMP } else { Paradigm::PTHREAD };
    for member in members {
        member.enter(random, CALLS[kind]);
        state.0 += 1;
        let (lock, order) = (kind as u32, state.0);
        member.now = member.now.max(state.1);
        member.then(random, Step::Acquire { model, lock, order });
        member.then(random, Step::Release { model, lock, order });
        state.1 = member.now;
        member.then(random, Step::Leave);
    }
}
