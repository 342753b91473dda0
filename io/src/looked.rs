//! What transfers of several files tell, which workers look at for themselves: each at some of the files.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::bytes::Reads;
use crate::defects::{AtCall, Sums};
use crate::facts::FileFacts;
use crate::finding::{Finding, Findings};
use crate::heat::Heat;
use crate::inefficiency::RequestTotals;
use crate::look::{Seen, look_at};
use crate::numbers::{hull, sum};
use crate::outline::Sizes;
use crate::thresholds::Thresholds;
use crate::transfer::Transfer;
use crate::transfers::Transfers;

/// The transfers of all ranks on a file.
#[derive(Clone, Default, Debug)]
pub struct FileTransfers {
    /// Those of each rank, in the order of ranks.
    pub lists: Vec<Transfers>,
    /// What is known of the file, as far as it tells how large blocks are: hints, stripes and blocks.
    pub facts: FileFacts,
}

/// How large a file is that a worker looks at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Extent {
    /// Number of the file.
    file: u32,
    /// Bytes moved.
    bytes: u64,
    /// The first byte that was moved and what is behind the last one, if any place is known.
    places: Option<(u64, u64)>,
    /// Whether a rank has more transfers than are kept.
    is_too_much: bool,
}

/// What transfers tell.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub struct Looked {
    /// What is the matter with requests, by file.
    pub(crate) requests: BTreeMap<u32, RequestTotals>,
    /// What was read, by file; nothing of files in which it is unknown where any transfer lies, or with too many transfers.
    pub reads: BTreeMap<u32, Reads>,
    /// What is the matter with calls.
    pub sums: BTreeMap<AtCall, Sums>,
    /// Bytes over time, if they are asked for, and no file has too many transfers.
    pub heat: Option<Heat>,
    /// What is unknown.
    pub findings: Findings,
}

impl FileTransfers {
    /// How large the file with this number is.
    pub fn extent(&self, file: u32) -> Extent {
        let places = self.lists.iter().filter_map(Transfers::places);
        Extent {
            file,
            bytes: sum(self.lists.iter().map(Transfers::bytes)),
            places: places.reduce(hull),
            is_too_much: self.lists.iter().any(Transfers::are_too_many),
        }
    }
}

/// No bytes over time yet, of a run of so many ticks of the clock with so many ranks, in which all files have these extents. By place it
/// shows the file with most bytes, of equals the first. `None` if a file has too many transfers.
pub fn heat(extents: &[Extent], (end, ranks): (u64, u64)) -> Option<Heat> {
    let largest = extents.iter().max_by_key(|it| (it.bytes, Reverse(it.file)));
    let is_known = !extents.iter().any(|it| it.is_too_much);
    let shown = largest.map(|it| (it.file, it.places.unwrap_or((0, 0))));
    is_known.then(|| Heat::new(0, end, ranks, shown))
}

/// Looks at the transfers of some files, by their numbers; bytes over time are added to `heat`.
pub fn look_at_transfers(
    files: &BTreeMap<u32, FileTransfers>,
    limits: &Thresholds,
    heat: Option<Heat>,
) -> Looked {
    let mut looked = Looked { heat, ..Looked::default() };
    for (&file, FileTransfers { lists, facts }) in files {
        if lists.iter().any(Transfers::are_too_many) {
            continue;
        }
        let sizes = Sizes { block: facts.alignment(limits.block_bytes), small: limits.small_bytes };
        let lock = facts.lock_block(limits.block_bytes);
        let show = |it: &Transfer| looked.heat.iter_mut().for_each(|heat| heat.add(file, it));
        let Seen { requests, reads } = look_at(lists, (lock, sizes), &mut looked.sums, show);
        looked.requests.insert(file, requests);
        looked.reads.extend(reads.map(|reads| (file, reads)));
        if reads.is_none() && lists.iter().any(Transfers::has_reads) {
            looked.findings.add(Finding::UnknownReads);
        }
    }
    looked
}

impl Looked {
    /// Adds what other files tell, but for calls: their sums go where their ranks are.
    pub fn merge(&mut self, other: Looked) {
        self.requests.extend(other.requests);
        self.reads.extend(other.reads);
        self.findings.merge(&other.findings);
        if let (Some(own), Some(their)) = (&mut self.heat, &other.heat) {
            own.merge(their);
        }
    }
}
