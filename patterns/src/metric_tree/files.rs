//! Metrics of files (io 5.2): calls for them, and their bytes. Calls that MPI makes on its files are not among the calls, and their bytes
//! only among those that reach the system.

use crate::metric::Metric;
use crate::metric::Source::{Measured, Sum, VisitsOf};
use crate::metric::Unit::{Bytes, Occurrences};
use crate::regions;

pub(super) const METRICS: &[Metric] = &[
    Metric::root(
        "io_ops",
        "File operations",
        Occurrences,
        Sum,
        "Calls for files of the program, by MPI and by functions of the C library that are recorded.",
    )
    .beyond_reference(),
    Metric::below("io_ops", "io_ops_read", "Reads", Occurrences, VisitsOf(regions::file_reads), "Calls that read files.")
        .beyond_reference(),
    Metric::below(
        "io_ops",
        "io_ops_write",
        "Writes",
        Occurrences,
        VisitsOf(regions::file_writes),
        "Calls that write files.",
    )
    .beyond_reference(),
    Metric::below("io_ops", "io_ops_meta", "Handling", Occurrences, Sum, "Calls for files that move no data.")
        .beyond_reference(),
    Metric::below("io_ops_meta", "io_opens", "Opens", Occurrences, VisitsOf(regions::file_opens), "Calls that open files.")
        .beyond_reference(),
    Metric::below("io_ops_meta", "io_closes", "Closes", Occurrences, VisitsOf(regions::file_closes), "Calls that close files.")
        .beyond_reference(),
    Metric::below(
        "io_ops_meta",
        "io_stats",
        "Queries",
        Occurrences,
        VisitsOf(regions::file_stats),
        "Calls that ask what a file is, or whether it may be used.",
    )
    .beyond_reference(),
    Metric::below("io_ops_meta", "io_seeks", "Seeks", Occurrences, VisitsOf(regions::file_seeks), "Calls that move pointers of files.")
        .beyond_reference(),
    Metric::below("io_ops_meta", "io_syncs", "Flushes", Occurrences, VisitsOf(regions::file_syncs), "Calls that flush files.")
        .beyond_reference(),
    Metric::below("io_ops_meta", "io_locks", "Locks", Occurrences, VisitsOf(regions::file_locks), "Calls that lock files.")
        .beyond_reference(),
    Metric::below("io_ops_meta", "io_other", "Other", Occurrences, VisitsOf(regions::file_rest), "All other calls for files.")
        .beyond_reference(),
    Metric::root("io_bytes_read", "I/O bytes read", Bytes, Sum, "Bytes that the program reads from files.").beyond_reference(),
    Metric::below("io_bytes_read", "io_bytes_read_mpi", "MPI", Bytes, Measured, "Bytes read by calls of MPI.").beyond_reference(),
    Metric::below("io_bytes_read", "io_bytes_read_posix", "POSIX", Bytes, Measured, "Bytes read by POSIX functions that the program calls.")
        .beyond_reference(),
    Metric::below("io_bytes_read", "io_bytes_read_isoc", "ISO C", Bytes, Measured, "Bytes read by functions of ISO C.").beyond_reference(),
    Metric::root("io_bytes_written", "I/O bytes written", Bytes, Sum, "Bytes that the program writes to files.").beyond_reference(),
    Metric::below("io_bytes_written", "io_bytes_written_mpi", "MPI", Bytes, Measured, "Bytes written by calls of MPI.").beyond_reference(),
    Metric::below(
        "io_bytes_written",
        "io_bytes_written_posix",
        "POSIX",
        Bytes,
        Measured,
        "Bytes written by POSIX functions that the program calls.",
    )
    .beyond_reference(),
    Metric::below("io_bytes_written", "io_bytes_written_isoc", "ISO C", Bytes, Measured, "Bytes written by functions of ISO C.")
        .beyond_reference(),
    Metric::root(
        "io_bytes_os_read",
        "Bytes read from the system",
        Bytes,
        Measured,
        "Bytes that POSIX functions read, be it for the program or for MPI: those that reach the system, if such functions are recorded.",
    )
    .beyond_reference(),
    Metric::root(
        "io_bytes_os_written",
        "Bytes written to the system",
        Bytes,
        Measured,
        "Bytes that POSIX functions write, be it for the program or for MPI: those that reach the system, if such functions are recorded.",
    )
    .beyond_reference(),
];
