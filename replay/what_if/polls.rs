//! Poll loops: tests and probes in a row, each short after the one before, are one completion if the last one succeeds (what-if 2.7).
//!
//! Nothing in a trace tells waiting from overlap better: after longer gaps the loop does something else meanwhile, which is work.

use model::{Ticks, mpi};

use super::completing::Completes;
use super::marks::Marks;
use crate::ids::{EventNumber, JournalPosition, Row};
use crate::trace::Trace;
use crate::walk::{Note, Noted, Walked};

/// Parts of a second from which on a gap between two polls is work.
const GAPS: u64 = 50_000;

/// The polls of a location.
#[derive(Debug)]
pub(super) struct Polls<'a> {
    /// By row: the kind of poll that its calls are.
    kinds: &'a [Option<mpi::Polling>],
    /// Where the calls were entered that found nothing, ascending.
    vain: Vec<JournalPosition>,
    /// The least gap that is work.
    gap: Ticks,
}

impl<'a> Polls<'a> {
    /// By thread of a process.
    pub(super) fn of_threads(
        trace: &Trace,
        walked: &Walked,
        kinds: &'a [Vec<Option<mpi::Polling>>],
    ) -> Vec<Polls<'a>> {
        let first = walked.process.range().start;
        let gap = Ticks::try_from(trace.definitions.clock.resolution / GAPS).unwrap_or(Ticks::MAX);
        let mut polls: Vec<Polls<'a>> =
            kinds.iter().map(|kinds| Polls { kinds, vain: Vec::new(), gap }).collect();
        for (poll, _) in walked.operations.polls.iter() {
            let call = walked.operations.call(poll.call);
            if call.entered != EventNumber::NONE {
                polls[call.site.location as usize - first].vain.push(call.entered.in_journal());
            }
        }
        polls.iter_mut().for_each(|of| of.vain.sort_unstable());
        polls
    }

    fn kind(&self, row: Row) -> Option<mpi::Polling> {
        self.kinds.get(row.index()).copied().flatten()
    }
}

/// A poll loop while the marks of a location are made.
#[derive(Debug, Default)]
pub(super) struct Polling {
    /// The mark of its first enter, and when its last call ended.
    going: Option<(usize, Ticks)>,
    /// The current call: its mark, whether it polls, whether it does in vain.
    call: Option<(usize, bool, bool)>,
    /// Whether its last call was a probe that has found a message, which the next call receives.
    has_found: bool,
}

impl Polling {
    /// Takes a note before its mark is made. If that ends a loop, the marks behind its first enter are forgotten.
    pub(super) fn take(&mut self, marks: &mut Marks, note: &Note, completes: Completes, polls: &Polls<'_>) {
        match note.what {
            Noted::Enter(row) => {
                let kind = polls.kind(row).filter(|kind| *kind != mpi::Polling::Status);
                // The position of a call's enter is that of its mark.
                let is_vain = kind.is_some() && polls.vain.binary_search(&note.position).is_ok();
                if self.going.is_some_and(|(_, left)| note.time - left >= polls.gap) {
                    *self = Polling::default();
                }
                self.call = Some((marks.list.len(), kind.is_some(), is_vain));
            }
            Noted::Leave => {
                let Some((mark, is_poll, is_vain)) = self.call.take() else {
                    return *self = Polling::default();
                };
                match (is_poll, completes) {
                    (true, Completes::Nothing) => {
                        let first = self.going.map_or(mark, |(first, _)| first);
                        self.going = Some((first, note.time));
                        self.has_found = !is_vain;
                    }
                    (true, _) | (false, Completes::Receives) if is_poll || self.has_found => {
                        if let Some((first, _)) = self.going {
                            marks.cut_behind(first);
                        }
                        *self = Polling::default();
                    }
                    _ => *self = Polling::default(),
                }
            }
            _ => *self = Polling::default(),
        }
    }
}
