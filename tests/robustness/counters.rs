//! Defects of counters (site.md, 5.2).

use replay::findings::Finding::{BackwardCounter, WithoutCounters};

use super::Make::Script;
use super::Outcome::Findings;
use super::{Row, Section};

pub(super) const SECTION: Section = Section {
    title: "Counters",
    about: "What has been counted is known where the values before and behind it are.",
    rows: &[
        Row {
            defect: "a counter is less than before",
            make: Script(
                "program prog
                 rank 0
                   0 metric 20 ; > main ; 10 metric 25 ; > work ; 20 metric 22 ; < ; 30 metric 40 ; <",
            ),
            outcome: Findings(&[BackwardCounter]),
        },
        Row {
            defect: "one of two threads has no values of counters",
            make: Script(
                "program prog
                 rank 0
                   0 metric 20 ; > main ; 30 metric 40 ; <
                 rank 0 thread 1
                   5 > work ; 15 <",
            ),
            outcome: Findings(&[WithoutCounters]),
        },
    ],
};
