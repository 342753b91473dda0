//! Metrics of time off the processor (site.md, 5.1). They are no part of the time: what a thread does not do while it is off the
//! processor is in the call path where it was.

use crate::metric::Metric;
use crate::metric::Source::{Measured, Sum};
use crate::metric::Unit::{Occurrences, Seconds};

pub(super) const METRICS: &[Metric] = &[
    Metric::root("off_cpu", "Off the processor", Seconds, Sum, "Time in which the thread was not running, of whatever it did.")
        .beyond_reference(),
    Metric::below(
        "off_cpu",
        "off_cpu_preempted",
        "Preempted",
        Seconds,
        Measured,
        "Time in which the thread could have run, but another one had its processor. Inside of MPI also that in which the library has \
         yielded it.",
    )
    .beyond_reference(),
    Metric::below(
        "off_cpu",
        "off_cpu_blocked",
        "Blocked",
        Seconds,
        Measured,
        "Time in which the thread waited in the system: for a file, a page, a lock, a message or a timer.",
    )
    .beyond_reference(),
    Metric::root("preemptions", "Preemptions", Occurrences, Measured, "Times that the processor was taken from the thread.")
        .beyond_reference(),
    Metric::root("blockings", "Blockings", Occurrences, Measured, "Times that the thread waited in the system.").beyond_reference(),
    Metric::root(
        "cpu_migrations",
        "Migrations",
        Occurrences,
        Measured,
        "Times that the thread went on on another processor than before.",
    )
    .beyond_reference(),
];
