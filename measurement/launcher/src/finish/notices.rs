//! Notices about an archive that is complete all the same: collected while it is made, printed once.

use recording::{journal, layout};
use std::collections::BTreeMap;

/// Sentences for the user, each with the ranks that it is about.
#[derive(Clone, Default, Debug)]
pub(crate) struct Notices {
    of_ranks: BTreeMap<String, Vec<u32>>,
    losses: bool,
}

impl Notices {
    /// Adds a sentence about a process.
    pub(crate) fn note(&mut self, rank: u32, text: impl Into<String>) {
        let ranks = self.of_ranks.entry(text.into()).or_default();
        if ranks.last() != Some(&rank) {
            ranks.push(rank);
        }
    }

    /// Adds a sentence that is not about a process.
    pub(crate) fn remark(&mut self, text: impl Into<String>) {
        self.of_ranks.entry(text.into()).or_default();
    }

    /// Adds a sentence about something of a process that is missing in the archive.
    pub(crate) fn loss(&mut self, rank: u32, text: impl Into<String>) {
        self.losses = true;
        self.note(rank, text);
    }

    /// Adds sentences about what is missing of a location.
    pub(crate) fn losses_of(&mut self, location: u64, losses: &[String]) {
        let (rank, thread) = layout::rank_and_thread(location);
        for loss in losses {
            let of = if thread == 0 { String::new() } else { format!("thread {thread}: ") };
            self.loss(rank, format!("{of}{loss}"));
        }
    }

    /// Whether something is missing in the archive.
    pub(crate) fn has_losses(&self) -> bool {
        self.losses
    }

    /// Returns one line for each sentence; the same sentence of many ranks comes once.
    pub(crate) fn lines(&self) -> Vec<String> {
        let line = |(text, ranks): (&String, &Vec<u32>)| match ranks.is_empty() {
            true => text.clone(),
            false => format!("{}: {text}", name_ranks(ranks)),
        };
        self.of_ranks.iter().map(line).collect()
    }
}

/// Returns `rank 3`, or `ranks 0-3,7`.
pub(crate) fn name_ranks(ranks: &[u32]) -> String {
    let mut ranks = ranks.to_vec();
    ranks.sort_unstable();
    ranks.dedup();
    let plural = if ranks.len() == 1 { "" } else { "s" };
    format!("rank{plural} {}", journal::ranges(&ranks))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_sentence_of_many_ranks_comes_once() {
        let mut notices = Notices::default();
        for rank in [0, 1, 2, 5] {
            notices.note(rank, "paths were cut");
        }
        assert!(!notices.has_losses());
        notices.loss(3, "the disk was full");
        notices.loss(3, "the disk was full");
        notices.remark("so it is");
        assert_eq!(notices.lines(), ["ranks 0-2,5: paths were cut", "so it is", "rank 3: the disk was full"]);
        assert!(notices.has_losses());
    }
}
