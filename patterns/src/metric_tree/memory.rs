//! What a process has used of the machine's memory.

use crate::metric::Metric;
use crate::metric::Source::Measured;
use crate::metric::Unit::Bytes;

pub(super) const METRICS: &[Metric] = &[Metric::root(
    "memory",
    "Memory in use at most",
    Bytes,
    Measured,
    "The most memory that the process had in use at a time (its resident set), at the root of its call paths. The sum of several \
     processes is an upper bound: they need not have had it at the same time, and pages that they share count in each. It is known of processes that have ended by themselves, from their begin on, also before they became \
     this program.",
)
.beyond_reference()];
