//! The messages of a process. There are many: they are packed, and the fields that a channel's messages share
//! are stored once.

use model::Ticks;
use rustc_hash::FxHashMap;

use super::flagged::Flagged;
use crate::ids::{CallId, EventNumber};
use crate::int::to_u32;

/// Envelope of a message: with the direction it decides which messages match (MPI 3.1, section 3.2.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Envelope {
    /// Position of the communicator in the definitions.
    pub communicator: u32,
    /// The process at the other end.
    pub peer: u32,
    /// The rank of that process in the communicator.
    pub rank: u32,
    /// The tag.
    pub tag: u32,
    /// Of a partitioned message the number of its pair of requests among those with this communicator, rank and tag, from 1;
    /// 0 for others, with which it never matches (rest of MPI 6.4).
    pub partitioned: u32,
}

/// Envelopes of messages in one direction, in the order of their first use.
#[derive(Clone, Debug, Default)]
pub struct Envelopes {
    list: Vec<Envelope>,
    /// Positions by communicator, rank, and tag with the number of partitioned ones.
    known: FxHashMap<(u32, u32, u64), u32>,
}

impl Envelopes {
    /// The position of the envelope with these communicator and rank, and these tag and number of partitioned messages, if it
    /// was added.
    #[inline]
    pub fn find(&self, communicator: u32, rank: u32, tag: (u32, u32)) -> Option<u32> {
        self.known.get(&(communicator, rank, joined(tag))).copied()
    }

    /// Adds an envelope and returns its position.
    pub fn add(&mut self, envelope: Envelope) -> u32 {
        let position = to_u32(self.list.len());
        let Envelope { communicator, rank, tag, partitioned, .. } = envelope;
        self.known.insert((communicator, rank, joined((tag, partitioned))), position);
        self.list.push(envelope);
        position
    }

    /// All envelopes.
    pub fn list(&self) -> &[Envelope] {
        &self.list
    }

    /// Frees the memory that only adding needs.
    pub(super) fn shrink(&mut self) {
        self.list.shrink_to_fit();
        self.known = FxHashMap::default();
    }
}

/// A tag and the number of partitioned messages as one integer.
#[inline]
fn joined((tag, partitioned): (u32, u32)) -> u64 {
    u64::from(partitioned) << 32 | u64::from(tag)
}

/// A message that was sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(Rust, packed(4))]
pub struct Send {
    /// Time of its record.
    pub time: Ticks,
    /// Its length.
    pub bytes: u64,
    /// The call that sent it.
    pub call: CallId,
    /// The call that completed it; [none](CallId::NONE) if the trace does not show that.
    pub completion: CallId,
    /// The event.
    pub position: EventNumber,
    /// The event of its completion, at that location.
    pub completed: EventNumber,
    /// Its envelope, and whether it was [`CANCELLED`].
    pub(crate) envelope: Flagged,
}

/// Flag: it was cancelled, hence never received.
const CANCELLED: u32 = 1;

impl Send {
    /// The position of its envelope.
    #[inline]
    pub fn envelope(&self) -> usize {
        self.envelope.number()
    }

    /// Whether it was cancelled.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.envelope.has(CANCELLED)
    }

    /// Marks it as cancelled.
    pub fn cancel(&mut self) {
        self.envelope = self.envelope.with(CANCELLED, true);
    }
}

/// A message that was received.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(Rust, packed(4))]
pub struct Receive {
    /// Time of the record of its completion.
    pub time: Ticks,
    /// Its length according to the receiver.
    pub bytes: u64,
    /// The call that completed it.
    pub call: CallId,
    /// The call that posted it; the same as `call` for a blocking receive.
    pub posting: CallId,
    /// The event of its completion, at that location.
    pub position: EventNumber,
    /// The event of its posting, at that location; the same as `position` for a blocking receive.
    pub posted_at: EventNumber,
    /// Its place in the order in which the process posted receives.
    pub posted: u32,
    /// Its envelope, and flags for the longest wait of its call.
    pub(crate) envelope: Flagged,
}

/// Flag: it is the last one of its call.
const LAST: u32 = 1;
/// Flag: as the last one of its call it drops the longest wait.
const LOSING: u32 = 2;
/// Flag: it drops the longest wait before it.
const FORGETTING: u32 = 4;

impl Receive {
    /// The position of its envelope.
    #[inline]
    pub fn envelope(&self) -> usize {
        self.envelope.number()
    }

    /// Whether it is the last receive that its call completed: the longest wait among them is known now.
    #[inline]
    pub fn is_last_of_call(&self) -> bool {
        self.envelope.has(LAST)
    }

    /// Whether it is the last of its call, and the longest wait is dropped, not reported (reference
    /// semantics, Q5).
    #[inline]
    pub fn is_lost(&self) -> bool {
        self.envelope.has(LOSING)
    }

    /// Whether the longest wait of this call so far is dropped before this receive (reference semantics, Q5).
    #[inline]
    pub fn forgets(&self) -> bool {
        self.envelope.has(FORGETTING)
    }

    /// Sets whether the longest wait of its call so far is dropped before it.
    #[must_use]
    pub fn forgetting(self, is_so: bool) -> Receive {
        Receive { envelope: self.envelope.with(FORGETTING, is_so), ..self }
    }

    /// Marks it as the last one of its call, which drops its longest wait if `is_lost`.
    pub fn end_call(&mut self, is_lost: bool) {
        self.envelope = self.envelope.with(LAST, true).with(LOSING, is_lost);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn envelopes_are_known_by_rank_until_nothing_is_added_any_more() {
        let mut envelopes = Envelopes::default();
        let envelope =
            |peer, rank, partitioned| Envelope { communicator: 3, peer, rank, tag: 4, partitioned };
        let added =
            [(7, 0, 0), (7, 1, 0), (8, 2, 0), (7, 1, 2)].map(|(a, b, c)| envelopes.add(envelope(a, b, c)));
        let found = [(4, 0), (5, 0), (4, 2), (4, 1)].map(|tag| envelopes.find(3, 1, tag));
        assert_eq!((added, found), ([0, 1, 2, 3], [Some(1), None, Some(3), None]));
        envelopes.shrink();
        assert_eq!(envelopes.list().len(), 4);
    }

    #[test]
    fn receive_says_what_becomes_of_the_longest_wait_of_its_call() {
        let receive = Receive {
            time: -1,
            bytes: u64::MAX,
            call: CallId::default(),
            posting: CallId::NONE,
            position: EventNumber::new(1),
            posted_at: EventNumber::NONE,
            posted: 2,
            envelope: Flagged::new(6),
        };
        let mut last = receive.forgetting(true);
        last.end_call(false);
        assert_eq!(
            (last.envelope(), last.is_last_of_call(), last.is_lost(), last.forgets()),
            (6, true, false, true)
        );
        assert!(!receive.forgetting(false).forgets() && !receive.is_last_of_call());
        assert_eq!([size_of::<Send>(), size_of::<Receive>()], [36, 40]);
    }
}
