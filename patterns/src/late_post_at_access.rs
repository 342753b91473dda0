//! Late Post: an access waits for its target, which opens its window late.

use model::Ticks;

use crate::explanation::{Explanation, Picture};
use crate::matched::{OneSidedCall, OneSidedWait};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern, Statistics, Within};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_rma_communication",
        "mpi_rma_comm_late_post",
        "Late Post",
        "Time in one-sided accesses until their target had posted its window.",
    )
    .not_work()
    .beyond_reference(),
    instances: None,
    title: "Late Post at Access",
    is_waiting: true,
    statistics: Some(Statistics::together(23, Within::OneSided)),
    explanation: Explanation {
        picture: Some(Picture(
            "\
origin     ==[ start ]==[ put ~~~~~~~~~~~]==
target     ======== computes ===[ post ]====
",
        )),
        meaning: "Time in `MPI_Put`, `MPI_Get` and their relatives until the target of the access called `MPI_Win_post`. \
         Libraries that do not block in `MPI_Win_start` may block here.",
        large_when: None,
        what_to_do: "Post earlier: as soon as the memory of the window may be accessed, before other work.",
    },
    detect: Detect::OneSided(late_post_at_access),
};

fn late_post_at_access(call: &OneSidedCall) -> Ticks {
    match (call.wait, call.is_access) {
        (OneSidedWait::Post, true) => call.waiting(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matched::tests::one_sided;

    #[test]
    fn call_waits_for_this_reason_only() {
        let call = one_sided(OneSidedWait::Post, true);
        assert_eq!(late_post_at_access(&call), 20);
        assert_eq!(late_post_at_access(&OneSidedCall { is_access: false, ..call }), 0);
        assert_eq!(late_post_at_access(&OneSidedCall { wait: OneSidedWait::Progress, ..call }), 0);
    }
}
