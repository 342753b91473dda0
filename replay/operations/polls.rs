//! Polls: tests in which nothing completes, and probes that find nothing without waiting for it (MPI 4.1, sections 3.7 and 3.8;
//! rest of MPI 6.3).

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
    /// Where its operations begin and end.
    asked: [u32; 2],
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
        let asked = self.ask(asked);
        self.list.push(Poll { call, is_any, asked });
        self.list.len() - 1
    }

    /// Says of a poll that it asks for these operations.
    ///
    /// # Panics
    /// If there is no such poll.
    pub fn tell(&mut self, poll: usize, asked: impl IntoIterator<Item = Asked>) {
        self.list[poll].asked = self.ask(asked);
    }

    fn ask(&mut self, asked: impl IntoIterator<Item = Asked>) -> [u32; 2] {
        let first = to_u32(self.asked.len());
        self.asked.extend(asked);
        [first, to_u32(self.asked.len())]
    }

    /// The polls, each with what it asks for.
    pub fn iter(&self) -> impl Iterator<Item = (&Poll, &[Asked])> {
        self.list.iter().map(|poll| {
            let [first, end] = poll.asked.map(|at| at as usize);
            (poll, &self.asked[first..end])
        })
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
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
        let later = polls.add(call, true, []);
        polls.add(call, false, []);
        polls.tell(later, [Asked::Receive(9), Asked::Receive(7)]);
        let asked: Vec<&[Asked]> = polls.iter().map(|(_, asked)| asked).collect();
        let told = [Asked::Receive(9), Asked::Receive(7)];
        assert_eq!(asked, [&[Asked::Receive(3), Asked::Collective(4)][..], &told, &[]]);
    }
}
