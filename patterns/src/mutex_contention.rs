//! Mutex Contention: a thread waits for a mutex of POSIX threads that another thread holds.

use model::Ticks;

use crate::explanation::Explanation;
use crate::matched::{Acquisition, LockClass};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern, Statistics, Within};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "pthread_lock_api",
        "pthread_lock_contention_mutex_lock",
        "Lock Contention",
        "Time until the thread that held the mutex released it.",
    ),
    instances: None,
    title: "Mutex Contention",
    is_waiting: true,
    statistics: Some(Statistics::at(14, Within::Lock(LockClass::Mutex))),
    explanation: Explanation {
        picture: None,
        meaning: "The same for `pthread_mutex_lock` and `pthread_mutex_trylock`.",
        large_when: Some("several threads need the same mutex for long."),
        what_to_do: "Hold the mutex for a shorter time, or use several, each for a part of the data.",
    },
    detect: Detect::Lock(mutex_contention),
};

fn mutex_contention(lock: &Acquisition) -> Ticks {
    match lock.class {
        LockClass::Mutex => lock.waiting(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matched::tests::acquisition;

    #[test]
    fn thread_waits_at_mutexes_only() {
        assert_eq!(mutex_contention(&acquisition(LockClass::Mutex)), 20);
        assert_eq!(mutex_contention(&acquisition(LockClass::Condition)), 0);
    }
}
