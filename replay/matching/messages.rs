//! Messages: the k-th send of a channel belongs to the k-th receive (MPI 3.1, section 3.5: messages do not overtake).
//!
//! A channel is a communicator with source, destination and tag. Which receive is the k-th is a question of semantics:
//! MPI counts them as they were posted, the reference as they were completed.

use model::Ticks;
use patterns::matched::Interval;
use rustc_hash::FxHashMap;

use super::{Matches, Owners};
use crate::exchange::Batch;
use crate::exchange::batch::BatchReader;
use crate::options::Semantics;
use crate::walk::ProcessProfile;

/// What a receiver needs to know of a send.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SendFacts {
    /// When it was recorded.
    pub time: Ticks,
    /// The call that sent the message.
    pub call: Interval,
    /// Its length in bytes.
    pub bytes: u64,
}

/// A channel from a process's point of view.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Channel {
    communicator: u32,
    /// The process at the other side.
    peer: u32,
    tag: u32,
}

/// Positions of operations by channel; channels in the order of their first operation.
#[derive(Clone, Debug, Default)]
struct ByChannel {
    lists: Vec<(Channel, Vec<u32>)>,
    known: FxHashMap<Channel, usize>,
}

impl ByChannel {
    fn push(&mut self, channel: Channel, position: usize) {
        let list = *self.known.entry(channel).or_insert_with(|| {
            self.lists.push((channel, Vec::new()));
            self.lists.len() - 1
        });
        self.lists[list].1.push(position as u32);
    }

    fn find(&self, channel: Channel) -> &[u32] {
        self.known.get(&channel).map_or(&[], |&list| &self.lists[list].1)
    }
}

/// The sends and receives of a process by channel, in the order in which they match.
#[derive(Clone, Debug, Default)]
pub(super) struct Channels {
    sends: ByChannel,
    receives: ByChannel,
}

/// Kinds of blocks in a batch.
const SENDS: u64 = 0;
const RECEIVES: u64 = 1;

impl Channels {
    pub(super) fn new(profile: &ProcessProfile, semantics: Semantics) -> Channels {
        let mut channels = Channels::default();
        for (at, send) in profile.operations.sends.iter().enumerate() {
            if !send.is_cancelled {
                let channel = Channel { communicator: send.communicator, peer: send.to, tag: send.tag };
                channels.sends.push(channel, at);
            }
        }
        let receives = &profile.operations.receives;
        for (at, receive) in receives.iter().enumerate() {
            let channel =
                Channel { communicator: receive.communicator, peer: receive.from, tag: receive.tag };
            channels.receives.push(channel, at);
        }
        if semantics == Semantics::Corrected {
            for (_, list) in &mut channels.receives.lists {
                list.sort_by_key(|&at| receives[at as usize].posted);
            }
        }
        channels
    }

    /// Tells the other sides: blocks of kind, communicator, this process, the other one, tag, count, then the facts.
    pub(super) fn tell(&self, profile: &ProcessProfile, owners: &Owners, outgoing: &mut [Batch]) {
        let operations = &profile.operations;
        let head = |kind, channel: &Channel, count: usize| {
            let Channel { communicator, peer, tag } = *channel;
            let (me, other) = (profile.process as u64, u64::from(peer));
            [kind, u64::from(communicator), me, other, u64::from(tag), count as u64]
        };
        for (channel, list) in &self.sends.lists {
            let batch = &mut outgoing[owners.of(channel.peer as usize)];
            batch.extend(head(SENDS, channel, list.len()));
            for &at in list {
                let send = &operations.sends[at as usize];
                let Interval { enter, leave } = operations.call(send.call).interval;
                batch.extend([send.time as u64, enter as u64, leave as u64, send.bytes]);
            }
        }
        for (channel, list) in &self.receives.lists {
            let batch = &mut outgoing[owners.of(channel.peer as usize)];
            batch.extend(head(RECEIVES, channel, list.len()));
            for &at in list {
                let posting = operations.receives[at as usize].posting;
                let Interval { enter, leave } = operations.call(posting).interval;
                batch.extend([enter as u64, leave as u64]);
            }
        }
    }
}

/// Hears from the other sides. `first` is the process of the first profile; the others follow without gap.
pub(super) fn hear(
    batch: &[u64],
    first: usize,
    profiles: &[ProcessProfile],
    channels: &[Channels],
    matches: &mut [Matches],
) {
    let mut reader = BatchReader::new(batch);
    while !reader.is_empty() {
        let &[kind, communicator, other, me, tag, count] = reader.words(6) else { return };
        let channel = Channel { communicator: communicator as u32, peer: other as u32, tag: tag as u32 };
        let at = me as usize - first;
        debug_assert_eq!(profiles[at].process, me as usize);
        if kind == SENDS {
            let facts = reader.words(4 * count as usize).chunks_exact(4);
            for (&receive, words) in channels[at].receives.find(channel).iter().zip(facts) {
                matches[at].sends[receive as usize] = Some(SendFacts {
                    time: words[0] as Ticks,
                    call: Interval::new(words[1] as Ticks, words[2] as Ticks),
                    bytes: words[3],
                });
            }
        } else {
            let facts = reader.words(2 * count as usize).chunks_exact(2);
            for (&send, words) in channels[at].sends.find(channel).iter().zip(facts) {
                matches[at].postings[send as usize] =
                    Some(Interval::new(words[0] as Ticks, words[1] as Ticks));
            }
        }
    }
}
