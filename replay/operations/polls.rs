//! Polls: tests in which nothing completes, and probes that find nothing without waiting for it (MPI 4.1, sections 3.7 and 3.8;
//! rest of MPI 6.3).

use std::ops::Range;

use crate::ids::CallId;
use crate::int::to_u32;

/// An operation that a poll asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asked {
    /// The receive with this [number](super::Receive::posted).
    Receive(u32),
    /// The non-blocking collective operation at this position.
    Collective(u32),
    /// A send, or what the trace does not say.
    Unknown,
}

/// A poll of a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Poll {
    /// The call.
    pub call: CallId,
    /// Whether one of the operations is enough to end the polling (`MPI_Testany`, `MPI_Testsome`).
    pub is_any: bool,
    /// Where its operations begin.
    first: u32,
}

/// The polls of a process, in the order of their ends.
#[derive(Clone, Debug, Default)]
pub struct Polls {
    list: Vec<Poll>,
    asked: Vec<Asked>,
}

impl Polls {
    /// Adds a poll that asks for these operations; returns its position.
    pub fn add(&mut self, call: CallId, is_any: bool, asked: impl IntoIterator<Item = Asked>) -> usize {
        self.list.push(Poll { call, is_any, first: to_u32(self.asked.len()) });
        self.asked.extend(asked);
        self.list.len() - 1
    }

    /// Says of a poll with one unknown operation which it is.
    ///
    /// # Panics
    /// If there is no such poll, or it has no operation.
    pub fn tell(&mut self, poll: usize, asked: Asked) {
        let range = self.range(poll);
        self.asked[range.start] = asked;
    }

    /// The polls, each with what it asks for.
    pub fn iter(&self) -> impl Iterator<Item = (&Poll, &[Asked])> {
        self.list.iter().enumerate().map(|(at, poll)| (poll, &self.asked[self.range(at)]))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    fn range(&self, poll: usize) -> Range<usize> {
        let end = self.list.get(poll + 1).map_or(self.asked.len(), |next| next.first as usize);
        self.list[poll].first as usize..end
    }

    /// Frees the memory that only growing needs.
    pub(super) fn shrink(&mut self) {
        self.list.shrink_to_fit();
        self.asked.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polls_know_what_they_ask_for_once_it_is_told() {
        let mut polls = Polls::default();
        let call = CallId::default();
        polls.add(call, false, [Asked::Receive(3), Asked::Collective(4)]);
        let later = polls.add(call, true, [Asked::Unknown]);
        polls.add(call, false, []);
        polls.tell(later, Asked::Receive(9));
        let asked: Vec<&[Asked]> = polls.iter().map(|(_, asked)| asked).collect();
        assert_eq!(asked, [&[Asked::Receive(3), Asked::Collective(4)][..], &[Asked::Receive(9)], &[]]);
    }
}
