//! Messages: the k-th send of a channel belongs to the k-th receive (MPI 3.1, section 3.5: messages do not overtake).
//!
//! A channel is a communicator with source, destination and tag. Which receive is the k-th is a question of semantics:
//! MPI counts them as they were posted, the reference as they were completed.
//!
//! Where both sides have recorded the same number of messages, all match. Otherwise only those before the first known gap
//! of either side do; without a known gap the missing ones are the last ones.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::sides::{Facts, PostingFacts, SendFacts, Sides};
use super::{Matches, Owners};
use crate::exchange::Batch;
use crate::exchange::batch::BatchReader;
use crate::findings::{Finding, Findings};
use crate::operations::{CallId, Envelope, Operations};
use crate::options::Semantics;
use crate::walk::ProcessProfile;

/// A channel from a process's point of view.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Channel {
    communicator: u32,
    /// The process at the other side.
    peer: u32,
    tag: u32,
}

impl Channel {
    fn of(&Envelope { communicator, peer, tag, .. }: &Envelope) -> Channel {
        Channel { communicator, peer, tag }
    }
}

/// Positions of operations by channel; channels in the order of their first operation.
#[derive(Clone, Debug, Default)]
struct ByChannel {
    channels: Vec<Channel>,
    /// By channel: where its positions end; they begin where those of the channel before end.
    ends: Vec<u32>,
    positions: Vec<u32>,
    known: FxHashMap<Channel, u32>,
}

impl ByChannel {
    /// Of operations with these envelopes, of which each has the one at a position; those without are left out.
    fn new(envelopes: &[Envelope], operations: impl Iterator<Item = Option<usize>> + Clone) -> ByChannel {
        let mut by_channel = ByChannel::default();
        let ByChannel { channels, ends, positions, known } = &mut by_channel;
        // In a damaged communicator two ranks may be one process.
        let number = |envelope: &Envelope| {
            let channel = Channel::of(envelope);
            *known.entry(channel).or_insert_with(|| {
                channels.push(channel);
                (channels.len() - 1) as u32
            })
        };
        let numbers: Vec<u32> = envelopes.iter().map(number).collect();
        ends.resize(channels.len(), 0);
        for envelope in operations.clone().flatten() {
            ends[numbers[envelope] as usize] += 1;
        }
        // At first each is where the next position goes.
        let mut sum = 0;
        for end in ends.iter_mut() {
            (*end, sum) = (sum, sum + *end);
        }
        positions.resize(sum as usize, 0);
        for (at, envelope) in operations.enumerate() {
            if let Some(envelope) = envelope {
                let next = &mut ends[numbers[envelope] as usize];
                positions[*next as usize] = at as u32;
                *next += 1;
            }
        }
        by_channel
    }

    /// Where the positions of a channel are.
    fn range(&self, number: usize) -> Range<usize> {
        let begin = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        begin as usize..self.ends[number] as usize
    }

    fn find(&self, channel: Channel) -> &[u32] {
        self.known.get(&channel).map_or(&[], |&number| &self.positions[self.range(number as usize)])
    }

    fn lists(&self) -> impl Iterator<Item = (&Channel, &[u32])> {
        let list = |(number, channel)| (channel, &self.positions[self.range(number)]);
        self.channels.iter().enumerate().map(list)
    }

    fn sort_by_key(&mut self, key: impl Fn(u32) -> u32) {
        for number in 0..self.channels.len() {
            let range = self.range(number);
            self.positions[range].sort_by_key(|&at| key(at));
        }
    }
}

/// How much of a channel one side has recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Extent {
    /// Messages recorded.
    count: usize,
    /// Messages recorded before the first gap; all without one.
    sure: usize,
}

impl Extent {
    /// Of messages at these positions, those before `gap` are sure.
    fn new(list: &[u32], gap: Option<usize>) -> Extent {
        let sure = gap.map_or(list.len(), |gap| list.iter().filter(|&&at| (at as usize) < gap).count());
        Extent { count: list.len(), sure }
    }

    /// How many messages match.
    fn matching(self, other: Extent) -> usize {
        if self.count == other.count { self.count } else { self.sure.min(other.sure) }
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
        let Operations { sends, receives, destinations, sources, .. } = &*profile.operations;
        let sent = sends.iter().map(|send| (!send.is_cancelled()).then(|| send.envelope()));
        let received = receives.iter().map(|receive| Some(receive.envelope()));
        let mut channels = Channels {
            sends: ByChannel::new(destinations.list(), sent),
            receives: ByChannel::new(sources.list(), received),
        };
        if semantics == Semantics::Corrected {
            channels.receives.sort_by_key(|at| receives[at as usize].posted);
        }
        channels
    }

    /// Counts channels that two threads used at once: the order of their messages is not known.
    pub(super) fn check(&self, profile: &ProcessProfile, findings: &mut Findings) {
        if profile.locations.len() < 2 {
            return;
        }
        let operations = &profile.operations;
        let mut check = |by_channel: &ByChannel, call: &dyn Fn(u32) -> CallId, what: &str| {
            for (channel, list) in by_channel.lists() {
                let calls: Vec<_> = list.iter().map(|&at| operations.call(call(at))).collect();
                let at_once = calls.windows(2).find(|pair| {
                    let [first, second] = [&pair[0], &pair[1]];
                    first.site.location != second.site.location
                        && second.interval.enter < first.interval.leave
                });
                if let Some(&[_, second]) = at_once {
                    let (time, location) = (second.interval.enter, second.site.location as usize);
                    findings.add(Finding::ConcurrentChannel, time, location, || {
                        format!("{what} process {} with tag {}", channel.peer, channel.tag)
                    });
                }
            }
        };
        check(&self.sends, &|at| operations.sends[at as usize].call, "sends to");
        check(&self.receives, &|at| operations.receives[at as usize].posting, "receives from");
    }

    /// Tells the other sides that belong to other workers: blocks of kind, communicator, this process, the other one, tag,
    /// count, those that are sure, then the facts.
    pub(super) fn tell(
        &self,
        profile: &ProcessProfile,
        worker: usize,
        owners: &Owners,
        outgoing: &mut [Batch],
    ) {
        let gap = profile.operations.gap;
        tell::<SendFacts>(&self.sends, SENDS, gap.map(|gap| gap.sends), profile, worker, owners, outgoing);
        let gap = gap.map(|gap| gap.receives);
        tell::<PostingFacts>(&self.receives, RECEIVES, gap, profile, worker, owners, outgoing);
    }
}

fn tell<F: Facts>(
    channels: &ByChannel,
    kind: u64,
    gap: Option<usize>,
    profile: &ProcessProfile,
    worker: usize,
    owners: &Owners,
    outgoing: &mut [Batch],
) {
    for (channel, list) in channels.lists() {
        let Channel { communicator, peer, tag } = *channel;
        let owner = owners.of(peer as usize);
        if owner == worker {
            continue;
        }
        let (me, other) = (profile.process as u64, u64::from(peer));
        let Extent { count, sure } = Extent::new(list, gap);
        let batch = &mut outgoing[owner];
        batch.extend([kind, u64::from(communicator), me, other, u64::from(tag), count as u64, sure as u64]);
        for &at in list {
            F::of(&profile.operations, at).tell(batch);
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
        let &[kind, communicator, other, me, tag, count, sure] = reader.words(7) else { return };
        let theirs = Extent { count: count as usize, sure: sure as usize };
        let channel = Channel { communicator: communicator as u32, peer: other as u32, tag: tag as u32 };
        let at = me as usize - first;
        debug_assert_eq!(profiles[at].process, me as usize);
        let gap = profiles[at].operations.gap;
        if kind == SENDS {
            let receives = channels[at].receives.find(channel);
            let matching = Extent::new(receives, gap.map(|gap| gap.receives)).matching(theirs);
            let operations = &profiles[at].operations;
            let Matches { sends, clock_error, .. } = &mut matches[at];
            hear_facts(sends, receives, &mut reader, theirs.count, matching, |receive, send: &SendFacts| {
                let error = send.time - operations.receives[receive as usize].time;
                *clock_error = error.max(*clock_error);
            });
        } else {
            let sends = channels[at].sends.find(channel);
            let matching = Extent::new(sends, gap.map(|gap| gap.sends)).matching(theirs);
            hear_facts(&mut matches[at].postings, sends, &mut reader, theirs.count, matching, |_, _| {});
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

/// Brings both sides together where both belong to this worker.
pub(super) fn join(profiles: &[ProcessProfile], channels: &[Channels], matches: &mut [Matches]) {
    let Some(first) = profiles.first().map(|profile| profile.process) else { return };
    for (sender, profile) in profiles.iter().enumerate() {
        for (channel, sends) in channels[sender].sends.lists() {
            let receiver = (channel.peer as usize).wrapping_sub(first);
            let Some(other) = profiles.get(receiver) else { continue };
            let receives =
                channels[receiver].receives.find(Channel { peer: profile.process as u32, ..*channel });
            let ours = Extent::new(sends, profile.operations.gap.map(|gap| gap.sends));
            let theirs = Extent::new(receives, other.operations.gap.map(|gap| gap.receives));
            let pairs = sends.iter().zip(receives).take(ours.matching(theirs));
            let Matches { sends: of_receives, clock_error, .. } = &mut matches[receiver];
            for (&send, &receive) in pairs.clone() {
                of_receives.meet(receive, sender, send);
                let (sent, received) =
                    (&profile.operations.sends[send as usize], &other.operations.receives[receive as usize]);
                *clock_error = (sent.time - received.time).max(*clock_error);
            }
            for (&send, &receive) in pairs {
                matches[sender].postings.meet(send, receiver, receive);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOUR: [u32; 4] = [2, 3, 5, 8];

    #[test]
    fn equal_counts_match_whatever_gap_there_is() {
        assert_eq!(Extent::new(&FOUR, Some(0)).matching(Extent { count: 4, sure: 4 }), 4);
    }

    #[test]
    fn missing_tail_leaves_the_rest_valid() {
        assert_eq!(Extent::new(&FOUR, None).matching(Extent { count: 3, sure: 3 }), 3);
    }

    #[test]
    fn after_a_gap_unequal_counts_match_only_before_it() {
        assert_eq!(Extent::new(&FOUR, Some(5)).matching(Extent { count: 9, sure: 9 }), 2);
        assert_eq!(Extent::new(&FOUR, None).matching(Extent { count: 9, sure: 1 }), 1);
    }
}
