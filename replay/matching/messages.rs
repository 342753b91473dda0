//! Point-to-point matching: the k-th send of a channel pairs with the k-th receive, see
//! [`pairing`](super::pairing) for k.
//!
//! If both sides belong to threads of this process, each reads the other's operations; other workers get
//! messages.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use model::Ticks;

use super::channels::{ByChannel, Channel, Channels};
use super::pairing::{Extent, NumberRun, Other, pair};
use super::sides::{Facts, PostingFacts, Receipt, SendFacts};
use super::{Matches, Paused};
use crate::assignment::Owners;
use crate::error::Error;
use crate::exchange::batch::BatchReader;
use crate::exchange::{Batch, Exchange};
use crate::int::to_u32;
use crate::operations::Operations;
use crate::options::Semantics;
use crate::tools::Tools;
use crate::walk::Walked;
use crate::wire::{self, Halves, Wire};

/// Kinds of blocks in a batch.
const SENDS: u64 = 0;
const RECEIVES: u64 = 1;
/// A process with pauses in its recording.
const PAUSED: u64 = 2;
/// Flags beside the kind: recording was switched off, has paused.
const WAS_OFF: u64 = 4;
const WAS_PAUSED: u64 = 8;
/// Flag: receipts follow the facts.
const WITH_RECEIPTS: u64 = 16;

/// Sends facts to the other sides that belong to workers outside of `team`: blocks of kind, communicator,
/// this process, the other one, tag, number of operations, number of certain ones, number of partitioned requests, number of
/// runs; then the runs, the facts, and, if they are wanted, the receipts.
pub(super) fn tell(
    walked: &Walked,
    channels: &Channels,
    team: &Range<usize>,
    owners: &Owners,
    with_receipts: bool,
    outgoing: &mut [Batch],
) {
    if walked.operations.pause.is_some() {
        for (worker, batch) in outgoing.iter_mut().enumerate() {
            if !team.contains(&worker) {
                (PAUSED, walked.process.number).put(batch);
            }
        }
    }
    tell_some(walked, channels, |peer| !team.contains(&owners.of(peer)), owners, with_receipts, outgoing);
}

/// Sends facts to the other sides that belong to some processes (see [`tell`]).
pub(super) fn tell_some(
    walked: &Walked,
    channels: &Channels,
    is_told: impl Fn(usize) -> bool,
    owners: &Owners,
    with_receipts: bool,
    outgoing: &mut [Batch],
) {
    send_side::<SendFacts>(walked, &channels.sends, SENDS, &is_told, owners, outgoing);
    let receives = RECEIVES | if with_receipts { WITH_RECEIPTS } else { 0 };
    send_side::<PostingFacts>(walked, &channels.receives, receives, &is_told, owners, outgoing);
}

fn send_side<F: Facts>(
    walked: &Walked,
    channels: &ByChannel,
    kind: u64,
    is_told: impl Fn(usize) -> bool,
    owners: &Owners,
    outgoing: &mut [Batch],
) {
    for (channel, list, extent) in channels.lists() {
        let Channel { communicator, peer, tag, partitioned } = *channel;
        if !is_told(peer as usize) {
            continue;
        }
        let owner = owners.of(peer as usize);
        let Extent { count, sure, was_off, was_paused, runs } = extent;
        let flags = u64::from(was_off) * WAS_OFF + u64::from(was_paused) * WAS_PAUSED;
        let batch = &mut outgoing[owner];
        let me = to_u32(walked.process.number);
        (kind | flags, (Halves(communicator, me), Halves(peer, tag))).put(batch);
        ((count, sure), (partitioned, runs.to_vec())).put(batch);
        for &at in list {
            F::of(&walked.operations, at).put(batch);
        }
        if kind & WITH_RECEIPTS != 0 {
            list.iter().for_each(|&at| Receipt::of(&walked.operations, at).put(batch));
        }
    }
}

/// The processes of all workers that are threads of this process: their operations are in shared memory.
#[derive(Debug)]
pub(super) struct Near {
    /// Number of the first process; the others follow without gap.
    pub(super) first: usize,
    pub(super) operations: Arc<[Arc<Operations>]>,
    pub(super) channels: Arc<[Arc<Channels>]>,
    pub(super) semantics: Semantics,
}

impl Near {
    /// Shares what this worker has of its processes with the threads beside it, and exchanges batches about messages with
    /// all others.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn share(
        tools: &Tools<'_>,
        operations: Vec<Arc<Operations>>,
        channels: Vec<Arc<Channels>>,
        outgoing: Vec<Batch>,
        exchange: &mut dyn Exchange,
    ) -> Result<(Near, Vec<Batch>), Error> {
        let Tools { trace, owners, shared, .. } = *tools;
        let (thread, team) = (shared.thread(exchange.worker()), shared.team(exchange.worker()));
        shared.operations.put(thread, operations);
        shared.channels.put(thread, channels);
        let told = exchange.exchange(outgoing)?;
        let near = Near {
            first: owners.first(team.start),
            operations: shared.operations.take(),
            channels: shared.channels.take(),
            semantics: trace.semantics,
        };
        Ok((near, told))
    }

    /// Matches the messages between a process and others of these, on the side of that process.
    pub(super) fn join(&self, process: usize, matches: &mut Matches) {
        let me = process - self.first;
        let (mine, operations) = (&self.channels[me], &self.operations[me]);
        for (channel, sends, extent) in mine.sends.lists() {
            let Some((peer, theirs)) = self.find(channel) else { continue };
            let (receives, other) = theirs.receives.find(channel.from(process));
            let received = |other: usize| self.operations[peer].receives[receives[other] as usize].time;
            let is_early = |at: usize, other| received(other) < operations.sends[sends[at] as usize].time;
            pair(extent, other, self.semantics, is_early, |at, other| match other {
                Other::Is(other) | Other::Seems(other) => {
                    matches.postings.meet(sends[at], peer, receives[other]);
                }
                Other::Unknown => matches.postings.give_up(sends[at]),
                Other::Nobody => {}
            });
        }
        for (channel, receives, extent) in mine.receives.lists() {
            let Some((peer, theirs)) = self.find(channel) else { continue };
            let (sends, other) = theirs.sends.find(channel.from(process));
            let error = |at: usize, other: usize| {
                let sent = self.operations[peer].sends[sends[other] as usize].time;
                sent - operations.receives[receives[at] as usize].time
            };
            pair(
                extent,
                other,
                self.semantics,
                |at, other| error(at, other) > 0,
                |at, other| match other {
                    Other::Is(to) | Other::Seems(to) => {
                        matches.sends.meet(receives[at], peer, sends[to]);
                        matches.note(receives[at], error(at, to), other);
                    }
                    Other::Unknown => matches.sends.give_up(receives[at]),
                    Other::Nobody => {}
                },
            );
        }
    }

    /// Those of these processes with pauses in their recording.
    pub(super) fn paused(&self) -> Paused {
        let all = (to_u32(self.first)..).zip(self.operations.iter());
        all.filter(|(_, operations)| operations.pause.is_some()).map(|(process, _)| process).collect()
    }

    /// The process at the other end of a channel, as an index among these, and its channels.
    fn find(&self, channel: &Channel) -> Option<(usize, &Channels)> {
        let peer = (channel.peer as usize).checked_sub(self.first)?;
        Some((peer, self.channels.get(peer)?))
    }

    /// Receives facts from another worker. `first` is the process of the first matches.
    pub(super) fn hear(&self, batch: &[u64], first: usize, matches: &mut [Matches], paused: &mut Paused) {
        let mut reader = BatchReader::new(batch);
        while !reader.is_empty() {
            let kind = reader.word();
            if kind == PAUSED {
                paused.insert(Wire::get(&mut reader));
                continue;
            }
            let (Halves(communicator, other), Halves(me, tag)): (Halves<u32, u32>, Halves<u32, u32>) =
                Wire::get(&mut reader);
            type Sizes = ((usize, usize), (u32, Vec<NumberRun>));
            let ((count, sure), (partitioned, runs)): Sizes = Wire::get(&mut reader);
            let (was_off, was_paused) = (kind & WAS_OFF != 0, kind & WAS_PAUSED != 0);
            let theirs = Extent { count, sure, was_off, was_paused, runs: &runs };
            let channel = Channel { communicator, peer: other, tag, partitioned };
            let (matches, me) = (&mut matches[me as usize - first], me as usize - self.first);
            let (mine, operations) = (&self.channels[me], &self.operations[me]);
            if kind & RECEIVES == SENDS {
                let (receives, extent) = mine.receives.find(channel);
                let sends: ReceivedFacts<'_, SendFacts> = ReceivedFacts::read(&mut reader, theirs.count);
                let error =
                    |at: usize, send: &SendFacts| send.time - operations.receives[receives[at] as usize].time;
                let is_early = |at: usize, other: usize| error(at, &sends.get(other)) > 0;
                pair(extent, theirs, self.semantics, is_early, |at, other| match other {
                    Other::Is(to) | Other::Seems(to) => {
                        let send = sends.get(to);
                        matches.sends.hear(receives[at], send);
                        matches.note(receives[at], error(at, &send), other);
                    }
                    Other::Unknown => matches.sends.give_up(receives[at]),
                    Other::Nobody => {}
                });
            } else {
                let (sends, extent) = mine.sends.find(channel);
                let receives: ReceivedFacts<'_, PostingFacts> =
                    ReceivedFacts::read(&mut reader, theirs.count);
                let receipts: Option<ReceivedFacts<'_, Receipt>> =
                    (kind & WITH_RECEIPTS != 0).then(|| ReceivedFacts::read(&mut reader, theirs.count));
                let is_early = |at: usize, other: usize| {
                    receives.get(other).received < operations.sends[sends[at] as usize].time
                };
                pair(extent, theirs, self.semantics, is_early, |at, other| match other {
                    Other::Is(to) | Other::Seems(to) => match &receipts {
                        Some(receipts) => {
                            matches.postings.hear_with(sends[at], receives.get(to), receipts.get(to));
                        }
                        None => matches.postings.hear(sends[at], receives.get(to)),
                    },
                    Other::Unknown => matches.postings.give_up(sends[at]),
                    Other::Nobody => {}
                });
            }
        }
    }
}

/// Facts of the operations of a channel, as received from another worker.
struct ReceivedFacts<'a, F> {
    words: &'a [u64],
    facts: PhantomData<F>,
}

impl<'a, F: Facts> ReceivedFacts<'a, F> {
    fn read(reader: &mut BatchReader<'a>, count: usize) -> ReceivedFacts<'a, F> {
        ReceivedFacts { words: reader.words(F::WORDS * count), facts: PhantomData }
    }

    fn get(&self, at: usize) -> F {
        wire::one::<F>(&self.words[F::WORDS * at..][..F::WORDS])
    }
}

impl Matches {
    /// Records the match of a receive, with the time by which the send came later than the receive, if it
    /// did.
    fn note(&mut self, receive: u32, error: Ticks, send: Other) {
        self.clock_error = error.max(self.clock_error);
        if matches!(send, Other::Seems(_)) {
            self.unverified.push(receive);
        }
    }
}
