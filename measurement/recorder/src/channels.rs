//! Counts of messages that are missing in the trace because recording was switched off, for each channel.
//!
//! Messages of a channel (communicator, source, destination, tag) do not overtake each other, so an analysis
//! pairs the k-th send with the k-th receive that was posted (MPI 4.0, 3.5). Where some are missing in the
//! trace, it needs their number, which the next one that is in the trace has as an attribute. Of receives the
//! order of posting counts, which the recorder knows for certain only where receives complete in that order;
//! where they do not, and some of them are missing, the channel is *disordered*.
//!
//! Nothing is counted before recording is switched off for the first time, unless windows are chosen: until
//! then nothing is missing.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::key;
use crate::levels::Zeroed;
use crate::shared::Shared;

/// A channel from the point of view of the process, or the collective operations of a communicator.
#[derive(Clone, Copy)]
pub(crate) enum Channel {
    /// Messages to a rank of a communicator: (communicator, rank, tag).
    To(u32, u32, u32),
    /// Messages from a rank of a communicator.
    From(u32, u32, u32),
    /// Partitioned messages to a rank by one pair of requests: (communicator, rank, tag, number of the pair).
    PartitionedTo(u32, u32, u32, u32),
    /// Partitioned messages from a rank.
    PartitionedFrom(u32, u32, u32, u32),
    /// Collective operations.
    Collective(u32),
    /// Collective operations among neighbours.
    Neighborhood(u32),
}

impl Channel {
    /// Returns a number that identifies the channel. Two of a million share one with a probability of 10⁻⁷.
    #[inline]
    pub(crate) fn key(self) -> u64 {
        let (kind, communicator, rank, tag): (u32, _, _, _) = match self {
            Channel::To(communicator, rank, tag) => (1, communicator, rank, tag),
            Channel::From(communicator, rank, tag) => (2, communicator, rank, tag),
            Channel::Collective(communicator) => (3, communicator, 0, 0),
            Channel::Neighborhood(communicator) => (4, communicator, 0, 0),
            // Every pair of requests has kinds of its own.
            Channel::PartitionedTo(communicator, rank, tag, pair) => (5 + 2 * pair, communicator, rank, tag),
            Channel::PartitionedFrom(communicator, rank, tag, pair) => {
                (6 + 2 * pair, communicator, rank, tag)
            }
        };
        let (kind, communicator) = (u64::from(kind), u64::from(communicator));
        key::of(&[kind << 32 | communicator, u64::from(rank) << 32 | u64::from(tag)])
    }
}

/// The counters of a channel. All zero for a channel without messages so far.
struct ChannelCounters {
    /// Messages that are not in the trace.
    missing: AtomicU64,
    /// The value of `missing` that the trace has last.
    reported: AtomicU64,
    /// The latest posting time of the completed receives that are not in the trace.
    last_missing: AtomicU64,
    /// The latest posting time of the completed receives that are in the trace.
    last_recorded: AtomicU64,
}

/// The gap before a receive, for its attributes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct ReceiveGap {
    /// Number of messages of the channel that are missing so far, if the trace does not have that number yet.
    pub(crate) missing: Option<u64>,
    /// Whether missing receives were posted behind this one, but counted before it.
    pub(crate) is_disordered: bool,
}

/// The channels of a process.
pub(crate) struct Channels {
    is_counting: AtomicBool,
    known: Shared<ChannelCounters>,
}

impl Channels {
    pub(crate) const fn new() -> Channels {
        Channels { is_counting: AtomicBool::new(false), known: Shared::new() }
    }

    /// Starts counting: from here on something may be missing.
    pub(crate) fn begin(&self) {
        self.is_counting.store(true, Ordering::Relaxed);
    }

    /// Whether messages are counted, as some may be missing.
    #[inline]
    pub(crate) fn are_counted(&self) -> bool {
        self.is_counting.load(Ordering::Relaxed)
    }

    /// Notes the start of an operation that is in the trace; returns how many before it are missing, if the
    /// trace does not have that number yet.
    pub(crate) fn recorded(&self, channel: Channel) -> Option<u64> {
        self.known.find(channel.key()).and_then(ChannelCounters::report)
    }

    /// Counts the start of an operation that will be missing. `false` if there is no memory to count it.
    #[must_use]
    pub(crate) fn missing(&self, channel: Channel) -> bool {
        self.counters(channel).map(|counters| counters.missing.fetch_add(1, Ordering::Relaxed)).is_some()
    }

    /// Notes that a receive that is in the trace, and was posted at that time, is complete. `None` if there
    /// is no memory for its channel.
    pub(crate) fn received(&self, channel: Channel, posted: u64) -> Option<ReceiveGap> {
        let counters = self.counters(channel)?;
        counters.last_recorded.fetch_max(posted, Ordering::Relaxed);
        let is_disordered = counters.last_missing.load(Ordering::Relaxed) >= posted;
        Some(ReceiveGap { missing: counters.report(), is_disordered })
    }

    /// Counts a receive that is not in the trace, was posted at that time, and is complete. `false` if one
    /// that was posted later is in the trace already, with a number that is too low; or if there is no memory
    /// to count it.
    #[must_use]
    pub(crate) fn received_missing(&self, channel: Channel, posted: u64) -> bool {
        self.counters(channel).is_some_and(|counters| {
            counters.last_missing.fetch_max(posted, Ordering::Relaxed);
            counters.missing.fetch_add(1, Ordering::Relaxed);
            counters.last_recorded.load(Ordering::Relaxed) < posted
        })
    }

    /// Returns the counters of a channel, new ones if there are none yet; `None` without memory.
    #[inline]
    fn counters(&self, channel: Channel) -> Option<&ChannelCounters> {
        self.known.get_or_insert(channel.key(), |_| {})
    }
}

// SAFETY: integers; zero is a value of each.
unsafe impl Zeroed for ChannelCounters {}

impl ChannelCounters {
    /// Returns how many are missing, if the trace does not have that number yet.
    #[inline]
    fn report(&self) -> Option<u64> {
        let missing = self.missing.load(Ordering::Relaxed);
        let reported = self.reported.load(Ordering::Relaxed);
        (missing != reported).then(|| {
            self.reported.store(missing, Ordering::Relaxed);
            missing
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Channel = Channel::From(0, 3, 7);
    /// Miri is about a thousand times slower.
    const MANY: u32 = if cfg!(miri) { 100 } else { 40_000 };

    fn gap(missing: Option<u64>, is_disordered: bool) -> Option<ReceiveGap> {
        Some(ReceiveGap { missing, is_disordered })
    }

    #[test]
    fn missing_messages_are_reported_once() {
        let channels = Channels::new();
        let there = Channel::To(0, 3, 7);
        assert_eq!(channels.recorded(there), None);
        assert!(channels.missing(there) && channels.missing(there));
        assert_eq!(channels.recorded(there), Some(2));
        assert_eq!((channels.recorded(there), channels.recorded(Channel::To(0, 3, 8))), (None, None));
        assert!(channels.missing(there));
        assert_eq!(channels.recorded(there), Some(3));
        // Not the same in the other direction, nor on another communicator.
        assert_eq!((channels.recorded(HERE), channels.recorded(Channel::To(1, 3, 7))), (None, None));
    }

    #[test]
    fn receives_in_the_order_of_posting_are_in_order() {
        let channels = Channels::new();
        assert!(channels.received_missing(HERE, 1) && channels.received_missing(HERE, 2));
        assert_eq!(channels.received(HERE, 3), gap(Some(2), false));
        assert_eq!(channels.received(HERE, 4), gap(None, false));
        assert!(channels.received_missing(HERE, 5));
        assert_eq!(channels.received(HERE, 6), gap(Some(3), false));
    }

    #[test]
    fn receive_that_was_posted_before_a_missing_one_is_disordered() {
        let channels = Channels::new();
        assert!(channels.received_missing(HERE, 5));
        assert_eq!(channels.received(HERE, 4), gap(Some(1), true));
        assert_eq!(channels.received(HERE, 6), gap(None, false));
    }

    #[test]
    fn missing_receive_that_was_posted_before_a_recorded_one_is_noticed() {
        let channels = Channels::new();
        assert_eq!(channels.received(HERE, 4), gap(None, false));
        assert!(!channels.received_missing(HERE, 3));
        // Receives of other channels do not matter.
        assert!(channels.received_missing(Channel::From(0, 3, 8), 3));
    }

    #[test]
    fn many_channels_are_distinguished() {
        let channels = Channels::new();
        let all = || (0..MANY).map(|number| Channel::To(number % 7, number, number % 11));
        for (count, channel) in all().enumerate() {
            (0..count % 3).for_each(|_| assert!(channels.missing(channel)));
        }
        for (count, channel) in all().enumerate() {
            assert_eq!(channels.recorded(channel), Some(count as u64 % 3).filter(|&missing| missing > 0));
        }
    }

    #[test]
    fn threads_that_meet_at_a_new_channel_count_all_messages() {
        let channels = Channels::new();
        let count = || {
            for number in 0..MANY / 8 {
                assert!(channels.missing(Channel::To(0, number, 0)));
            }
        };
        std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(count))));
        assert!((0..MANY / 8).all(|number| channels.recorded(Channel::To(0, number, 0)) == Some(4)));
    }
}
