//! Early Fence: the part of the wait at a fence in which others still accessed this rank's memory.

use model::Ticks;

use crate::explanation::{Explanation, Picture};
use crate::matched::{CollectiveClass, CollectiveMember};
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "mpi_rma_wait_at_fence",
        "mpi_rma_early_fence",
        "Early Fence",
        "Part of the wait at a fence in which other ranks still accessed the memory of this one.",
    )
    .not_work()
    .beyond_reference(),
    instances: None,
    title: "Early Fence",
    is_waiting: true,
    statistics: None,
    explanation: Explanation {
        picture: Some(Picture(
            "\
target     ==[ fence ~~~~~~~~~~~~~~~~~~]==
origin     ==== computes =[ put ]==[ fence ]
             |<-- Early Fence ->|
",
        )),
        meaning: "The part of *Wait at Fence* until the last access to the memory of this rank ended, of all accesses \
         since the fence before: the rank came to the fence while others were still at work on its memory.",
        large_when: Some("the targets of accesses have less work than their origins."),
        what_to_do: "Let origins access earlier, or give the targets work that does not need the data before the fence.",
    },
    detect: Detect::Collective(CollectiveClass::Fence, early_fence),
};

fn early_fence(member: &CollectiveMember) -> Ticks {
    let until = member.accessed.min(member.begin + member.waiting());
    until.saturating_sub(member.begin).max(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matched::tests::member;

    #[test]
    fn wait_at_a_fence_is_early_until_the_last_access() {
        let fence = member(CollectiveClass::Fence, 10, 50);
        let until = |accessed| early_fence(&CollectiveMember { accessed, ..fence });
        assert_eq!([Ticks::MIN, 5, 25, 30, 45].map(until), [0, 0, 15, 20, 20]);
    }
}
