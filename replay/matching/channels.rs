//! Channels: communicator with source, destination and tag. Messages of one do not overtake each other (MPI
//! 3.1, section 3.5), so the k-th send of a channel pairs with the k-th receive. Those of a pair of partitioned
//! requests are a channel of their own (MPI 4.1, 4.2).
//!
//! The order of receives depends on the semantics: MPI counts them in order of posting, the reference in
//! order of completion.

use model::Ticks;
use rustc_hash::FxHashMap;

use super::pairing::{Extent, NumberRun};
use crate::findings::{Finding, Findings};
use crate::groups::Groups;
use crate::ids::CallId;
use crate::int::to_u32;
use crate::operations::{Envelope, Operations};
use crate::options::Semantics;
use crate::walk::Walked;

/// A channel at one of its processes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Channel {
    pub(super) communicator: u32,
    /// The process at the other end.
    pub(super) peer: u32,
    pub(super) tag: u32,
    /// The number of its pair of requests, if its messages are partitioned; else 0.
    pub(super) partitioned: u32,
}

impl Channel {
    fn of(&Envelope { communicator, peer, tag, partitioned, .. }: &Envelope) -> Channel {
        Channel { communicator, peer, tag, partitioned }
    }

    /// The channel at the process at the other end, for which `process` is the peer.
    pub(super) fn from(self, process: usize) -> Channel {
        Channel { peer: to_u32(process), ..self }
    }
}

/// Positions of operations by channel; channels in the order of their first operation.
#[derive(Clone, Debug, Default)]
pub(super) struct ByChannel {
    channels: Vec<Channel>,
    positions: Groups,
    known: FxHashMap<Channel, u32>,
    /// The channel of each envelope.
    numbers: Vec<u32>,
    /// Position of the first operation behind the first gap with unknown counts.
    gap: Option<usize>,
    /// Whether recording was switched off there.
    was_off: bool,
    was_paused: bool,
    /// Counts of missing operations, by channel: most channels have none.
    runs: FxHashMap<u32, Vec<NumberRun>>,
    /// Number of operations before the first pause, in channels whose order is unknown.
    disordered: FxHashMap<u32, usize>,
}

impl ByChannel {
    /// Groups operations by channel, each with the position of its envelope; those without one are left out.
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
                to_u32(channels.len() - 1)
            })
        };
        let numbers: Vec<u32> = envelopes.iter().map(number).collect();
        let of = operations.map(|envelope| Some(numbers[envelope?] as usize));
        let positions = Groups::new(channels.len(), of);
        let (runs, disordered) = (FxHashMap::default(), FxHashMap::default());
        ByChannel { channels, positions, known, numbers, gap, runs, disordered, ..ByChannel::default() }
    }

    /// Numbers operations where some are missing: `missing` holds positions with the number missing before
    /// them, each in the channel of the envelope there; in channels with `disordered` envelopes the numbers
    /// are unknown.
    fn number(
        &mut self,
        missing: &[(u32, u64)],
        envelope: impl Fn(u32) -> usize,
        disordered: &[u32],
        pause: Option<usize>,
    ) {
        let mut told: FxHashMap<u32, Vec<(u32, u64)>> = FxHashMap::default();
        for &(at, missing) in missing {
            told.entry(self.numbers[envelope(at)]).or_default().push((at, missing));
        }
        let mut unknown: Vec<u32> = disordered.iter().map(|&at| self.numbers[at as usize]).collect();
        for (channel, told) in told {
            match runs(self.positions.of(channel as usize), &told) {
                Some(runs) => drop(self.runs.insert(channel, runs)),
                None => unknown.push(channel),
            }
        }
        for channel in unknown {
            self.runs.remove(&channel);
            let list = self.positions.of(channel as usize);
            self.disordered.insert(channel, sure(list, self.gap).min(sure(list, pause)));
        }
    }

    /// The operations of a channel.
    pub(super) fn find(&self, channel: Channel) -> (&[u32], Extent<'_>) {
        match self.known.get(&channel) {
            Some(&number) => self.of(number),
            None => (&[], self.extent(&[], None, &[])),
        }
    }

    /// The operations of all channels.
    pub(super) fn lists(&self) -> impl Iterator<Item = (&Channel, &[u32], Extent<'_>)> {
        (0..).zip(&self.channels).map(|(number, channel)| {
            let (list, extent) = self.of(number);
            (channel, list, extent)
        })
    }

    fn of(&self, number: u32) -> (&[u32], Extent<'_>) {
        let list = self.positions.of(number as usize);
        let runs = self.runs.get(&number).map_or(&[][..], Vec::as_slice);
        (list, self.extent(list, self.disordered.get(&number).copied(), runs))
    }

    fn extent<'a>(&self, list: &[u32], disordered: Option<usize>, runs: &'a [NumberRun]) -> Extent<'a> {
        let sure = disordered.unwrap_or_else(|| sure(list, self.gap));
        let ByChannel { was_off, was_paused, .. } = *self;
        Extent { count: list.len(), sure, was_off, was_paused, runs }
    }
}

/// Number of the operations at these positions before a gap; all without one.
fn sure(list: &[u32], gap: Option<usize>) -> usize {
    gap.map_or(list.len(), |gap| list.iter().filter(|&&at| (at as usize) < gap).count())
}

/// The runs of a channel with operations at these positions, from the recorded numbers of missing operations,
/// which also hold for later ones. `None` if numbers of operations would not increase.
fn runs(list: &[u32], told: &[(u32, u64)]) -> Option<Vec<NumberRun>> {
    let mut runs: Vec<NumberRun> = Vec::new();
    let mut before = 0;
    for (first, &at) in (0..).zip(list) {
        let known = told.partition_point(|&(told, _)| told <= at);
        let missing = known.checked_sub(1).map_or(0, |known| told[known].1);
        if missing < before {
            return None;
        }
        if missing > before {
            runs.push(NumberRun { first, missing });
        }
        before = missing;
    }
    Some(runs)
}

/// The sends and receives of a process by channel, in the order in which they match.
#[derive(Clone, Debug, Default)]
pub(crate) struct Channels {
    pub(super) sends: ByChannel,
    pub(super) receives: ByChannel,
}

impl Channels {
    pub(super) fn new(walked: &Walked, semantics: Semantics) -> Channels {
        let operations = &*walked.operations;
        let Operations { sends, receives, destinations, sources, gap, pause, unrecorded, .. } = operations;
        let sent = sends.iter().map(|send| (!send.is_cancelled()).then(|| send.envelope()));
        let received = receives.iter().map(|receive| Some(receive.envelope()));
        let mut channels = Channels {
            sends: ByChannel::new(destinations.list(), sent, gap.map(|gap| gap.sends)),
            receives: ByChannel::new(sources.list(), received, gap.map(|gap| gap.receives)),
        };
        for by_channel in [&mut channels.sends, &mut channels.receives] {
            (by_channel.was_off, by_channel.was_paused) = (operations.was_off, pause.is_some());
        }
        // Most programs wait for receives in the order of posting.
        let is_sorted = || receives.is_sorted_by_key(|receive| receive.posted);
        if semantics.matches_in_order_of_posting() {
            if !unrecorded.postings.is_empty() {
                channels.receives.positions.sort_by_key(|at| posted(operations, at));
            } else if !is_sorted() {
                channels.receives.positions.sort_by_key(|at| receives[at as usize].posted);
            }
        }
        if pause.is_some() {
            let of_send = |at| sends[at as usize].envelope();
            channels.sends.number(&unrecorded.sends, of_send, &[], pause.map(|pause| pause.sends));
            let of_receive = |at| receives[at as usize].envelope();
            channels.receives.number(
                &unrecorded.receives,
                of_receive,
                &unrecorded.disordered,
                pause.map(|pause| pause.receives),
            );
        }
        channels
    }

    /// Counts channels used by two threads at once: the order of their messages is unknown.
    pub(super) fn check(&self, walked: &Walked, findings: &mut Findings) {
        if walked.process.locations.len() < 2 {
            return;
        }
        let operations = &walked.operations;
        let mut check = |by_channel: &ByChannel, call: &dyn Fn(u32) -> CallId, what: &str| {
            for (channel, list, _) in by_channel.lists() {
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

/// Posting time of a receive, and its place in that order where times are equal.
fn posted(operations: &Operations, at: u32) -> (Ticks, u32) {
    (operations.posting(at).enter, operations.receives[at as usize].posted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_listed_by_channel_and_two_ranks_may_be_one_process() {
        let envelope = |peer, rank| Envelope { communicator: 0, peer, rank, tag: 9, partitioned: 0 };
        let envelopes = [envelope(5, 0), envelope(6, 1), envelope(5, 2)];
        let operations = [Some(0), Some(1), None, Some(2), Some(1)].into_iter();
        let mut by_channel = ByChannel::new(&envelopes, operations, Some(3));
        let channel = Channel { communicator: 0, peer: 5, tag: 9, partitioned: 0 };
        let lists: Vec<_> = by_channel.lists().map(|(channel, list, _)| (channel.peer, list)).collect();
        assert_eq!(lists, [(5, &[0, 3][..]), (6, &[1, 4])]);
        assert_eq!(
            by_channel.find(channel).1,
            Extent { count: 2, sure: 1, was_off: false, was_paused: false, runs: &[] }
        );
        assert!(by_channel.find(channel.from(7)).0.is_empty());
        by_channel.positions.sort_by_key(|at| 9 - at);
        assert_eq!(by_channel.find(channel).0, [3, 0]);
    }

    /// Alternating operations of two channels: those of the first are at the positions 0, 2, 4, 6.
    fn in_turn() -> (ByChannel, Channel) {
        let envelope = |peer| Envelope { communicator: 0, peer, rank: peer, tag: 9, partitioned: 0 };
        let operations = (0..8).map(|at| Some(at % 2));
        let by_channel = ByChannel::new(&[envelope(0), envelope(1)], operations, None);
        (by_channel, Channel { communicator: 0, peer: 0, tag: 9, partitioned: 0 })
    }

    #[test]
    fn number_of_missing_ones_holds_until_the_next_in_the_order_of_completion() {
        let (mut by_channel, channel) = in_turn();
        by_channel.positions.sort_by_key(|at| [0, 1, 4, 5, 2, 3, 6, 7][at as usize]);
        by_channel.number(&[(2, 5), (3, 1), (6, 7)], |at| at as usize % 2, &[], Some(1));
        let runs = [NumberRun { first: 1, missing: 5 }, NumberRun { first: 3, missing: 7 }];
        assert_eq!(
            by_channel.find(channel),
            (&[0, 4, 2, 6][..], Extent { count: 4, sure: 4, was_off: false, was_paused: false, runs: &runs })
        );
    }

    #[test]
    fn channel_without_order_is_sure_before_the_first_pause_only() {
        let (mut by_channel, channel) = in_turn();
        by_channel.number(&[(4, 5)], |at| at as usize % 2, &[0], Some(3));
        assert_eq!(
            by_channel.find(channel).1,
            Extent { count: 4, sure: 2, was_off: false, was_paused: false, runs: &[] }
        );
        // Decreasing numbers are ignored.
        let (mut by_channel, channel) = in_turn();
        by_channel.positions.sort_by_key(|at| 9 - at);
        by_channel.number(&[(4, 5)], |at| at as usize % 2, &[], Some(1));
        assert_eq!(
            by_channel.find(channel).1,
            Extent { count: 4, sure: 1, was_off: false, was_paused: false, runs: &[] }
        );
    }
}
