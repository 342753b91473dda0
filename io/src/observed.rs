//! What was seen of the calls of all ranks: what is inefficient is looked for in it (io.md 5.3).

use std::collections::BTreeMap;

use crate::beneath::{Beneath, Bottom, bottoms};
use crate::bytes::Transfer;
use crate::calls::Calls;
use crate::records::Walked;
use crate::together::Together;
use crate::transfers::Transfers;

/// What was seen of the calls of all ranks.
#[derive(Clone, Default, Debug)]
pub struct Observed {
    /// Transfers by file, if they were kept.
    pub transfers: BTreeMap<u32, Vec<Transfers>>,
    /// What operations of MPI-IO became, by file, of each rank.
    pub(crate) beneath: BTreeMap<u32, Vec<Vec<Beneath>>>,
    /// Sums by file and rank.
    pub(crate) calls: BTreeMap<(u32, u32), Calls>,
    /// Collective calls by handle and rank.
    pub(crate) together: BTreeMap<u64, BTreeMap<u32, Together>>,
}

impl Observed {
    /// The transfers of a file; `None` if there are too many to look at.
    pub fn of_file(&self, file: u32) -> Option<Vec<Transfer>> {
        let lists = self.transfers.get(&file).map_or(&[][..], Vec::as_slice);
        if lists.iter().any(Transfers::are_too_many) {
            return None;
        }
        let mut all = Vec::with_capacity(lists.iter().map(Transfers::len).sum());
        lists.iter().for_each(|list| all.extend(list.iter()));
        Some(all)
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
