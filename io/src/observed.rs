//! What was seen of the calls of all ranks: what is inefficient is looked for in it (io.md 5.3).

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::beneath::{Beneath, Bottom, bottoms};
use crate::bytes::Reads;
use crate::calls::Calls;
use crate::defects::{AtCall, Sums};
use crate::facts::FileFacts;
use crate::finding::{Finding, Findings};
use crate::heat::Heat;
use crate::inefficiency::RequestTotals;
use crate::look::{Seen, look_at};
use crate::numbers::sum;
use crate::outline::Sizes;
use crate::records::Walked;
use crate::thresholds::Thresholds;
use crate::together::Together;
use crate::transfer::Transfer;
use crate::transfers::Transfers;

/// What was seen of the calls of all ranks.
#[derive(Clone, Default, Debug)]
pub struct Observed {
    /// Transfers by file, of each rank, if they were kept.
    pub(crate) transfers: BTreeMap<u32, Vec<Transfers>>,
    /// What is the matter with requests, by file.
    pub(crate) requests: BTreeMap<u32, RequestTotals>,
    /// What operations of MPI-IO became, by file, of each rank.
    pub(crate) beneath: BTreeMap<u32, Vec<Vec<Beneath>>>,
    /// Sums by file and rank.
    pub(crate) calls: BTreeMap<(u32, u32), Calls>,
    /// Collective calls by handle and rank.
    pub(crate) together: BTreeMap<u64, BTreeMap<u32, Together>>,
}

/// What transfers tell.
#[derive(Clone, Default, Debug)]
pub struct Looked {
    /// What was read, by file; nothing of files in which it is unknown where any transfer lies, or with too many transfers.
    pub reads: BTreeMap<u32, Reads>,
    /// What is the matter with calls.
    pub sums: BTreeMap<AtCall, Sums>,
    /// Bytes over time, if they are asked for, and no file has too many transfers.
    pub heat: Option<Heat>,
    /// What is unknown.
    pub findings: Findings,
}

impl Observed {
    /// Looks at all transfers, one file after the other, and keeps them no longer: there may be millions. `facts` tell how large blocks
    /// are. With the length of the run in ticks of the clock, and the number of ranks, bytes over time are added up, too.
    pub fn look_at_transfers(
        &mut self,
        facts: &BTreeMap<u32, FileFacts>,
        limits: &Thresholds,
        run: Option<(u64, u64)>,
    ) -> Looked {
        let mut looked = Looked::default();
        let run = run.filter(|_| !self.transfers.values().flatten().any(Transfers::are_too_many));
        looked.heat = run.map(|(end, ranks)| Heat::new(0, end, ranks, self.largest_file()));
        for (file, lists) in std::mem::take(&mut self.transfers) {
            let Some(facts) = facts.get(&file) else { continue };
            if lists.iter().any(Transfers::are_too_many) {
                continue;
            }
            let sizes = Sizes { block: facts.alignment(limits.block_bytes), small: limits.small_bytes };
            let lock = facts.lock_block(limits.block_bytes);
            let show = |it: &Transfer| looked.heat.iter_mut().for_each(|heat| heat.add(file, it));
            let Seen { requests, reads } = look_at(&lists, (lock, sizes), &mut looked.sums, show);
            self.requests.insert(file, requests);
            looked.reads.extend(reads.map(|reads| (file, reads)));
            if reads.is_none() && lists.iter().any(Transfers::has_reads) {
                looked.findings.add(Finding::UnknownReads);
            }
        }
        looked
    }

    /// The file with most bytes, of equals the first, and its first byte and what is behind the last one, as far as places are known.
    fn largest_file(&self) -> Option<(u32, (u64, u64))> {
        let bytes = |of_file: &[Transfers]| sum(of_file.iter().map(Transfers::bytes));
        let (number, lists) =
            self.transfers.iter().max_by_key(|(number, lists)| (bytes(lists), Reverse(**number)))?;
        let places = lists.iter().filter_map(Transfers::places);
        let all = places.reduce(|all, own| (all.0.min(own.0), all.1.max(own.1)));
        Some((*number, all.unwrap_or((0, 0))))
    }

    /// What operations on each file became, of all ranks.
    pub fn bottoms(&self) -> BTreeMap<u32, Vec<Bottom>> {
        let of_ranks = |ranks: &[Vec<Beneath>]| bottoms(ranks.iter().map(Vec::as_slice));
        self.beneath.iter().map(|(file, ranks)| (*file, of_ranks(ranks))).collect()
    }

    /// Adds a rank, and takes what nothing else needs from what came out of its records.
    pub fn add(&mut self, rank: u32, walked: &mut Walked) {
        for (file, own) in std::mem::take(&mut walked.transfers) {
            self.transfers.entry(file).or_default().push(own);
        }
        for (file, own) in std::mem::take(&mut walked.beneath) {
            self.beneath.entry(file).or_default().push(own);
        }
        self.calls.extend(walked.facts.iter().map(|(file, facts)| ((*file, rank), facts.calls)));
        for (handle, own) in std::mem::take(&mut walked.together) {
            self.together.entry(handle).or_default().insert(rank, own);
        }
    }
}
