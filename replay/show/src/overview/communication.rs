//! What communication consists of, in words, as far as metrics prove it.

use super::{ClassTime, Run};
use crate::error::Result;
use crate::values::Values;

/// Bytes of a message that is small: sending it takes as long as sending nothing.
const SMALL: f64 = 1024.0;

/// How functions begin that make requests which are no messages; calls that wait for requests count as messages.
const OTHER_REQUESTS: [&str; 16] = [
    "MPI_Iallgather",
    "MPI_Iallreduce",
    "MPI_Ialltoall",
    "MPI_Ibarrier",
    "MPI_Ibcast",
    "MPI_Icomm_",
    "MPI_Iexscan",
    "MPI_Igather",
    "MPI_Ineighbor_",
    "MPI_Ireduce",
    "MPI_Iscan",
    "MPI_Iscatter",
    "MPI_File_i",
    "MPI_Raccumulate",
    "MPI_Rget",
    "MPI_Rput",
];

/// How collective operations with persistent requests end; those of messages do, too, but begin otherwise.
const PERSISTENT: &str = "_init";
const PERSISTENT_MESSAGES: [&str; 9] = [
    "MPI_Send_init",
    "MPI_Bsend_init",
    "MPI_Rsend_init",
    "MPI_Ssend_init",
    "MPI_Recv_init",
    "MPI_Psend_init",
    "MPI_Precv_init",
    "MPI_T_init",
    "MPI_Session_init",
];

/// The kind that most of the communication is, of so many seconds; `None` if no kind provably has half of it.
///
/// # Errors
/// If values cannot be read.
pub(super) fn most(
    values: &Values<'_>,
    run: &Run,
    classes: &[ClassTime],
    communication: f64,
) -> Result<Option<&'static str>> {
    let of = |name: &str| classes.iter().find(|class| class.name == name).map_or(0.0, |class| class.seconds);
    let is_most = |seconds: f64| seconds > 0.0 && 2.0 * seconds >= communication;
    if is_most(of("collectives") + barriers(values, run, of("synchronization"))?) {
        return Ok(Some("in collective operations"));
    }
    let one_sided =
        run.sum_of(values, "mpi_rma_communication")? + run.sum_of(values, "mpi_rma_synchronization")?;
    if is_most(one_sided) {
        return Ok(Some("in one-sided communication and its synchronization"));
    }
    let sends = run.sum_of(values, "comms_send")?;
    if !is_most(of("messages")) || sends <= 0.0 || has_other_requests(values, run) {
        return Ok(None);
    }
    let is_small = values.find("bytes_sent").is_some() && run.sum_of(values, "bytes_sent")? / sends < SMALL;
    Ok(Some(if is_small { "in small messages" } else { "in messages" }))
}

/// Time in barriers that is no waiting; one-sided synchronisation is in the same class.
fn barriers(values: &Values<'_>, run: &Run, synchronization: f64) -> Result<f64> {
    if values.find("mpi_sync_collective").is_some() {
        return Ok(run.sum_of(values, "mpi_sync_collective")? - run.sum_of(values, "mpi_barrier_wait")?);
    }
    // A report that does not tell them apart proves nothing.
    Ok(if values.find("mpi_synchronization").is_some() { 0.0 } else { synchronization })
}

/// Whether the run has requests that are no messages.
pub(super) fn has_other_requests(values: &Values<'_>, run: &Run) -> bool {
    let cube = values.cube();
    let called = cube.cnodes.iter().zip(&run.is_between).filter(|(_, is_between)| **is_between);
    called.map(|(cnode, _)| cube.regions[cnode.region.0].name.as_str()).any(makes_other_request)
}

/// Whether a function makes a request that is no message.
fn makes_other_request(function: &str) -> bool {
    let is_persistent = function.starts_with("MPI_")
        && function.ends_with(PERSISTENT)
        && !PERSISTENT_MESSAGES.contains(&function);
    is_persistent || OTHER_REQUESTS.iter().any(|begin| function.starts_with(begin))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_of_messages_are_told_from_others() {
        for function in
            ["MPI_Isend", "MPI_Ibsend", "MPI_Irsend", "MPI_Irecv", "MPI_Imrecv", "MPI_Recv_init", "init"]
        {
            assert!(!makes_other_request(function), "{function}");
        }
        for function in ["MPI_Ibcast", "MPI_Ialltoallw", "MPI_File_iread_at", "MPI_Rget", "MPI_Barrier_init"]
        {
            assert!(makes_other_request(function), "{function}");
        }
    }
}
