//! Mutex Contention: a thread waits for a mutex of POSIX threads that another thread holds.

use model::Ticks;

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
