//! Slots of time of equal length: in each step a rank works, and is ready to communicate well before the slot ends.

use crate::job::Job;
use crate::location::START;

/// Duration of a step in nanoseconds.
pub(crate) const SLOT: u64 = 8000;

/// Time at which a rank finishes its work.
pub(crate) fn finished(job: &Job, rank: u32, step: u64) -> u64 {
    START + step * SLOT + 1000 + 4 * job.load(rank, step)
}
