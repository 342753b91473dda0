//! What ranks did to files, from all workers to worker 0, and what they moved, to the workers that look at it.

use std::collections::BTreeMap;

use io_model::{Extent, FileFacts, FileTransfers, Looked, Transfers, Walked};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Error;
use crate::exchange::batch::{BatchReader, put_bytes};
use crate::exchange::{Batch, Exchange, share};
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

/// Appends a value to a batch.
pub(super) fn put(batch: &mut Batch, value: &impl Serialize) {
    // Nothing can fail where bytes are appended to a list.
    put_bytes(batch, &postcard::to_allocvec(value).unwrap_or_default());
}

/// The values of batches, in their order.
pub(super) fn all<T: DeserializeOwned>(batches: &[Batch]) -> impl Iterator<Item = T> {
    batches.iter().flat_map(|words| {
        let mut reader = BatchReader::new(words);
        std::iter::from_fn(move || {
            let bytes = (!reader.is_empty()).then(|| reader.bytes())?;
            match postcard::from_bytes(&bytes) {
                Ok(value) => Some(value),
                Err(error) => unreachable!("{error}"),
            }
        })
    })
}

/// Sends what ranks did to worker 0, which gets that of all, in the order of ranks; the others get nothing.
///
/// # Errors
/// If a worker failed.
pub(super) fn gather(own: Vec<OfRank>, exchange: &mut dyn Exchange) -> Result<Vec<OfRank>, Error> {
    // Worker 0 has the first ranks, which stay where they are.
    let (mut batch, mut ranks) = (Batch::new(), Vec::new());
    match exchange.worker() {
        0 => ranks.extend(own),
        _ => own.into_iter().for_each(|OfRank { rank, walked }| put(&mut batch, &(rank, walked))),
    }
    let gathered = crate::exchange::gather(exchange, batch)?;
    ranks.extend(all(&gathered).map(|(rank, walked)| OfRank { rank, walked }));
    Ok(ranks)
}

/// Sends the transfers of ranks, which leave `own`, to the workers that look at their files: these are dealt out to workers in turn.
/// There may be millions of them, so that those that stay are not encoded.
///
/// # Errors
/// If a worker failed.
pub(super) fn spread(
    own: &mut [OfRank],
    exchange: &mut dyn Exchange,
) -> Result<BTreeMap<u32, FileTransfers>, Error> {
    let mut outgoing = vec![Batch::new(); exchange.workers()];
    let mut lists: Vec<(u32, u32, FileFacts, Transfers)> = Vec::new();
    for OfRank { rank, walked } in own {
        for (file, list) in std::mem::take(&mut walked.transfers) {
            // Of the facts of a rank hints alone tell how large blocks are.
            let hints = walked.facts.get(&file).map(|facts| facts.hints.clone()).unwrap_or_default();
            let one = (file, *rank, FileFacts { hints, ..FileFacts::default() }, list);
            match file as usize % exchange.workers() {
                owner if owner == exchange.worker() => lists.push(one),
                owner => put(&mut outgoing[owner], &one),
            }
        }
    }
    lists.extend(all::<(u32, u32, FileFacts, Transfers)>(&exchange.exchange(outgoing)?));
    lists.sort_by_key(|(file, rank, ..)| (*file, *rank));
    let mut files: BTreeMap<u32, FileTransfers> = BTreeMap::new();
    for (file, _, facts, list) in lists {
        let all = files.entry(file).or_default();
        all.facts.merge(&facts);
        all.lists.push(list);
    }
    Ok(files)
}

/// How large the files are that all workers look at.
///
/// # Errors
/// If a worker failed.
pub(super) fn extents(
    files: &BTreeMap<u32, FileTransfers>,
    exchange: &mut dyn Exchange,
) -> Result<Vec<Extent>, Error> {
    let mut batch = Batch::new();
    files.iter().for_each(|(file, it)| put(&mut batch, &it.extent(*file)));
    Ok(all(&share(exchange, batch)?).collect())
}

/// What all workers have seen, at worker 0; its own at others. Sums of calls are left out, as they go where their ranks are.
///
/// # Errors
/// If a worker failed.
pub(super) fn put_together(mut looked: Looked, exchange: &mut dyn Exchange) -> Result<Looked, Error> {
    looked.sums.clear();
    let mut batch = Batch::new();
    if exchange.worker() > 0 {
        put(&mut batch, &looked);
    }
    all(&crate::exchange::gather(exchange, batch)?).for_each(|other| looked.merge(other));
    Ok(looked)
}
