//! What was seen of the calls of all ranks: what is inefficient is looked for in it (io.md 5.3).

use std::collections::BTreeMap;

use crate::bytes::Transfer;
use crate::calls::Calls;
use crate::records::Walked;
use crate::together::Together;

/// What was seen of the calls of all ranks.
#[derive(Clone, Default, Debug)]
pub struct Observed {
    /// Transfers by file, if they were kept.
    pub transfers: BTreeMap<u32, Vec<Transfer>>,
    /// Sums by file and rank.
    pub(crate) calls: BTreeMap<(u32, u32), Calls>,
    /// Collective calls by handle and rank.
    pub(crate) together: BTreeMap<u64, BTreeMap<u32, Together>>,
}

impl Observed {
    /// Adds a rank, and takes what nothing else needs from what came out of its records.
    pub fn add(&mut self, rank: u32, walked: &mut Walked) {
        for (file, own) in std::mem::take(&mut walked.transfers) {
            self.transfers.entry(file).or_default().extend(own);
        }
        self.calls.extend(walked.facts.iter().map(|(file, facts)| ((*file, rank), facts.calls)));
        for (handle, own) in std::mem::take(&mut walked.together) {
            self.together.entry(handle).or_default().insert(rank, own);
        }
    }
}
