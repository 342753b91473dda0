//! Condition Contention: a thread that was waiting on a condition variable has to wait for the mutex, too.
//!
//! A call that waits on a condition variable releases its mutex and acquires it again before it returns
//! (POSIX.1-2017, pthread_cond_wait). The metric is all time until the mutex was free, including the time
//! until the signal.

use model::Ticks;

use crate::explanation::{Explanation, Picture};
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
    explanation: Explanation {
        picture: Some(Picture(
            "\
thread 0   ==[ cond_wait ~~~~~~~~~~~~~~~~~~|= ]==
thread 1   ====[ lock | signal      unlock ]=====
             |<- contention -------------->|
",
        )),
        meaning: "A call that waits on a condition variable gives its mutex away and takes it again before it \
         returns. This is the time from entering the call until the thread that had the mutex next \
         released it: waiting for the signal, and for the mutex after it.",
        large_when: Some(
            "the condition becomes true late, or when the thread that signals keeps the mutex for long.",
        ),
        what_to_do: "Let the thread that signals release the mutex soon. Wake one thread instead of all where one \
         is enough.",
    },
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
