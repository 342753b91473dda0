//! OpenMP Lock Contention: a thread waits for a lock of OpenMP that another thread holds.

use model::Ticks;

use crate::explanation::Explanation;
use crate::matched::{Acquisition, LockClass};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern, Statistics, Within};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "omp_lock_api",
        "omp_lock_contention_api",
        "Lock Contention",
        "Time until the thread that held the lock released it.",
    )
    .not_work(),
    instances: None,
    title: "OpenMP Lock Contention",
    is_waiting: true,
    statistics: Some(Statistics::at(12, Within::Lock(LockClass::OpenMp))),
    explanation: Explanation {
        picture: None,
        meaning: "The same for `omp_set_lock`, `omp_set_nest_lock`, `omp_test_lock`. A lock that a thread has \
         taken several times is free with its last release.",
        large_when: Some("several threads need the same lock for long."),
        what_to_do: "Hold the lock for a shorter time, or use several locks, each for a part of the data. \
         `omp_test_lock` lets a thread do something else meanwhile.",
    },
    detect: Detect::Lock(openmp_lock_contention),
};

fn openmp_lock_contention(lock: &Acquisition) -> Ticks {
    match lock.class {
        LockClass::OpenMp => lock.waiting(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matched::tests::acquisition;

    #[test]
    fn thread_waits_at_openmp_locks_only() {
        assert_eq!(openmp_lock_contention(&acquisition(LockClass::OpenMp)), 20);
        assert_eq!(openmp_lock_contention(&acquisition(LockClass::Critical)), 0);
    }
}
