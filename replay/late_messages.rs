//! The late messages of a process that have not been overtaken yet.

use std::collections::VecDeque;

use model::Ticks;

use crate::options::Semantics;

/// A late message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Late {
    /// The time at which it was sent.
    pub sent: Ticks,
    /// How long the receiver waited for it.
    pub idle: Ticks,
    /// Its position among the receives.
    pub receive: u32,
    /// The number of messages that were reported before.
    reported: u32,
}

/// Late messages by the time at which they were sent, so that those sent after a given time are found
/// quickly.
#[derive(Clone, Debug)]
pub struct LateMessages {
    /// Sorted by key. Messages sent after one that was just received have been overtaken and are removed, so
    /// new ones come last, or nearly last.
    by_send: Vec<Late>,
    /// Keys in the order in which the messages were reported; empty if there is no limit. Keys of overtaken
    /// messages stay until they are the oldest.
    by_age: VecDeque<(Ticks, u32)>,
    limit: Option<usize>,
    reported: u32,
}

impl Late {
    fn key(&self) -> (Ticks, u32) {
        (self.sent, self.reported)
    }
}

impl LateMessages {
    /// Makes an empty list.
    pub fn new(semantics: Semantics) -> LateMessages {
        LateMessages {
            by_send: Vec::new(),
            by_age: VecDeque::new(),
            limit: semantics.remembered(),
            reported: 0,
        }
    }

    /// Adds a message, which stays until it is overtaken.
    pub fn remember(&mut self, sent: Ticks, idle: Ticks, receive: u32) {
        let late = Late { sent, idle, receive, reported: self.reported };
        self.reported = self.reported.wrapping_add(1);
        if let Some(limit) = self.limit {
            while self.by_send.len() >= limit
                && let Some(oldest) = self.by_age.pop_front()
            {
                if let Ok(at) = self.by_send.binary_search_by_key(&oldest, Late::key) {
                    self.by_send.remove(at);
                }
            }
            self.by_age.push_back(late.key());
        }
        let later = self.by_send.iter().rev().take_while(|known| known.key() > late.key()).count();
        self.by_send.insert(self.by_send.len() - later, late);
    }

    /// Removes and returns the messages that were sent after `sent`, the time at which the message just
    /// received was sent.
    #[inline]
    pub fn overtaken(&mut self, sent: Ticks) -> impl Iterator<Item = Late> {
        let later = self.by_send.iter().rev().take_while(|late| late.sent > sent).count();
        self.by_send.drain(self.by_send.len() - later..)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overtaken_at(memory: &mut LateMessages, sent: Ticks) -> Vec<Ticks> {
        memory.overtaken(sent).map(|late| late.sent).collect()
    }

    #[test]
    fn only_messages_sent_strictly_later_are_overtaken_and_only_once() {
        let mut memory = LateMessages::new(Semantics::Corrected);
        [5, 9, 7, 7].into_iter().for_each(|sent| memory.remember(sent, 1, 0));
        assert_eq!(overtaken_at(&mut memory, 7), [9]);
        assert_eq!(overtaken_at(&mut memory, 6), [7, 7]);
        assert!(overtaken_at(&mut memory, 6).is_empty());
        assert_eq!(overtaken_at(&mut memory, 0), [5]);
    }

    #[test]
    fn reference_forgets_the_oldest_of_more_than_a_hundred() {
        let counts = [Semantics::Reference, Semantics::Corrected].map(|semantics| {
            let mut memory = LateMessages::new(semantics);
            (1..=150).for_each(|sent| memory.remember(sent, 1, 0));
            let newest = overtaken_at(&mut memory, 140).len();
            (151..=155).for_each(|sent| memory.remember(sent, 1, 0));
            (newest, overtaken_at(&mut memory, 0))
        });
        assert_eq!(counts[0], (10, (51..=140).chain(151..=155).collect()));
        assert_eq!(counts[1], (10, (1..=140).chain(151..=155).collect()));
    }
}
