//! Late Post: an access epoch waits for a target that opens its window late.

use model::Ticks;

use crate::explanation::{Explanation, Picture};
use crate::matched::{OneSidedCall, OneSidedWait};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern, Statistics, Within};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_rma_sync_active",
        "mpi_rma_sync_late_post",
        "Late Post",
        "Time in MPI_Win_start and MPI_Win_complete until the last target had posted its window.",
    )
    .not_work()
    .beyond_reference(),
    instances: None,
    title: "Late Post",
    is_waiting: true,
    statistics: Some(Statistics::at(23, Within::OneSided)),
    explanation: Explanation {
        picture: Some(Picture(
            "\
origin     ==[ start ~~~~~~~~~~~~~]==[ put ]=
target     ===== computes ===[ post ]======
",
        )),
        meaning: "Time in `MPI_Win_start` or `MPI_Win_complete` until the last target of the access epoch called \
         `MPI_Win_post`. Which of the two calls is blocked depends on the library: the time counts in whichever \
         contains the post.",
        large_when: Some("targets have more work before their post than origins before their start."),
        what_to_do: "Post earlier: as soon as the memory of the window may be accessed, before other work.",
    },
    detect: Detect::OneSided(late_post),
};

fn late_post(call: &OneSidedCall) -> Ticks {
    match (call.wait, call.is_access) {
        (OneSidedWait::Post, false) => call.waiting(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matched::tests::one_sided;

    #[test]
    fn call_waits_for_this_reason_only() {
        let call = one_sided(OneSidedWait::Post, false);
        assert_eq!(late_post(&call), 20);
        assert_eq!(late_post(&OneSidedCall { is_access: true, ..call }), 0);
        assert_eq!(late_post(&OneSidedCall { wait: OneSidedWait::Release, ..call }), 0);
    }
}
