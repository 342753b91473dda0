//! What the program of the self-test does, and whether its report says so.

use crate::Error;
use crate::report::grouped;
use cubex::{CnodeId, Cube, LocationId, Report, Severities};
use std::path::Path;
use std::time::Duration;

/// Rounds in which each rank sends a message to the next one and receives one from the one before.
pub(super) const ROUNDS: u64 = 10;
/// Bytes of each of these messages.
pub(super) const BYTES: u64 = 1 << 10;
/// Bytes of the message that each even rank sends to the odd one behind it: more than a library sends before somebody receives.
pub(super) const LARGE_BYTES: u64 = 1 << 20;
/// How long the even rank waits before.
pub(super) const DELAY: Duration = Duration::from_millis(50);
/// Broadcasts to all ranks, and reductions for all of them.
pub(super) const OPERATIONS: u64 = 5;

/// Name of the report in an experiment directory.
const REPORT: &str = "trace.cubex";

/// Begin of the names of attributes for what the analyzer has found to be wrong.
const FINDINGS: &str = "Replay::Findings::";

/// What a report says.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Found {
    /// How many numbers were compared.
    pub(super) compared: usize,
    /// Those that differ, in words.
    pub(super) differences: Vec<String>,
    /// Seconds that receivers waited for late senders, and seconds by which the program makes them late.
    pub(super) late_senders: (f64, f64),
    /// Hosts that the processes ran on.
    pub(super) hosts: usize,
    /// What the analyzer has found to be wrong.
    pub(super) findings: Vec<String>,
}

/// Returns how often each function is called by so many processes together.
fn calls(processes: u64) -> [(&'static str, u64); 13] {
    let pairs = processes / 2;
    [
        ("MPI_Init", processes),
        ("MPI_Comm_rank", processes),
        ("MPI_Comm_size", processes),
        ("MPI_Isend", ROUNDS * processes),
        ("MPI_Irecv", ROUNDS * processes),
        ("MPI_Wait", 2 * ROUNDS * processes),
        ("MPI_Barrier", processes),
        ("MPI_Send", pairs),
        ("MPI_Recv", pairs),
        ("MPI_Bcast", OPERATIONS * processes),
        ("MPI_Allreduce", (OPERATIONS + 1) * processes),
        ("MPI_Comm_split", processes),
        ("MPI_Finalize", processes),
    ]
}

/// Returns metrics of the report, each with the sum that it must have.
fn sums(processes: u64) -> [(&'static str, u64); 4] {
    let messages = ROUNDS * processes + processes / 2;
    let bytes = ROUNDS * processes * BYTES + processes / 2 * LARGE_BYTES;
    [("comms_send", messages), ("comms_recv", messages), ("bytes_sent", bytes), ("bytes_rcvd", bytes)]
}

/// Compares the report in a directory with what the program does in so many processes.
///
/// # Errors
/// If the report cannot be read.
pub(super) fn compare(directory: &Path, processes: u64) -> Result<Found, Error> {
    let error = |error: cubex::Error| Error::new(error.to_string());
    let report = Report::open(directory.join(REPORT)).map_err(error)?;
    let cube = report.cube();
    let severities = |metric: &str| match cube.metric_named(metric) {
        Some(metric) => report.severities(metric).map(Some).map_err(error),
        None => Ok(None),
    };
    let mut found = Found { hosts: hosts(cube), findings: findings(cube), ..Found::default() };
    let mut compare = |what: &str, seen: u64, expected: u64| {
        found.compared += 1;
        if seen != expected {
            found.differences.push(format!("{what} {} instead of {}", grouped(seen), grouped(expected)));
        }
    };
    compare("processes", cube.location_groups.len() as u64, processes);
    let visits = severities("visits")?;
    for (function, expected) in calls(processes) {
        compare(function, visits.as_ref().map_or(0, |visits| calls_of(function, cube, visits)), expected);
    }
    for (metric, expected) in sums(processes) {
        compare(metric, severities(metric)?.map_or(0, |values| values.total() as u64), expected);
    }
    let waited = severities("mpi_latesender")?.map_or(0.0, |waits| waits.total());
    found.late_senders = (waited, DELAY.as_secs_f64() * (processes / 2) as f64);
    Ok(found)
}

/// Returns how often a function was called.
fn calls_of(function: &str, cube: &Cube, visits: &Severities) -> u64 {
    let paths =
        (0..cube.cnodes.len()).filter(|path| cube.regions[cube.cnodes[*path].region.0].name == function);
    let locations = || (0..cube.locations.len()).map(LocationId);
    paths.flat_map(|path| locations().map(move |at| visits.exclusive(CnodeId(path), at))).sum::<f64>() as u64
}

/// Returns the number of nodes of the system that processes ran on.
fn hosts(cube: &Cube) -> usize {
    let mut nodes: Vec<usize> = cube.location_groups.iter().map(|group| group.system_tree_node.0).collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes.len()
}

fn findings(cube: &Cube) -> Vec<String> {
    let named = cube.attributes.iter().filter_map(|it| Some((it.key.strip_prefix(FINDINGS)?, &it.value)));
    named.filter(|(_, count)| *count != "0").map(|(name, count)| format!("{name} {count}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rank_without_a_partner_sends_no_large_message() {
        let of = |processes| calls(processes).into_iter().find(|(name, _)| *name == "MPI_Send").unwrap().1;
        assert_eq!((of(2), of(3), of(4)), (1, 1, 2));
        assert_eq!(sums(3)[2], ("bytes_sent", 30 * 1024 + (1 << 20)));
    }

    #[test]
    fn report_that_is_missing_is_an_error() {
        assert!(compare(Path::new("/nowhere"), 2).unwrap_err().to_string().contains("/nowhere/trace.cubex"));
    }
}
