//! Early Wait: a target waits for the last origin to complete its accesses.

use model::Ticks;

use crate::explanation::{Explanation, Picture};
use crate::matched::{OneSidedCall, OneSidedWait};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern, Statistics, Within};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_rma_sync_active",
        "mpi_rma_early_wait",
        "Early Wait",
        "Time in MPI_Win_wait until the last origin had called MPI_Win_complete.",
    )
    .not_work()
    .beyond_reference(),
    instances: None,
    title: "Early Wait",
    is_waiting: true,
    statistics: Some(Statistics::at(22, Within::OneSided)),
    explanation: Explanation {
        picture: Some(Picture(
            "\
target     ==[ post ]=[ wait ~~~~~~~~~~~~~~~]==
origin     ====[ start ]==[ put ]==[ complete ]=
",
        )),
        meaning: "Time in `MPI_Win_wait` until the last origin of the exposure epoch called `MPI_Win_complete`.",
        large_when: Some(
            "targets have less work between `MPI_Win_post` and `MPI_Win_wait` than origins have until they complete \
         their accesses.",
        ),
        what_to_do: "Do work between `MPI_Win_post` and `MPI_Win_wait`; let origins access, and complete, earlier.",
    },
    detect: Detect::OneSided(early_wait),
};

fn early_wait(call: &OneSidedCall) -> Ticks {
    match call.wait {
        OneSidedWait::Complete => call.waiting(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matched::tests::one_sided;

    #[test]
    fn target_waits_until_the_last_origin_completes() {
        let call = one_sided(OneSidedWait::Complete, false);
        assert_eq!(early_wait(&call), 20);
        assert_eq!(early_wait(&OneSidedCall { wait: OneSidedWait::Post, ..call }), 0);
    }
}
