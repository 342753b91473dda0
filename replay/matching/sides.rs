//! What each side of a message needs to know of the other one. A side that belongs to a thread of this process is looked up
//! when somebody asks for it, one that was told by another worker is kept.

use std::sync::Arc;

use model::Ticks;
use patterns::matched::{Completion, Interval, ReceivedMessage, SentMessage};

use crate::exchange::Batch;
use crate::exchange::batch::BatchReader;
use crate::ids::{EventNumber, PathId};
use crate::int::to_u32;
use crate::operations::{Call, CallSite, Operations, Place, Receive};
use crate::wire::{Wire, wire};

/// What a receiver needs to know of a send.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SendFacts {
    /// When it was recorded.
    pub time: Ticks,
    /// The call that sent the message.
    pub call: Interval,
    /// Its length in bytes.
    pub bytes: u64,
    /// Where it was sent.
    pub place: Place,
    /// The event of the send.
    pub position: EventNumber,
    /// Whether the call that sent the message is one of MPI.
    pub is_mpi: bool,
}

/// What a sender needs to know of a receive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PostingFacts {
    /// The call that posted it.
    pub call: Interval,
    /// When its completion was recorded.
    pub received: Ticks,
    /// Where it was posted.
    pub place: Place,
    /// The event of the posting.
    pub position: EventNumber,
}

impl SendFacts {
    /// The message as patterns see it at its receive.
    pub fn received(&self, operations: &Operations, receive: &Receive) -> ReceivedMessage {
        let call = operations.call(receive.call);
        ReceivedMessage {
            sent: self.time,
            send: self.call,
            receive: call.interval,
            completion: call.site.completion,
            source: operations.source(receive).rank,
            bytes: self.bytes,
        }
    }
}

impl PostingFacts {
    /// A message of so many bytes as patterns see it at the call that completes its send.
    pub fn sent(&self, call: &Call, bytes: u64) -> SentMessage {
        let Call { site, interval, .. } = call;
        SentMessage { send: *interval, completion: site.completion, posting: self.call, bytes }
    }
}

wire!(SendFacts { time, call, bytes, place, [position, is_mpi] });

wire!(PostingFacts { call, received, place, position });

impl Wire for Interval {
    fn put(&self, batch: &mut Batch) {
        (self.enter, self.leave).put(batch);
    }

    fn get(reader: &mut BatchReader<'_>) -> Interval {
        let (enter, leave) = Wire::get(reader);
        Interval::new(enter, leave)
    }
}

/// What a sender needs to know of the call that completed the receive, if there are details.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Receipt {
    /// The call path, in the tree of the receiver.
    pub path: PathId,
    /// Whether it is a call of MPI.
    pub is_mpi: bool,
}

wire!(Receipt { [path, is_mpi] });

/// What one side tells the other.
pub trait Facts: Copy + Wire {
    /// Words that it takes in a batch.
    const WORDS: usize;

    /// The facts of an operation, by its position among those of its kind.
    fn of(operations: &Operations, at: u32) -> Self;
}

impl Facts for SendFacts {
    const WORDS: usize = 6;

    fn of(operations: &Operations, at: u32) -> Self {
        let send = &operations.sends[at as usize];
        let call = operations.call(send.call);
        SendFacts {
            time: send.time,
            call: call.interval,
            bytes: send.bytes,
            place: call.site.place(),
            position: send.position,
            is_mpi: call.site.is_mpi,
        }
    }
}

impl Facts for PostingFacts {
    const WORDS: usize = 5;

    fn of(operations: &Operations, at: u32) -> Self {
        let receive = &operations.receives[at as usize];
        // A call that sends as well waits behind the posting for the receiver of what it sends (rest of MPI 6.1).
        let entered = || Some(operations.call(receive.posting).entered).filter(|it| *it != EventNumber::NONE);
        let is_combined = operations.site(receive.posting).completion == Completion::SendReceive;
        PostingFacts {
            call: operations.posting(at),
            received: receive.time,
            place: operations.site(receive.posting).place(),
            position: is_combined.then(entered).flatten().unwrap_or(receive.posted_at),
        }
    }
}

impl Facts for Receipt {
    const WORDS: usize = 1;

    fn of(operations: &Operations, at: u32) -> Self {
        let &CallSite { path, is_mpi, .. } = operations.site(operations.receives[at as usize].call);
        Receipt { path, is_mpi }
    }
}

/// Stands instead of a process for an operation without other side, and for one whose other side another worker has told.
const NOBODY: u32 = u32::MAX;
const ELSEWHERE: u32 = u32::MAX - 1;
/// Stands for the operation of nobody, where there may be one and nobody can know which.
const UNKNOWN: u32 = 1;

/// The other sides of a process's operations of one kind, by position.
#[derive(Clone, Debug, Default)]
pub struct Sides<F> {
    /// The process, as a position among those nearby, and the position of the operation there, or of its facts.
    of: Vec<(u32, u32)>,
    elsewhere: Vec<F>,
    /// The receipts of the messages that another worker has told of, in that order; none without details.
    receipts: Vec<Receipt>,
    /// The operations of all processes of the threads of this process.
    near: Arc<[Arc<Operations>]>,
}

impl<F: Facts> Sides<F> {
    /// Of so many operations, without any other sides yet.
    pub(super) fn new(operations: usize, near: &Arc<[Arc<Operations>]>) -> Sides<F> {
        let (elsewhere, receipts) = (Vec::new(), Vec::new());
        Sides { of: vec![(NOBODY, 0); operations], elsewhere, receipts, near: near.clone() }
    }

    /// The other side is an operation of a process nearby.
    pub(super) fn meet(&mut self, at: u32, process: usize, operation: u32) {
        self.of[at as usize] = (to_u32(process), operation);
    }

    /// Another worker has told of the other side.
    pub(super) fn hear(&mut self, at: u32, facts: F) {
        self.of[at as usize] = (ELSEWHERE, to_u32(self.elsewhere.len()));
        self.elsewhere.push(facts);
    }

    /// Which operation is at the other side cannot be known.
    pub(super) fn give_up(&mut self, at: u32) {
        self.of[at as usize] = (NOBODY, UNKNOWN);
    }

    /// Whether an operation has no other side because that cannot be known.
    ///
    /// # Panics
    /// If there is no such operation.
    pub fn is_unknown(&self, at: usize) -> bool {
        self.of[at] == (NOBODY, UNKNOWN)
    }

    /// The other side of an operation, if there is one.
    ///
    /// # Panics
    /// If there is no such operation.
    pub fn get(&self, at: usize) -> Option<F> {
        match self.of[at] {
            (NOBODY, _) => None,
            (ELSEWHERE, told) => Some(self.elsewhere[told as usize]),
            (process, operation) => Some(F::of(&self.near[process as usize], operation)),
        }
    }

    /// Whether an operation has no other side.
    ///
    /// # Panics
    /// If there is no such operation.
    pub fn is_alone(&self, at: usize) -> bool {
        self.of[at].0 == NOBODY
    }

    /// The other sides of all operations, by position.
    pub fn iter(&self) -> impl Iterator<Item = Option<F>> {
        (0..self.of.len()).map(|at| self.get(at))
    }
}

impl Sides<PostingFacts> {
    /// The other side of a send was told with its receipt.
    pub(super) fn hear_with(&mut self, at: u32, facts: PostingFacts, receipt: Receipt) {
        self.hear(at, facts);
        self.receipts.push(receipt);
    }

    /// The receipt of a message, if it was received; of other workers' processes only with [`Latecomers`](super::Latecomers).
    ///
    /// # Panics
    /// If there is no such operation.
    pub fn receipt(&self, at: usize) -> Option<Receipt> {
        match self.of[at] {
            (NOBODY, _) => None,
            (ELSEWHERE, told) => self.receipts.get(told as usize).copied(),
            (process, receive) => Some(Receipt::of(&self.near[process as usize], receive)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::PathId;
    use crate::wire;

    #[test]
    fn facts_come_back_from_a_batch() {
        let place = Place { location: 3, path: PathId::new(9) };
        let send = SendFacts {
            time: -5,
            call: Interval::new(-7, 1 << 40),
            bytes: 12,
            place,
            position: EventNumber::new(4),
            is_mpi: true,
        };
        let posting =
            PostingFacts { call: Interval::new(-1, 2), received: 6, place, position: EventNumber::new(8) };
        let mut batch = Batch::new();
        send.put(&mut batch);
        posting.put(&mut batch);
        let (first, second) = batch.split_at(SendFacts::WORDS);
        assert_eq!((wire::one(first), wire::one(second)), (send, posting));
        assert_eq!(second.len(), PostingFacts::WORDS);
    }

    #[test]
    fn receipts_come_back_from_a_batch() {
        for is_mpi in [true, false] {
            let receipt = Receipt { path: PathId::new(7), is_mpi };
            let mut batch = Batch::new();
            receipt.put(&mut batch);
            assert_eq!((wire::one(&batch), batch.len()), (receipt, Receipt::WORDS));
        }
    }

    #[test]
    fn sides_are_those_of_others_or_nobody() {
        let mut sides = Sides::new(2, &Arc::default());
        let posting = PostingFacts { received: 6, ..PostingFacts::default() };
        sides.hear(1, posting);
        assert_eq!(sides.iter().collect::<Vec<_>>(), [None, Some(posting)]);
        assert_eq!((sides.receipt(0), sides.receipt(1)), (None, None));
        let receipt = Receipt { is_mpi: true, ..Receipt::default() };
        let mut told = Sides::new(2, &Arc::default());
        told.hear_with(1, posting, receipt);
        assert_eq!((told.receipt(0), told.receipt(1)), (None, Some(receipt)));
        assert!(sides.is_alone(0) && !sides.is_alone(1) && !sides.is_unknown(0));
        sides.give_up(0);
        assert!(sides.is_alone(0) && sides.is_unknown(0) && !sides.is_unknown(1));
    }
}
