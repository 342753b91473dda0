//! Metrics that the model of file I/O fills (io.md 5.2): what workers have found at calls goes to the workers of their ranks, which add it
//! to severities.

use std::collections::BTreeMap;

use io_model::{AtCall, Defect, Sums};

use crate::error::Error;
use crate::exchange::{Batch, Exchange};
use crate::ids::PathId;
use crate::metrics::FileModelMetrics;
use crate::severity::amount;
use crate::tools::Tools;
use crate::walk::Walked;
use crate::wire::{self, Wire, wire};

/// What was found at a call path of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Found {
    rank: u32,
    thread: u32,
    /// The number in the process.
    path: PathId,
    /// Calls that read, and calls that write, by [`Defect`].
    calls: [[u64; Defect::ALL.len()]; 2],
    own: u64,
    again: u64,
}

wire!(Found { [rank, thread], path, calls, own, again });

/// Adds what this worker has found at ranks, `sums`, to the severities of these, wherever they are; and what others have found at its own.
///
/// # Errors
/// If a worker failed.
pub(super) fn add(
    tools: &Tools<'_>,
    sums: &BTreeMap<AtCall, Sums>,
    walked: &mut [Walked],
    exchange: &mut dyn Exchange,
) -> Result<(), Error> {
    // Where the reference is followed there are no such metrics; all workers know that.
    let Some(metrics) = &tools.metrics.file_model else { return Ok(()) };
    let mut outgoing = vec![Batch::new(); exchange.workers()];
    for (&AtCall { rank, thread, call_path }, &Sums { calls, own, again }) in sums {
        let found = Found { rank, thread, path: PathId::new(call_path as usize), calls, own, again };
        found.put(&mut outgoing[tools.owners.of(rank as usize)]);
    }
    let first = tools.owners.first(exchange.worker());
    for batch in exchange.exchange(outgoing)? {
        for found in wire::all::<Found>(&batch) {
            add_found(tools, metrics, &found, &mut walked[found.rank as usize - first]);
        }
    }
    Ok(())
}

fn add_found(tools: &Tools<'_>, metrics: &FileModelMetrics, found: &Found, walked: &mut Walked) {
    let severities = &mut walked.results.severities[found.thread as usize];
    // A thread has a row for each call path that it was in.
    let Some(row) = severities.find_row(found.path) else { return };
    let mut add = |metric, value| {
        if value > 0 {
            severities.add(metric, row, amount(value));
        }
    };
    for way in 0..2 {
        // Others than calls that read and write may do so, too, as one that closes a stream: they are none of those that are counted
        // (io.md 5.2).
        if tools.formulas.selects(metrics.calls[way], &walked.process.paths, found.path) {
            metrics.defects[way]
                .into_iter()
                .zip(found.calls[way])
                .for_each(|(metric, value)| add(metric, value));
        }
    }
    add(metrics.own, found.own);
    add(metrics.again, found.again);
}
