//! Channels: communicator with source, destination and tag. Messages of one do not overtake each other (MPI 3.1, section
//! 3.5), so that the k-th send of a channel belongs to the k-th receive.
//!
//! Which receive is the k-th is a question of semantics: MPI counts them as they were posted, the reference as they were
//! completed.

use rustc_hash::FxHashMap;

use crate::findings::{Finding, Findings};
use crate::groups::Groups;
use crate::operations::{CallId, Envelope, Operations};
use crate::options::Semantics;
use crate::walk::ProcessProfile;

/// A channel from a process's point of view.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Channel {
    pub(super) communicator: u32,
    /// The process at the other side.
    pub(super) peer: u32,
    pub(super) tag: u32,
}

impl Channel {
    fn of(&Envelope { communicator, peer, tag, .. }: &Envelope) -> Channel {
        Channel { communicator, peer, tag }
    }

    /// The same as the process at the other side sees it, which is this one's peer.
    pub(super) fn from(self, process: usize) -> Channel {
        Channel { peer: process as u32, ..self }
    }
}

/// Positions of operations by channel; channels in the order of their first operation.
#[derive(Clone, Debug, Default)]
pub(super) struct ByChannel {
    channels: Vec<Channel>,
    positions: Groups,
    known: FxHashMap<Channel, u32>,
    /// Operations from this position on are behind the first gap.
    gap: Option<usize>,
}

impl ByChannel {
    /// Of operations with these envelopes, of which each has the one at a position; those without are left out.
    fn new(
        envelopes: &[Envelope],
        operations: impl Iterator<Item = Option<usize>> + Clone,
        gap: Option<usize>,
    ) -> ByChannel {
        let (mut channels, mut known) = (Vec::new(), FxHashMap::default());
        // In a damaged communicator two ranks may be one process.
        let number = |envelope: &Envelope| {
            let channel = Channel::of(envelope);
            *known.entry(channel).or_insert_with(|| {
                channels.push(channel);
                (channels.len() - 1) as u32
            })
        };
        let numbers: Vec<u32> = envelopes.iter().map(number).collect();
        let of = operations.map(|envelope| Some(numbers[envelope?] as usize));
        let positions = Groups::new(channels.len(), of);
        ByChannel { channels, positions, known, gap }
    }

    /// The operations of a channel.
    pub(super) fn find(&self, channel: Channel) -> &[u32] {
        self.known.get(&channel).map_or(&[], |&number| self.positions.of(number as usize))
    }

    /// How much of these operations, which are those of a channel, was recorded.
    pub(super) fn extent(&self, list: &[u32]) -> Extent {
        Extent::new(list, self.gap)
    }

    /// The operations of all channels.
    pub(super) fn lists(&self) -> impl Iterator<Item = (&Channel, &[u32])> {
        let list = |(number, channel)| (channel, self.positions.of(number));
        self.channels.iter().enumerate().map(list)
    }
}

/// How much of a channel one side has recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Extent {
    /// Messages recorded.
    pub(super) count: usize,
    /// Messages recorded before the first gap; all without one.
    pub(super) sure: usize,
}

impl Extent {
    /// Of messages at these positions, those before `gap` are sure.
    fn new(list: &[u32], gap: Option<usize>) -> Extent {
        let sure = gap.map_or(list.len(), |gap| list.iter().filter(|&&at| (at as usize) < gap).count());
        Extent { count: list.len(), sure }
    }

    /// How many messages match.
    pub(super) fn matching(self, other: Extent) -> usize {
        if self.count == other.count { self.count } else { self.sure.min(other.sure) }
    }
}

/// The sends and receives of a process by channel, in the order in which they match.
#[derive(Clone, Debug, Default)]
pub(super) struct Channels {
    pub(super) sends: ByChannel,
    pub(super) receives: ByChannel,
}

impl Channels {
    pub(super) fn new(profile: &ProcessProfile, semantics: Semantics) -> Channels {
        let Operations { sends, receives, destinations, sources, gap, .. } = &*profile.operations;
        let sent = sends.iter().map(|send| (!send.is_cancelled()).then(|| send.envelope()));
        let received = receives.iter().map(|receive| Some(receive.envelope()));
        let mut channels = Channels {
            sends: ByChannel::new(destinations.list(), sent, gap.map(|gap| gap.sends)),
            receives: ByChannel::new(sources.list(), received, gap.map(|gap| gap.receives)),
        };
        // Most programs wait for receives in the order in which they post them.
        let is_sorted = || receives.is_sorted_by_key(|receive| receive.posted);
        if semantics == Semantics::Corrected && !is_sorted() {
            channels.receives.positions.sort_by_key(|at| receives[at as usize].posted);
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
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOUR: [u32; 4] = [2, 3, 5, 8];

    #[test]
    fn operations_are_listed_by_channel_and_two_ranks_may_be_one_process() {
        let envelope = |peer, rank| Envelope { communicator: 0, peer, rank, tag: 9 };
        let envelopes = [envelope(5, 0), envelope(6, 1), envelope(5, 2)];
        let operations = [Some(0), Some(1), None, Some(2), Some(1)].into_iter();
        let mut by_channel = ByChannel::new(&envelopes, operations, Some(3));
        let channel = Channel { communicator: 0, peer: 5, tag: 9 };
        let lists: Vec<_> = by_channel.lists().map(|(channel, list)| (channel.peer, list)).collect();
        assert_eq!(lists, [(5, &[0, 3][..]), (6, &[1, 4])]);
        assert_eq!(by_channel.extent(by_channel.find(channel)), Extent { count: 2, sure: 1 });
        assert!(by_channel.find(channel.from(7)).is_empty());
        by_channel.positions.sort_by_key(|at| 9 - at);
        assert_eq!(by_channel.find(channel), [3, 0]);
    }

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
