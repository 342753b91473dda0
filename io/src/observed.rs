//! What was seen of the calls of all ranks: what is inefficient is looked for in it (io.md 5.3).

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::access::Kind;
use crate::beneath::{Beneath, Bottom, bottoms};
use crate::bytes::{Reads, Transfer};
use crate::calls::Calls;
use crate::defects::{AtCall, Marks, Sums, add_up};
use crate::facts::FileFacts;
use crate::finding::{Finding, Findings};
use crate::heat::Heat;
use crate::inefficiency::RequestTotals;
use crate::numbers::sum;
use crate::records::Walked;
use crate::thresholds::Thresholds;
use crate::together::Together;
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
            let Some((transfers, facts)) = decoded(&lists).zip(facts.get(&file)) else { continue };
            let sizes = (facts.alignment(limits.block_bytes), limits.small_bytes);
            let marks = Marks::new(&transfers, facts.lock_block(limits.block_bytes));
            self.requests.insert(file, RequestTotals::new(&transfers, &marks, sizes));
            match add_up(&transfers, &marks, sizes, &mut looked.sums) {
                Some(reads) => _ = looked.reads.insert(file, reads),
                None if transfers.iter().any(|it| it.kind == Kind::Read) => {
                    looked.findings.add(Finding::UnknownReads);
                }
                None => {}
            }
            looked.heat.iter_mut().for_each(|heat| heat.add(file, &transfers));
        }
        looked
    }

    /// The file with most bytes, of equals the first.
    fn largest_file(&self) -> Option<u32> {
        let bytes = |of_file: &[Transfers]| sum(of_file.iter().map(Transfers::bytes));
        let largest = self.transfers.iter().max_by_key(|(number, lists)| (bytes(lists), Reverse(**number)));
        largest.map(|(number, _)| *number)
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

/// The transfers of lists; `None` if there are too many.
fn decoded(lists: &[Transfers]) -> Option<Vec<Transfer>> {
    if lists.iter().any(Transfers::are_too_many) {
        return None;
    }
    let mut all = Vec::with_capacity(lists.iter().map(Transfers::len).sum());
    lists.iter().for_each(|list| all.extend(list.iter()));
    Some(all)
}
