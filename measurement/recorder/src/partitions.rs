//! The partitions of partitioned sends (MPI 4.0, chapter 4): how many of each are not ready yet.
//!
//! Threads make partitions ready at the same time, so this is apart from the operation of the request, which only
//! one call at a time may change.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::channels::Channel;
use crate::handles::Handles;
use crate::levels::Zeroed;
use crate::shared::Shared;

/// The partitions of all partitioned sends of the process, by request.
pub(crate) struct Partitions {
    known: Handles<Partitioned>,
    /// Numbers of requests that were initialized, by channel: the first one to a rank with a tag matches the first
    /// one there, whenever they are started.
    initialized: Shared<AtomicU32>,
}

/// The partitions of one request.
struct Partitioned {
    /// How many are not ready.
    left: AtomicU32,
    /// Whether the send, which starts when the last one is ready, is in the trace.
    is_recorded: AtomicBool,
}

// SAFETY: an atomic integer and an atomic `bool`; zero is a value of each.
unsafe impl Zeroed for Partitioned {}

impl Partitions {
    pub(crate) const fn new() -> Partitions {
        Partitions { known: Handles::new(), initialized: Shared::new() }
    }

    /// Returns the number of a request that has been initialized, among those of its channel, from 1.
    pub(crate) fn next_of(&self, channel: Channel) -> u32 {
        let count = self.initialized.get_or_insert(channel.key(), |_| {});
        1 + count.map_or(0, |count| count.fetch_add(1, Ordering::Relaxed))
    }

    /// Notes that a request is started: none of its partitions is ready.
    pub(crate) fn start(&self, request: usize, count: u32) {
        self.known.insert(request, |partitioned| {
            partitioned.left.store(count, Ordering::Relaxed);
            partitioned.is_recorded.store(false, Ordering::Relaxed);
        });
    }

    /// Notes that so many more partitions of a request become ready; returns whether these are the last.
    pub(crate) fn ready(&self, request: usize, count: u32) -> bool {
        let known = self.known.find(request).filter(|_| count > 0);
        known.is_some_and(|partitioned| partitioned.left.fetch_sub(count, Ordering::Relaxed) == count)
    }

    /// Notes whether the send of a request is in the trace.
    pub(crate) fn set_recorded(&self, request: usize, is_recorded: bool) {
        if let Some(partitioned) = self.known.find(request) {
            partitioned.is_recorded.store(is_recorded, Ordering::Relaxed);
        }
    }

    /// Whether the send of a request is in the trace.
    pub(crate) fn is_recorded(&self, request: usize) -> bool {
        self.known.find(request).is_some_and(|partitioned| partitioned.is_recorded.load(Ordering::Relaxed))
    }

    /// Removes a request that is being freed.
    pub(crate) fn remove(&self, request: usize) {
        self.known.remove(request, |_| ());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TO: Channel = Channel::PartitionedTo(0, 1, 7, 0);

    #[test]
    fn requests_of_a_channel_are_numbered_in_their_order() {
        let partitions = Partitions::new();
        let others = [Channel::PartitionedFrom(0, 1, 7, 0), Channel::PartitionedTo(0, 1, 8, 0)];
        assert_eq!(
            [TO, TO, others[0], others[1], TO].map(|channel| partitions.next_of(channel)),
            [1, 2, 1, 1, 3]
        );
    }

    #[test]
    fn one_of_the_threads_makes_the_last_partition_ready() {
        let partitions = Partitions::new();
        for round in 1..if cfg!(miri) { 3 } else { 100 } {
            partitions.start(16, 4 * round);
            let last = AtomicU32::new(0);
            let make_ready = || {
                for _ in 0..round {
                    last.fetch_add(u32::from(partitions.ready(16, 1)), Ordering::Relaxed);
                }
            };
            std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(make_ready))));
            assert_eq!(last.into_inner(), 1);
        }
        assert!(!partitions.ready(16, 0) && !partitions.ready(32, 1));
    }

    #[test]
    fn send_is_recorded_until_its_request_is_started_again() {
        let partitions = Partitions::new();
        partitions.start(16, 2);
        assert!(partitions.ready(16, 2) && !partitions.is_recorded(16));
        partitions.set_recorded(16, true);
        assert!(partitions.is_recorded(16));
        partitions.start(16, 2);
        assert!(!partitions.is_recorded(16));
        partitions.remove(16);
        assert!(!partitions.ready(16, 2));
    }
}
