//! What ranks did to files, from all workers to worker 0.

use std::collections::BTreeMap;

use io_model::{FileFacts, Findings, Simple, Transfer, Walked};

use crate::error::Error;
use crate::exchange::batch::{BatchReader, put_bytes};
use crate::exchange::{Batch, Exchange};
use crate::ids::ReportPath;
use crate::int::to_u32;

/// What a rank did to files.
#[derive(Debug)]
pub(super) struct OfRank {
    pub(super) rank: u32,
    pub(super) walked: Walked,
}

/// As it is sent.
type Sent = (u32, Vec<Simple>, BTreeMap<u32, FileFacts>, BTreeMap<u32, Vec<Transfer>>, Findings);

impl OfRank {
    /// What a process did, with call paths of the report instead of its own.
    pub(super) fn new(rank: usize, mut walked: Walked, paths: &[ReportPath]) -> OfRank {
        for simple in &mut walked.simple {
            let path = paths.get(simple.call_path as usize).copied().unwrap_or(ReportPath::NONE);
            simple.call_path = to_u32(path.index());
        }
        OfRank { rank: to_u32(rank), walked }
    }
}

/// Sends what ranks did to worker 0, which gets that of all, in the order of ranks; the others get nothing.
///
/// # Errors
/// If a worker failed.
pub(super) fn gather(
    own: impl Iterator<Item = OfRank>,
    exchange: &mut dyn Exchange,
) -> Result<Vec<OfRank>, Error> {
    let mut batch = Batch::new();
    for OfRank { rank, walked: Walked { simple, facts, transfers, findings } } in own {
        let sent: Sent = (rank, simple, facts, transfers, findings);
        // Keys are texts and numbers, so nothing can fail.
        put_bytes(&mut batch, &serde_json::to_vec(&sent).unwrap_or_default());
    }
    let mut ranks = Vec::new();
    for words in crate::exchange::gather(exchange, batch)? {
        let mut reader = BatchReader::new(&words);
        while !reader.is_empty() {
            let sent: Sent = match serde_json::from_slice(&reader.bytes()) {
                Ok(sent) => sent,
                Err(error) => unreachable!("{error}"),
            };
            let (rank, simple, facts, transfers, findings) = sent;
            ranks.push(OfRank { rank, walked: Walked { simple, facts, transfers, findings } });
        }
    }
    Ok(ranks)
}
