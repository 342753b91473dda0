//! Critical Contention: a thread waits to enter a critical section of OpenMP while another one is in it.

use model::Ticks;

use crate::explanation::{Explanation, Picture};
use crate::matched::{Acquisition, LockClass};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern, Statistics, Within};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "omp_critical",
        "omp_lock_contention_critical",
        "Lock Contention",
        "Time until the thread that was in the critical section left it.",
    )
    .not_work(),
    instances: None,
    title: "OpenMP Critical Contention",
    is_waiting: true,
    statistics: Some(Statistics::at(13, Within::Lock(LockClass::Critical))),
    explanation: Explanation {
        picture: Some(Picture(
            "\
thread 0   ==[ critical: works in it ]=======
thread 1   =====[ critical ~~~~~~~~~~|= works ]=
                |<- contention ----->|
",
        )),
        meaning: "Time from asking for a critical section until the thread that was in it left. The trace \
         numbers who got in when: each waits for the one before it, which may have waited itself.",
        large_when: Some("much is done in critical sections, or little very often."),
        what_to_do: "Do less in the critical section, or enter it less often: collect results in each thread \
         first, use a reduction or an `atomic`. Give sections that protect different data different \
         names.",
    },
    detect: Detect::Lock(critical_contention),
};

fn critical_contention(lock: &Acquisition) -> Ticks {
    match lock.class {
        LockClass::Critical => lock.waiting(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matched::tests::acquisition;

    #[test]
    fn thread_waits_at_critical_sections_only() {
        assert_eq!(critical_contention(&acquisition(LockClass::Critical)), 20);
        assert_eq!(critical_contention(&acquisition(LockClass::OpenMp)), 0);
    }
}
