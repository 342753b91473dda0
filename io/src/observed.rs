//! What was seen of the calls of all ranks: what is inefficient is looked for in it (io.md 5.3).

use std::collections::BTreeMap;

use crate::beneath::{Beneath, Bottom, bottoms};
use crate::calls::Calls;
use crate::inefficiency::RequestTotals;
use crate::looked::Looked;
use crate::records::Walked;
use crate::together::Together;

/// What was seen of the calls of all ranks.
#[derive(Clone, Default, Debug)]
pub struct Observed {
    /// What is the matter with requests, by file.
    pub(crate) requests: BTreeMap<u32, RequestTotals>,
    /// What operations of MPI-IO became, by file, of each rank.
    pub(crate) beneath: BTreeMap<u32, Vec<Vec<Beneath>>>,
    /// Sums by file and rank.
    pub(crate) calls: BTreeMap<(u32, u32), Calls>,
    /// Collective calls by handle and rank.
    pub(crate) together: BTreeMap<u64, BTreeMap<u32, Together>>,
}

impl Observed {
    /// What operations on each file became, of all ranks.
    pub fn bottoms(&self) -> BTreeMap<u32, Vec<Bottom>> {
        let of_ranks = |ranks: &[Vec<Beneath>]| bottoms(ranks.iter().map(Vec::as_slice));
        self.beneath.iter().map(|(file, ranks)| (*file, of_ranks(ranks))).collect()
    }

    /// Takes what all transfers tell of requests.
    pub fn add_requests(&mut self, looked: &mut Looked) {
        self.requests.append(&mut looked.requests);
    }

    /// Adds a rank, and takes what nothing else needs from what came out of its records.
    pub fn add(&mut self, rank: u32, walked: &mut Walked) {
        for (file, own) in std::mem::take(&mut walked.beneath) {
            self.beneath.entry(file).or_default().push(own);
        }
        self.calls.extend(walked.facts.iter().map(|(file, facts)| ((*file, rank), facts.calls)));
        for (handle, own) in std::mem::take(&mut walked.together) {
            self.together.entry(handle).or_default().insert(rank, own);
        }
    }
}
