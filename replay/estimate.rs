//! Estimate of the memory that an analysis will take, from the sizes of its files, before it takes any.
//!
//! The memory for an event depends on its kind: a call without communication leaves next to nothing, a
//! message leaves what both sides need to know of it. The factors are the largest ones measured for the
//! patterns of `replay-generate` (only collective operations, or only late messages), and a third more for
//! messages whose facts other processes receive; `docs/scaling.md` has the measurements. Only a trace that
//! was made to take memory takes more (`docs/robustness.md`).

use crate::options::{DetailsPlace, Options};
use crate::scratch::LARGE;

/// Bytes of lists for each byte of an event file, with root causes and without.
const WITH_CAUSES: u64 = 8;
const WITHOUT_CAUSES: u64 = 6;

/// Bytes of graphs (or stations) for each byte of another worker's event file: an upper bound, reached by
/// traces of collective operations in which all members but one wait.
const OF_OTHERS: u64 = 3;

/// Bytes of rows of details for each byte of another worker's event file, and at most: a pair of processes has a message,
/// and the number of pairs in the table is limited.
const OF_DETAILS: u64 = 2;
const DETAILS: u64 = 200 << 20;

/// Bytes of times for clock correction for each byte of an event file.
const TIMES: u64 = 1;

/// Bytes of the timed graph and of times in all scenarios for each byte of an event file.
const WHAT_IF: u64 = 3;

/// Bytes of a location independent of its events: names, severities, entries in all tables.
const LOCATION: u64 = 8 << 10;

/// The number of lists of a location that may be too small for a file.
const LISTS: u64 = 8;

/// The memory that a process of the analysis will take, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Estimate {
    /// All of it, at most.
    pub all: u64,
    /// The part that has to be in memory: small lists, and what does not grow with the events.
    pub least: u64,
}

impl Estimate {
    /// Estimates for processes with these numbers of locations and bytes of event files; `others` are the
    /// bytes of all other workers, whose graphs a worker may [bring together](crate::solvers).
    pub fn new(options: &Options, processes: impl IntoIterator<Item = (u64, u64)>, others: u64) -> Estimate {
        let factor = if options.causes { WITH_CAUSES } else { WITHOUT_CAUSES }
            + if options.clock_correction { TIMES } else { 0 }
            + if options.what_if.is_some() || options.looks_for_advice() { WHAT_IF } else { 0 };
        let is_stepwise = options.causes || options.clock_correction;
        let together = if is_stepwise { others.saturating_mul(OF_OTHERS).min(options.together) } else { 0 };
        let has_details = options.details_place() != DetailsPlace::Nowhere;
        let rows = if has_details { others.saturating_mul(OF_DETAILS).min(DETAILS) } else { 0 };
        let mut sum = Estimate { all: together.saturating_add(rows), least: 0 };
        for (locations, bytes) in processes {
            let fixed = locations.saturating_mul(LOCATION);
            let lists = bytes.saturating_mul(factor);
            let small = lists.min(locations.saturating_mul(LISTS * LARGE as u64));
            sum.all = sum.all.saturating_add(fixed).saturating_add(lists);
            sum.least = sum.least.saturating_add(fixed).saturating_add(small);
        }
        sum
    }

    /// Returns the memory for a trace of mostly calls that cannot wait, as most programs have: a quarter.
    pub fn usual(&self) -> u64 {
        self.all / 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::what_if::WhatIf;

    #[test]
    fn many_events_of_few_locations_need_not_be_in_memory_but_few_of_many_do() {
        let options = Options { causes: true, ..Options::new("trace") };
        let few = Estimate::new(&options, [(1, 1 << 30); 4], 0);
        assert!(few.all > 20 << 30 && few.least < 4 << 20);
        let many = Estimate::new(&options, std::iter::repeat_n((1, 1 << 10), 1 << 20), 0);
        assert_eq!(many.all, many.least);
        let what_if = Some(WhatIf::Standard);
        let asked = Estimate::new(&Options { what_if, ..options.clone() }, [(1, 1 << 30); 4], 0);
        assert_eq!(asked.all - few.all, 12 << 30);
        let nothing = Options { causes: false, ..options };
        assert!(4 * Estimate::new(&nothing, [(1, 1 << 30)], 0).all < few.all);
    }

    #[test]
    fn what_others_have_adds_no_more_than_is_brought_together() {
        let options = Options::new("trace");
        let all = |others| Estimate::new(&options, [(1, 1 << 20)], others).all;
        assert_eq!(all(1000) - all(0), 5000);
        assert_eq!(all(1 << 40) - all(0), options.together + DETAILS);
    }

    #[test]
    fn files_with_holes_may_claim_any_size() {
        let sum = Estimate::new(&Options::new("trace"), [(1, u64::MAX), (u64::MAX, 1)], u64::MAX);
        assert_eq!((sum.all, sum.least), (u64::MAX, u64::MAX));
    }
}
