//! Metrics of the time between the start of a non-blocking collective operation and the call that completes it (rest of MPI
//! 4.4). They are no part of the time: operations overlap each other.

use crate::metric::Metric;
use crate::metric::Source::Measured;
use crate::metric::Unit::Seconds;

pub(super) const METRICS: &[Metric] = &[
    Metric::root(
        "mpi_overlap",
        "Overlap of collectives",
        Seconds,
        Measured,
        "Time from the end of the call that started a non-blocking collective operation to the call that completed it.",
    )
    .beyond_reference(),
    Metric::below(
        "mpi_overlap",
        "mpi_overlap_hidden",
        "Hidden waiting",
        Seconds,
        Measured,
        "Part of it in which others had not started the operation yet: waiting that a blocking call would have had.",
    )
    .beyond_reference(),
    Metric::below(
        "mpi_overlap",
        "mpi_overlap_usable",
        "Usable",
        Seconds,
        Measured,
        "Part of it in which all that it needs had started, so the operation could have gone on.",
    )
    .beyond_reference(),
];
