//! Late Complete: the part of an early wait after the last access had ended.

use model::Ticks;

use crate::explanation::{Explanation, Picture};
use crate::matched::{OneSidedCall, OneSidedWait};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_rma_early_wait",
        "mpi_rma_late_complete",
        "Late Complete",
        "Part of Early Wait in which no origin accessed the memory any more.",
    )
    .not_work()
    .beyond_reference(),
    instances: None,
    title: "Late Complete",
    is_waiting: true,
    statistics: None,
    explanation: Explanation {
        picture: Some(Picture(
            "\
target     ==[ post ]=[ wait ~~~~~~~~~~~~~~~~~~~~~~]==
origin     ====[ start ]==[ put ]=== computes ===[ complete ]=
                                 |<- Late Complete ->|
",
        )),
        meaning: "The part of *Early Wait* from the end of the last access of the origins until the last of them called \
         `MPI_Win_complete`: the data were there, and nobody said so.",
        large_when: Some("origins go on with other work between their last access and `MPI_Win_complete`."),
        what_to_do: "Call `MPI_Win_complete` when the last access is issued, before other work.",
    },
    detect: Detect::OneSided(late_complete),
};

fn late_complete(call: &OneSidedCall) -> Ticks {
    let end = call.begin + call.waiting();
    match call.wait {
        OneSidedWait::Complete => (end - call.accessed.max(call.begin)).max(0),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matched::tests::one_sided;

    #[test]
    fn early_wait_is_a_late_complete_from_the_last_access_on() {
        let call = one_sided(OneSidedWait::Complete, false);
        let after = |accessed| late_complete(&OneSidedCall { accessed, ..call });
        assert_eq!([Ticks::MIN, 10, 25, 30, 45].map(after), [20, 20, 5, 0, 0]);
        assert_eq!(late_complete(&one_sided(OneSidedWait::Post, false)), 0);
    }
}
