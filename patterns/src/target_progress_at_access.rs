//! Wait for Progress: an access waits until its target is in MPI again.

use model::Ticks;

use crate::explanation::{Explanation, Picture};
use crate::matched::{OneSidedCall, OneSidedWait};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern, Statistics, Within};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_rma_communication",
        "mpi_rma_comm_wait_for_progress",
        "Wait for Progress",
        "Time in one-sided accesses of lock epochs until the target was in MPI again.",
    )
    .not_work()
    .beyond_reference(),
    instances: None,
    title: "Wait for Progress at Access",
    is_waiting: true,
    statistics: Some(Statistics::together(25, Within::OneSided)),
    explanation: Explanation {
        picture: Some(Picture(
            "\
origin     ==[ lock ]==[ accumulate ~~~~~~~~~~~~~~]==
target     ============= computes ============[ send ]=
",
        )),
        meaning: "Time in `MPI_Accumulate`, `MPI_Get` and their relatives in a lock epoch until the target, which was \
         outside of MPI, called MPI again. It counts only if the access lasted until then.",
        large_when: Some("a rank whose memory is accessed computes for long without calling MPI."),
        what_to_do: "Call MPI in the work of the target, for example `MPI_Iprobe` or `MPI_Test`; let the library use a thread \
         for progress, if it can; use operations and memory that the hardware handles (`MPI_Win_allocate`).",
    },
    detect: Detect::OneSided(target_progress_at_access),
};

fn target_progress_at_access(call: &OneSidedCall) -> Ticks {
    match (call.wait, call.is_access) {
        (OneSidedWait::Progress, true) => call.waiting(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matched::tests::one_sided;

    #[test]
    fn call_waits_for_this_reason_only() {
        let call = one_sided(OneSidedWait::Progress, true);
        assert_eq!(target_progress_at_access(&call), 20);
        assert_eq!(target_progress_at_access(&OneSidedCall { is_access: false, ..call }), 0);
        assert_eq!(target_progress_at_access(&OneSidedCall { wait: OneSidedWait::Post, ..call }), 0);
    }
}
