//! Wait for Progress: a call of a lock epoch waits until its target is in MPI again.

use model::Ticks;

use crate::explanation::{Explanation, Picture};
use crate::matched::{OneSidedCall, OneSidedWait};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern, Statistics, Within};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_rma_sync_passive",
        "mpi_rma_sync_wait_for_progress",
        "Wait for Progress",
        "Time in calls that lock, flush and unlock a window until the target was in MPI again.",
    )
    .not_work()
    .beyond_reference(),
    instances: None,
    title: "Wait for Progress of Targets",
    is_waiting: true,
    statistics: Some(Statistics::at(25, Within::OneSided)),
    explanation: Explanation {
        picture: Some(Picture(
            "\
origin     ==[ lock ]==[ get ]==[ flush ~~~~~~~~~~]==
target     ============= computes ============[ send ]=
",
        )),
        meaning: "Time in `MPI_Win_lock`, `MPI_Win_flush` or `MPI_Win_unlock` from when no lock held it up until the \
         target, which was outside of MPI, called MPI again. Many libraries handle locks and accesses that the \
         hardware cannot in calls of the target only. It counts only if the call lasted until then.",
        large_when: Some("a rank whose memory is accessed computes for long without calling MPI."),
        what_to_do: "Call MPI in the work of the target, for example `MPI_Iprobe` or `MPI_Test`; let the library use a thread \
         for progress, if it can; use operations and memory that the hardware handles (`MPI_Win_allocate`).",
    },
    detect: Detect::OneSided(target_progress),
};

fn target_progress(call: &OneSidedCall) -> Ticks {
    match (call.wait, call.is_access) {
        (OneSidedWait::Progress, false) => call.waiting(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matched::tests::one_sided;

    #[test]
    fn call_waits_for_this_reason_only() {
        let call = one_sided(OneSidedWait::Progress, false);
        assert_eq!(target_progress(&call), 20);
        assert_eq!(target_progress(&OneSidedCall { is_access: true, ..call }), 0);
        assert_eq!(target_progress(&OneSidedCall { wait: OneSidedWait::Release, ..call }), 0);
    }
}
