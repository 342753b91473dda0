//! Lock Contention: a lock epoch waits until another rank releases the lock.

use model::Ticks;

use crate::explanation::{Explanation, Picture};
use crate::matched::{OneSidedCall, OneSidedWait};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern, Statistics, Within};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_rma_sync_passive",
        "mpi_rma_sync_lock_competition",
        "Lock Contention",
        "Time in calls that lock, flush and unlock a window while another rank had the lock.",
    )
    .not_work()
    .beyond_reference(),
    instances: None,
    title: "Lock Contention of Windows",
    is_waiting: true,
    statistics: Some(Statistics::at(24, Within::OneSided)),
    explanation: Explanation {
        picture: Some(Picture(
            "\
rank 0     ==[ lock ]==[ put ]== computes ==[ unlock ]==
rank 1     =====[ lock ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~ ]=
",
        )),
        meaning: "Time in `MPI_Win_lock`, `MPI_Win_flush` or `MPI_Win_unlock` until the rank that had the lock before \
         released it, where one of both locks is exclusive. Libraries may ask for a lock in the call that \
         requests it, or not before the first access or the end of the epoch: the time counts in the first call \
         that ended after the other rank began to unlock.",
        large_when: Some("many ranks lock the memory of one, or keep their locks long."),
        what_to_do: "Keep the time between lock and unlock short; lock shared where accesses do not conflict; spread what is \
         accessed over several ranks.",
    },
    detect: Detect::OneSided(lock_competition),
};

fn lock_competition(call: &OneSidedCall) -> Ticks {
    match (call.wait, call.is_access) {
        (OneSidedWait::Release, false) => call.waiting(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matched::tests::one_sided;

    #[test]
    fn call_waits_for_this_reason_only() {
        let call = one_sided(OneSidedWait::Release, false);
        assert_eq!(lock_competition(&call), 20);
        assert_eq!(lock_competition(&OneSidedCall { is_access: true, ..call }), 0);
        assert_eq!(lock_competition(&OneSidedCall { wait: OneSidedWait::Progress, ..call }), 0);
    }
}
