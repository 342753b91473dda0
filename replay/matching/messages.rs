//! Messages: who has sent what was received.
//!
//! Where both sides of a channel have recorded the same number of messages, all match. Otherwise only those before the first
//! known gap of either side do; without a known gap the missing ones are the last ones.
//!
//! Where both sides belong to threads of this process, each looks at the other; other workers are told.

use std::ops::Range;
use std::sync::Arc;

use super::channels::{ByChannel, Channel, Channels, Extent};
use super::sides::{Facts, PostingFacts, SendFacts, Sides};
use super::{Matches, Owners};
use crate::exchange::Batch;
use crate::exchange::batch::BatchReader;
use crate::operations::Operations;
use crate::walk::ProcessProfile;

/// Kinds of blocks in a batch.
const SENDS: u64 = 0;
const RECEIVES: u64 = 1;

/// Tells the other sides that belong to workers outside of `team`: blocks of kind, communicator, this process, the other
/// one, tag, count, those that are sure, then the facts.
pub(super) fn tell(
    profile: &ProcessProfile,
    channels: &Channels,
    team: &Range<usize>,
    owners: &Owners,
    outgoing: &mut [Batch],
) {
    tell_side::<SendFacts>(profile, &channels.sends, SENDS, team, owners, outgoing);
    tell_side::<PostingFacts>(profile, &channels.receives, RECEIVES, team, owners, outgoing);
}

fn tell_side<F: Facts>(
    profile: &ProcessProfile,
    channels: &ByChannel,
    kind: u64,
    team: &Range<usize>,
    owners: &Owners,
    outgoing: &mut [Batch],
) {
    for (channel, list) in channels.lists() {
        let Channel { communicator, peer, tag } = *channel;
        let owner = owners.of(peer as usize);
        if team.contains(&owner) {
            continue;
        }
        let (me, other) = (profile.process as u64, u64::from(peer));
        let Extent { count, sure } = channels.extent(list);
        let batch = &mut outgoing[owner];
        batch.extend([kind, u64::from(communicator), me, other, u64::from(tag), count as u64, sure as u64]);
        for &at in list {
            F::of(&profile.operations, at).tell(batch);
        }
    }
}

/// The processes of all workers that are threads of this process: they can be looked at.
#[derive(Debug)]
pub(super) struct Near {
    /// The first of them; the others follow without gap.
    pub(super) first: usize,
    pub(super) operations: Arc<[Arc<Operations>]>,
    pub(super) channels: Arc<[Arc<Channels>]>,
}

impl Near {
    /// Brings together what a process and others of these have communicated, on the side of that process.
    pub(super) fn join(&self, process: usize, matches: &mut Matches) {
        let me = process - self.first;
        let (mine, operations) = (&self.channels[me], &self.operations[me]);
        for (channel, sends) in mine.sends.lists() {
            let Some((peer, theirs)) = self.find(channel) else { continue };
            let receives = theirs.receives.find(channel.from(process));
            let matching = mine.sends.extent(sends).matching(theirs.receives.extent(receives));
            for (&send, &receive) in sends.iter().zip(receives).take(matching) {
                matches.postings.meet(send, peer, receive);
            }
        }
        for (channel, receives) in mine.receives.lists() {
            let Some((peer, theirs)) = self.find(channel) else { continue };
            let sends = theirs.sends.find(channel.from(process));
            let matching = mine.receives.extent(receives).matching(theirs.sends.extent(sends));
            for (&receive, &send) in receives.iter().zip(sends).take(matching) {
                matches.sends.meet(receive, peer, send);
                let (sent, received) =
                    (&self.operations[peer].sends[send as usize], &operations.receives[receive as usize]);
                matches.clock_error = (sent.time - received.time).max(matches.clock_error);
            }
        }
    }

    /// The process at the other side of a channel, as a position among these, and its channels.
    fn find(&self, channel: &Channel) -> Option<(usize, &Channels)> {
        let peer = (channel.peer as usize).checked_sub(self.first)?;
        Some((peer, self.channels.get(peer)?))
    }

    /// Hears from other workers. `first` is the process of the first matches.
    pub(super) fn hear(&self, batch: &[u64], first: usize, matches: &mut [Matches]) {
        let mut reader = BatchReader::new(batch);
        while !reader.is_empty() {
            let &[kind, communicator, other, me, tag, count, sure] = reader.words(7) else { return };
            let theirs = Extent { count: count as usize, sure: sure as usize };
            let channel = Channel { communicator: communicator as u32, peer: other as u32, tag: tag as u32 };
            let (matches, me) = (&mut matches[me as usize - first], me as usize - self.first);
            let (mine, operations) = (&self.channels[me], &self.operations[me]);
            if kind == SENDS {
                let receives = mine.receives.find(channel);
                let matching = mine.receives.extent(receives).matching(theirs);
                let Matches { sends, clock_error, .. } = matches;
                hear_facts(
                    sends,
                    receives,
                    &mut reader,
                    theirs.count,
                    matching,
                    |receive, send: &SendFacts| {
                        let error = send.time - operations.receives[receive as usize].time;
                        *clock_error = error.max(*clock_error);
                    },
                );
            } else {
                let sends = mine.sends.find(channel);
                let matching = mine.sends.extent(sends).matching(theirs);
                hear_facts(&mut matches.postings, sends, &mut reader, theirs.count, matching, |_, _| {});
            }
        }
    }
}

fn hear_facts<F: Facts>(
    sides: &mut Sides<F>,
    mine: &[u32],
    reader: &mut BatchReader<'_>,
    told: usize,
    matching: usize,
    mut look: impl FnMut(u32, &F),
) {
    let facts = reader.words(F::WORDS * told).chunks_exact(F::WORDS).take(matching);
    for (&at, words) in mine.iter().zip(facts) {
        let facts = F::hear(words);
        look(at, &facts);
        sides.hear(at, facts);
    }
}
