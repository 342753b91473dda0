//! What there was of events: why rules over them find nothing (advice 5.2 and 5.3).

use rules::{EventKind, Outcome, Rules};

use crate::error::Error;
use crate::exchange::{Exchange, share};
use crate::walk::{MOST_OPEN, Unpaired};

/// Rows by event, and calls that are no pair.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct EventCounts(Vec<(u64, Unpaired)>);

impl EventCounts {
    /// None of so many events.
    pub(super) fn new(events: usize) -> EventCounts {
        EventCounts(vec![(0, Unpaired::default()); events])
    }

    /// Counts a row of an event.
    pub(super) fn add_row(&mut self, event: usize) {
        self.0[event].0 += 1;
    }

    /// Adds calls of a process, by event.
    pub(super) fn add_unpaired(&mut self, unpaired: &[Unpaired]) {
        self.0.iter_mut().zip(unpaired).for_each(|((_, all), own)| all.add(own));
    }

    /// Adds those of all workers.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn of_all(self, exchange: &mut dyn Exchange) -> Result<EventCounts, Error> {
        let mut all = EventCounts::new(self.0.len());
        let words = self.0.iter().flat_map(|(rows, it)| [*rows, it.begins, it.ends, it.is_too_many.into()]);
        for words in share(exchange, words.collect())? {
            for ((rows, all), told) in all.0.iter_mut().zip(words.as_chunks().0) {
                let &[more, begins, ends, is_too_many] = told;
                *rows += more;
                all.add(&Unpaired { begins, ends, is_too_many: is_too_many != 0 });
            }
        }
        Ok(all)
    }

    /// Takes away what rules over events find that are not known as a whole. Returns rules that cannot be judged for that, or because
    /// there is nothing of their events, with the reason.
    pub(super) fn judge(&self, rules: &Rules, outcome: &mut Outcome) -> Vec<(usize, String)> {
        let mut unjudged = Vec::new();
        for (position, rule) in rules.rules().iter().enumerate() {
            let Some(event) = rule.over().event else { continue };
            let (rows, Unpaired { begins, ends, is_too_many }) = self.0[event];
            let id = rules.events()[event].id();
            let reason = match rules.events()[event].kind() {
                _ if is_too_many => {
                    format!("more than {MOST_OPEN} begins of {id} without an end on a thread")
                }
                _ if rows > 0 => continue,
                EventKind::Visits { .. } => format!("no visit of {id}"),
                EventKind::Pairs { .. } => {
                    format!("no pair of {id}: {begins} begins without an end, {ends} ends without a begin")
                }
            };
            outcome.findings.retain(|finding| finding.rule != position);
            outcome.not_evaluated.retain(|it| it.rule != position);
            unjudged.push((position, reason));
        }
        unjudged
    }
}
