//! MPI functions in Extrae's numbers: types of events, values, and states (Extrae User Guide, "Paraver trace format").

/// Types of events of MPI calls.
pub(super) const KINDS: [(u32, &str); 5] = [
    (50_000_001, "MPI Point-to-point"),
    (50_000_002, "MPI Collective Comm"),
    (50_000_003, "MPI Other"),
    (50_000_004, "MPI One-sided"),
    (50_000_005, "MPI I/O"),
];

/// States, with the colours of Paraver.
pub(super) const STATES: [(u32, &str, &str); 18] = [
    (0, "Idle", "{117,195,255}"),
    (1, "Running", "{0,0,255}"),
    (2, "Not created", "{255,255,255}"),
    (3, "Waiting a message", "{255,0,0}"),
    (4, "Blocking Send", "{255,0,174}"),
    (5, "Synchronization", "{179,0,0}"),
    (6, "Test/Probe", "{0,255,0}"),
    (7, "Scheduling and Fork/Join", "{255,255,0}"),
    (8, "Wait/WaitAll", "{235,0,0}"),
    (9, "Blocked", "{0,162,0}"),
    (10, "Immediate Send", "{255,0,255}"),
    (11, "Immediate Receive", "{100,100,177}"),
    (12, "I/O", "{172,174,41}"),
    (13, "Group Communication", "{255,144,26}"),
    (14, "Tracing Disabled", "{2,255,177}"),
    (15, "Others", "{192,224,0}"),
    (16, "Send Receive", "{66,66,66}"),
    (17, "Memory transfer", "{255,0,96}"),
];

/// Functions with Extrae's values.
const VALUES: [(&str, u32); 74] = [
    ("MPI_Send", 1),
    ("MPI_Recv", 2),
    ("MPI_Isend", 3),
    ("MPI_Irecv", 4),
    ("MPI_Wait", 5),
    ("MPI_Waitall", 6),
    ("MPI_Bcast", 7),
    ("MPI_Barrier", 8),
    ("MPI_Reduce", 9),
    ("MPI_Allreduce", 10),
    ("MPI_Alltoall", 11),
    ("MPI_Alltoallv", 12),
    ("MPI_Gather", 13),
    ("MPI_Gatherv", 14),
    ("MPI_Scatter", 15),
    ("MPI_Scatterv", 16),
    ("MPI_Allgather", 17),
    ("MPI_Allgatherv", 18),
    ("MPI_Comm_rank", 19),
    ("MPI_Comm_size", 20),
    ("MPI_Comm_create", 21),
    ("MPI_Comm_dup", 22),
    ("MPI_Comm_split", 23),
    ("MPI_Comm_group", 24),
    ("MPI_Comm_free", 25),
    ("MPI_Comm_remote_group", 26),
    ("MPI_Comm_remote_size", 27),
    ("MPI_Comm_test_inter", 28),
    ("MPI_Comm_compare", 29),
    ("MPI_Scan", 30),
    ("MPI_Init", 31),
    ("MPI_Finalize", 32),
    ("MPI_Bsend", 33),
    ("MPI_Ssend", 34),
    ("MPI_Rsend", 35),
    ("MPI_Ibsend", 36),
    ("MPI_Issend", 37),
    ("MPI_Irsend", 38),
    ("MPI_Test", 39),
    ("MPI_Cancel", 40),
    ("MPI_Sendrecv", 41),
    ("MPI_Sendrecv_replace", 42),
    ("MPI_Cart_create", 43),
    ("MPI_Cart_shift", 44),
    ("MPI_Cart_coords", 45),
    ("MPI_Cart_get", 46),
    ("MPI_Cart_map", 47),
    ("MPI_Cart_rank", 48),
    ("MPI_Cart_sub", 49),
    ("MPI_Cartdim_get", 50),
    ("MPI_Dims_create", 51),
    ("MPI_Topo_test", 58),
    ("MPI_Waitany", 59),
    ("MPI_Waitsome", 60),
    ("MPI_Probe", 61),
    ("MPI_Iprobe", 62),
    ("MPI_Win_create", 63),
    ("MPI_Win_free", 64),
    ("MPI_Put", 65),
    ("MPI_Get", 66),
    ("MPI_Accumulate", 67),
    ("MPI_Win_fence", 68),
    ("MPI_Win_start", 69),
    ("MPI_Win_complete", 70),
    ("MPI_Win_post", 71),
    ("MPI_Win_wait", 72),
    ("MPI_Win_test", 73),
    ("MPI_Win_lock", 74),
    ("MPI_Win_unlock", 75),
    ("MPI_Pack", 76),
    ("MPI_Unpack", 77),
    ("MPI_Op_create", 78),
    ("MPI_Op_free", 79),
    ("MPI_Reduce_scatter", 80),
];

/// Collective functions by the end of their names, without `MPI_` or `MPI_I`.
const COLLECTIVE: [&str; 18] = [
    "bcast",
    "barrier",
    "reduce",
    "allreduce",
    "alltoall",
    "alltoallv",
    "alltoallw",
    "gather",
    "gatherv",
    "scatter",
    "scatterv",
    "allgather",
    "allgatherv",
    "scan",
    "exscan",
    "reduce_scatter",
    "reduce_scatter_block",
    "ibarrier",
];

/// The value of a function; those that Extrae's list does not have follow far behind it, by their position in the report.
pub(super) fn value(name: &str, function: usize) -> u64 {
    let known = VALUES.iter().find(|known| known.0 == name);
    known.map_or(1000 + function as u64, |known| known.1.into())
}

/// Type of the events of an MPI function, and the state in it.
pub(super) fn kind_and_state(name: &str) -> (u32, u32) {
    let short = name.strip_prefix("MPI_").unwrap_or(name).to_ascii_lowercase();
    let blocking = short.strip_prefix('i').unwrap_or(&short);
    let is_collective = COLLECTIVE.contains(&short.as_str()) || COLLECTIVE.contains(&blocking);
    let [point_to_point, collective, other, one_sided, files] = KINDS.map(|kind| kind.0);
    match short.as_str() {
        "barrier" => (collective, 5),
        _ if is_collective => (collective, 13),
        "recv" | "mrecv" => (point_to_point, 3),
        "probe" | "iprobe" | "mprobe" | "improbe" => (point_to_point, 6),
        "send" | "bsend" | "ssend" | "rsend" => (point_to_point, 4),
        "isend" | "ibsend" | "issend" | "irsend" => (point_to_point, 10),
        "irecv" | "imrecv" => (point_to_point, 11),
        "sendrecv" | "sendrecv_replace" => (point_to_point, 16),
        "wait" | "waitall" | "waitany" | "waitsome" => (point_to_point, 8),
        "test" | "testall" | "testany" | "testsome" => (point_to_point, 6),
        "put" | "get" | "accumulate" | "rput" | "rget" | "raccumulate" => (one_sided, 17),
        short if short.starts_with("win_") => (one_sided, 5),
        short if short.starts_with("file_") => (files, 12),
        _ => (other, 15),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_have_the_numbers_of_extrae() {
        assert_eq!((value("MPI_Reduce_scatter", 3), value("MPI_Session_init", 3)), (80, 1003));
        assert_eq!(kind_and_state("MPI_Recv"), (50_000_001, 3));
        assert_eq!(kind_and_state("MPI_Barrier"), (50_000_002, 5));
        assert_eq!(kind_and_state("MPI_Iallreduce"), (50_000_002, 13));
        assert_eq!(kind_and_state("MPI_File_write_all"), (50_000_005, 12));
        assert_eq!(kind_and_state("MPI_Comm_dup"), (50_000_003, 15));
        let numbers: std::collections::BTreeSet<u32> = VALUES.iter().map(|value| value.1).collect();
        assert_eq!(numbers.len(), VALUES.len());
    }
}
