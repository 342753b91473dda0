//! What ranks did to files, from all workers to worker 0.

use io_model::Walked;

use crate::error::Error;
use crate::exchange::batch::{BatchReader, put_bytes};
use crate::exchange::{Batch, Exchange};
use crate::ids::ReportPath;
use crate::int::to_u32;

/// What a rank did to files.
#[derive(Debug)]
pub(crate) struct OfRank {
    pub(super) rank: u32,
    pub(super) walked: Walked,
}

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
    // Worker 0 has the first ranks; there may be millions of operations, so they stay where they are.
    let (mut batch, mut ranks) = (Batch::new(), Vec::new());
    match exchange.worker() {
        0 => ranks.extend(own),
        _ => own.for_each(|OfRank { rank, walked }| {
            // Nothing can fail where bytes are appended to a list.
            put_bytes(&mut batch, &postcard::to_allocvec(&(rank, walked)).unwrap_or_default());
        }),
    }
    for words in crate::exchange::gather(exchange, batch)? {
        let mut reader = BatchReader::new(&words);
        while !reader.is_empty() {
            match postcard::from_bytes(&reader.bytes()) {
                Ok((rank, walked)) => ranks.push(OfRank { rank, walked }),
                Err(error) => unreachable!("{error}"),
            }
        }
    }
    Ok(ranks)
}
