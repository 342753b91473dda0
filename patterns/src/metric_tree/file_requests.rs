//! Metrics of files that need the places of all ranks' transfers (io 5.2): only the model of file I/O has these.

use crate::metric::Metric;
use crate::metric::Source::{Measured, Sum};
use crate::metric::Unit::{Bytes, Occurrences};

/// Calls that something is the matter with: each is in the first of these that holds.
const fn calls(parent: &'static str, id: &'static str, name: &'static str, about: &'static str) -> Metric {
    Metric::below(parent, id, name, Occurrences, Measured, about).beyond_reference()
}

pub(super) const METRICS: &[Metric] = &[
    calls("io_ops_read", "io_ops_read_empty", "Empty", "Calls that read nothing."),
    calls(
        "io_ops_read",
        "io_ops_read_contended",
        "Contended",
        "Other calls that read in a block of the file system in which another rank writes at the same time.",
    ),
    calls("io_ops_read", "io_ops_read_small", "Small", "Other calls that read less than 1 MiB."),
    calls(
        "io_ops_read",
        "io_ops_read_random",
        "Out of order",
        "Other calls that read from before the end of the operation before.",
    ),
    calls(
        "io_ops_read",
        "io_ops_read_unaligned",
        "Unaligned",
        "Other calls that read from within a block of the file system on.",
    ),
    calls("io_ops_write", "io_ops_write_empty", "Empty", "Calls that write nothing."),
    calls(
        "io_ops_write",
        "io_ops_write_contended",
        "Contended",
        "Other calls that write in a block of the file system in which another rank reads or writes at the same time.",
    ),
    calls("io_ops_write", "io_ops_write_small", "Small", "Other calls that write less than 1 MiB."),
    calls(
        "io_ops_write",
        "io_ops_write_random",
        "Out of order",
        "Other calls that write from before the end of the operation before.",
    ),
    calls(
        "io_ops_write",
        "io_ops_write_unaligned",
        "Unaligned",
        "Other calls that write from within a block of the file system on.",
    ),
    Metric::root(
        "io_bytes_avoidable",
        "Avoidable reading",
        Bytes,
        Sum,
        "Bytes that need not be read from files.",
    )
    .beyond_reference(),
    Metric::below(
        "io_bytes_avoidable",
        "io_bytes_own",
        "Own data read back",
        Bytes,
        Measured,
        "Bytes read whose last writer in the run is the rank itself.",
    )
    .beyond_reference(),
    Metric::below(
        "io_bytes_avoidable",
        "io_bytes_reread",
        "Read again",
        Bytes,
        Measured,
        "Other bytes that the rank has read of the same opening of the file before.",
    )
    .beyond_reference(),
];
