//! Condition Contention: a thread that was waiting on a condition variable has to wait for the mutex, too.
//!
//! A call that waits on a condition variable releases its mutex and acquires it again before it returns
//! (POSIX.1-2017, pthread_cond_wait). The metric is all time until the mutex was free, including the time
//! until the signal.

use model::Ticks;

use crate::matched::{Acquisition, LockClass};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern, Statistics, Within};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "pthread_conditional",
        "pthread_lock_contention_conditional",
        "Lock Contention",
        "Time until the thread that held the mutex of the condition released it.",
    ),
    instances: None,
    title: "Condition Contention",
    is_waiting: true,
    statistics: Some(Statistics::at(15, Within::Lock(LockClass::Condition))),
    detect: Detect::Lock(condition_contention),
};

fn condition_contention(lock: &Acquisition) -> Ticks {
    match lock.class {
        LockClass::Condition => lock.waiting(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matched::tests::acquisition;

    #[test]
    fn thread_waits_at_conditions_only() {
        assert_eq!(condition_contention(&acquisition(LockClass::Condition)), 20);
        assert_eq!(condition_contention(&acquisition(LockClass::Mutex)), 0);
    }
}
