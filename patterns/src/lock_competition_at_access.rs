//! Lock Contention: an access waits until another rank releases the lock.

use model::Ticks;

use crate::explanation::{Explanation, Picture};
use crate::matched::{OneSidedCall, OneSidedWait};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern, Statistics, Within};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_rma_communication",
        "mpi_rma_comm_lock_competition",
        "Lock Contention",
        "Time in one-sided accesses while another rank had the lock.",
    )
    .not_work()
    .beyond_reference(),
    instances: None,
    title: "Lock Contention at Access",
    is_waiting: true,
    statistics: Some(Statistics::together(24, Within::OneSided)),
    explanation: Explanation {
        picture: Some(Picture(
            "\
rank 0     ==[ lock ]==[ put ]== computes ==[ unlock ]==
rank 1     =====[ lock ]==[ put ~~~~~~~~~~~~~~~~~~~~ ]=
",
        )),
        meaning: "Time in `MPI_Put`, `MPI_Get` and their relatives until the rank that had the lock before released it: \
         the library asked for the lock in the access.",
        large_when: None,
        what_to_do: "Keep the time between lock and unlock short; lock shared where accesses do not conflict; spread what is \
         accessed over several ranks.",
    },
    detect: Detect::OneSided(lock_competition_at_access),
};

fn lock_competition_at_access(call: &OneSidedCall) -> Ticks {
    match (call.wait, call.is_access) {
        (OneSidedWait::Release, true) => call.waiting(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matched::tests::one_sided;

    #[test]
    fn call_waits_for_this_reason_only() {
        let call = one_sided(OneSidedWait::Release, true);
        assert_eq!(lock_competition_at_access(&call), 20);
        assert_eq!(lock_competition_at_access(&OneSidedCall { is_access: false, ..call }), 0);
        assert_eq!(lock_competition_at_access(&OneSidedCall { wait: OneSidedWait::Post, ..call }), 0);
    }
}
