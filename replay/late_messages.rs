//! The late messages of a process that nothing has overtaken yet.

use std::collections::VecDeque;

use model::Ticks;
use patterns::matched::LateMessage;

use crate::operations::{CallId, Place};
use crate::options::Semantics;

/// The reference remembers this many; when full it forgets the oldest (Q6).
const REFERENCE_LIMIT: usize = 100;

/// A message that was reported late.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Late {
    /// What patterns may see of it.
    pub message: LateMessage,
    /// How long it was awaited.
    pub idle: Ticks,
    /// The call that awaited it.
    pub call: CallId,
    /// Its length.
    pub bytes: u64,
    /// Where it was sent.
    pub cause: Place,
}

/// Late messages by the time at which they were sent, so that those sent after a given time are found at once.
#[derive(Clone, Debug)]
pub struct LateMessages {
    /// In the order of their keys: when they were sent, and how many were reported before. Whatever was sent after a message
    /// that has been received was overtaken, so new ones come last, or nearly.
    by_send: Vec<((Ticks, u64), Late)>,
    /// Keys in the order in which the messages were reported; only kept where there is a limit. Keys of messages that
    /// were overtaken stay until they are the oldest.
    by_age: VecDeque<(Ticks, u64)>,
    limit: Option<usize>,
    reported: u64,
}

impl LateMessages {
    /// Nothing late yet.
    pub fn new(semantics: Semantics) -> LateMessages {
        LateMessages {
            by_send: Vec::new(),
            by_age: VecDeque::new(),
            limit: (semantics == Semantics::Reference).then_some(REFERENCE_LIMIT),
            reported: 0,
        }
    }

    /// Remembers a message until it is overtaken.
    pub fn remember(&mut self, late: Late) {
        let key = (late.message.sent, self.reported);
        self.reported += 1;
        if let Some(limit) = self.limit {
            while self.by_send.len() >= limit
                && let Some(oldest) = self.by_age.pop_front()
            {
                if let Ok(at) = self.by_send.binary_search_by_key(&oldest, |&(key, _)| key) {
                    self.by_send.remove(at);
                }
            }
            self.by_age.push_back(key);
        }
        let later = self.by_send.iter().rev().take_while(|&&(known, _)| known > key).count();
        self.by_send.insert(self.by_send.len() - later, (key, late));
    }

    /// Forgets and answers the messages that were sent after `sent`: a message sent then has just been received.
    #[inline]
    pub fn overtaken(&mut self, sent: Ticks) -> impl Iterator<Item = Late> {
        let later = self.by_send.iter().rev().take_while(|&&((known, _), _)| known > sent).count();
        self.by_send.drain(self.by_send.len() - later..).map(|(_, late)| late)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn late(sent: Ticks) -> Late {
        Late { message: LateMessage { sent, source: 0 }, idle: 1, call: 0, bytes: 0, cause: Place::default() }
    }

    fn overtaken_at(memory: &mut LateMessages, sent: Ticks) -> Vec<Ticks> {
        memory.overtaken(sent).map(|late| late.message.sent).collect()
    }

    #[test]
    fn only_messages_sent_strictly_later_are_overtaken_and_only_once() {
        let mut memory = LateMessages::new(Semantics::Corrected);
        [5, 9, 7, 7].into_iter().for_each(|sent| memory.remember(late(sent)));
        assert_eq!(overtaken_at(&mut memory, 7), [9]);
        assert_eq!(overtaken_at(&mut memory, 6), [7, 7]);
        assert_eq!(overtaken_at(&mut memory, 6), []);
        assert_eq!(overtaken_at(&mut memory, 0), [5]);
    }

    #[test]
    fn reference_forgets_the_oldest_of_more_than_a_hundred() {
        let counts = [Semantics::Reference, Semantics::Corrected].map(|semantics| {
            let mut memory = LateMessages::new(semantics);
            (1..=150).for_each(|sent| memory.remember(late(sent)));
            let newest = overtaken_at(&mut memory, 140).len();
            (151..=155).for_each(|sent| memory.remember(late(sent)));
            (newest, overtaken_at(&mut memory, 0))
        });
        assert_eq!(counts[0], (10, (51..=140).chain(151..=155).collect()));
        assert_eq!(counts[1], (10, (1..=140).chain(151..=155).collect()));
    }
}
