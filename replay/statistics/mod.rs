//! Statistics of the instances of wait states (13): how many, how long, how they are spread, and the severest.
//!
//! An instance is told twice to the [`Samples`] of its process, as a sample for the numbers, and as a candidate for the
//! severest: in collective operations every rank that waits is a sample, but the operation as a whole is the instance.
//! Whatever finds instances of the patterns below tells them.
//!
//! | file | what |
//! |---|---|
//! | `samples` | the samples of a process: exact integers, and either all values or an estimate of their density |
//! | `density` | that estimate (reference semantics) |
//! | `bounds` | the longest wait that is possible, by which the estimate scales its samples |
//! | `rank_tree` | combines the estimates of ranks, in an order that does not depend on the workers |
//! | `quantiles` | exact quantiles (corrected semantics) |
//! | `severest` | the severest instances |
//! | `totals` | brings everything to worker 0 |

mod bounds;
mod density;
mod quantiles;
mod rank_tree;
mod samples;
mod severest;
mod totals;

use patterns::matched::{BarrierClass, CollectiveClass, LockClass};

pub use bounds::{Bounds, bounds};
pub use samples::{Moments, Samples};
pub use severest::{Instance, Severest};
pub use totals::{Statistics, Total};

/// A pattern that has statistics.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Subject {
    /// Its metric.
    pub metric: &'static str,
    /// The calls whose longest bounds its samples.
    pub within: Within,
    /// Whether an instance of all ranks begins when the first of them enters the call; otherwise, when the first begins the
    /// operation (Q18).
    pub is_from_enter: bool,
}

/// Calls that an instance lies within.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Within {
    /// A call that receives.
    Receive,
    /// A call that sends.
    Send,
    /// A collective operation, from begin to end.
    Collective(CollectiveClass),
    /// A barrier of threads.
    Barrier(BarrierClass),
    /// From asking for a lock until it is there.
    Lock(LockClass),
}

/// The patterns that have statistics, in the order of the file.
pub const SUBJECTS: [Subject; 16] = [
    subject("mpi_latesender", Within::Receive),
    subject("mpi_latesender_wo", Within::Receive),
    subject("mpi_latereceiver", Within::Send),
    Subject { is_from_enter: true, ..subject("mpi_wait_nxn", Within::Collective(CollectiveClass::AllToAll)) },
    subject("mpi_barrier_wait", Within::Collective(CollectiveClass::Barrier)),
    subject("mpi_earlyreduce", Within::Collective(CollectiveClass::AllToOne)),
    subject("mpi_earlyscan", Within::Collective(CollectiveClass::Scan)),
    subject("mpi_latebroadcast", Within::Collective(CollectiveClass::OneToAll)),
    subject("mpi_barrier_completion", Within::Collective(CollectiveClass::Barrier)),
    subject("mpi_nxn_completion", Within::Collective(CollectiveClass::AllToAll)),
    subject("omp_ebarrier_wait", Within::Barrier(BarrierClass::Explicit)),
    subject("omp_ibarrier_wait", Within::Barrier(BarrierClass::Implicit)),
    subject("omp_lock_contention_api", Within::Lock(LockClass::OpenMp)),
    subject("omp_lock_contention_critical", Within::Lock(LockClass::Critical)),
    subject("pthread_lock_contention_mutex_lock", Within::Lock(LockClass::Mutex)),
    subject("pthread_lock_contention_conditional", Within::Lock(LockClass::Condition)),
];

const fn subject(metric: &'static str, within: Within) -> Subject {
    Subject { metric, within, is_from_enter: false }
}

/// Position of a pattern in [`SUBJECTS`].
pub type SubjectId = usize;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_subject_is_the_metric_of_a_pattern() {
        for subject in SUBJECTS {
            let is_there = patterns::PATTERNS.iter().any(|pattern| pattern.metric.id == subject.metric);
            assert!(is_there, "no pattern {}", subject.metric);
        }
    }
}
