//! Statistics of the instances of wait states (specification 13): number, severity, quantiles, and the
//! severest.
//!
//! The detection of the patterns below adds an instance twice to the [`Samples`] of its process, as a sample
//! for the numbers, and as a candidate for the severest: in collective operations every rank that waits is a
//! sample, but the operation as a whole is the instance.
//!
//! | file | content |
//! |---|---|
//! | `samples` | samples of a process: exact integers, and either all values or an estimate of their density |
//! | `density` | that estimate (reference semantics) |
//! | `bounds` | the longest wait that is possible, by which the estimate scales its samples |
//! | `rank_tree` | combines the estimates of ranks, in an order that does not depend on the workers |
//! | `quantiles` | exact quantiles (corrected semantics) |
//! | `severest` | the severest instances |
//! | `totals` | the reduction to worker 0 |

mod bounds;
mod density;
mod quantiles;
mod rank_tree;
mod samples;
mod severest;
mod totals;

use patterns::{PATTERNS, Pattern, Within};

pub use bounds::{Bounds, bounds};
pub use samples::{Moments, Samples};
pub use severest::{Instance, Severest};
pub use totals::{PatternTotal, Statistics};

/// A pattern that has statistics.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Subject {
    /// Its metric.
    pub metric: &'static str,
    /// Kind of calls whose longest bounds its samples.
    pub within: Within,
    /// Whether an instance of all ranks begins when the first of them enters the call.
    pub is_from_enter: bool,
}

/// The patterns that have statistics, in the order of the file.
pub const SUBJECTS: [Subject; count()] = subjects();

const fn count() -> usize {
    let (mut count, mut at) = (0, 0);
    while at < PATTERNS.len() {
        count += match PATTERNS[at].statistics {
            Some(statistics) => !statistics.is_shared as usize,
            None => 0,
        };
        at += 1;
    }
    count
}

/// Brings the patterns into the order of their places; one that is taken twice, or beyond the end, does not compile.
const fn subjects() -> [Subject; count()] {
    let mut subjects = [None; count()];
    let mut at = 0;
    while at < PATTERNS.len() {
        let Pattern { metric, statistics, .. } = PATTERNS[at];
        if let Some(statistics) = statistics
            && !statistics.is_shared
        {
            assert!(subjects[statistics.place].is_none(), "two patterns at one place of the statistics");
            let (within, is_from_enter) = (statistics.within, statistics.is_from_enter);
            subjects[statistics.place] = Some(Subject { metric: metric.id, within, is_from_enter });
        }
        at += 1;
    }
    let mut all = [Subject { metric: "", within: Within::Receive, is_from_enter: false }; count()];
    let mut at = 0;
    while at < all.len() {
        all[at] = subjects[at].expect("a place that no pattern has");
        at += 1;
    }
    all
}

/// Position of a pattern in [`SUBJECTS`].
pub type SubjectId = usize;
