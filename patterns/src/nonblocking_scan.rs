//! Non-blocking Early Scan: the call that completes a prefix reduction waits for a lower rank to request it.

use model::Ticks;

use crate::explanation::{Explanation, Picture};
use crate::matched::{CollectiveClass, NonBlockingMember};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_nbcoll_wait",
        "mpi_nbcoll_wait_scan",
        "Early Scan",
        "Time in calls that complete Iscan or Iexscan until the last of the lower ranks has started it.",
    )
    .not_work()
    .beyond_reference(),
    instances: None,
    title: "Early Non-blocking Scan",
    is_waiting: true,
    statistics: None,
    explanation: Explanation {
        picture: Some(Picture(
            "\
rank 0     ======= computes ===============[ iscan ]====
rank 1     ==[ iscan ]== computes ==[ wait ~~~~~~~~~~]==
",
        )),
        meaning: "Time in the completing call until the last of the lower ranks has called \
         `MPI_Iscan` or `MPI_Iexscan`.",
        large_when: None,
        what_to_do: "Let lower ranks start first: balance the work so that it does not fall with the \
         rank.",
    },
    detect: Detect::NonBlocking(scan),
};

fn scan(member: &NonBlockingMember) -> Ticks {
    match member.class {
        CollectiveClass::Scan => member.arrival(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matched::tests::nonblocking;

    #[test]
    fn higher_rank_waits_for_lower_ones_in_this_class_only() {
        assert_eq!(scan(&nonblocking(CollectiveClass::Scan)), 20);
        assert_eq!(scan(&nonblocking(CollectiveClass::Barrier)), 0);
    }
}
