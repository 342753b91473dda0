//! Patterns: a metric with the rule that detects it.

use model::Ticks;

use crate::explanation::Explanation;
use crate::matched::{
    Acquisition, BarrierClass, BarrierVisit, CollectiveClass, CollectiveMember, DeviceWait, LateMessage,
    LockClass, NonBlockingMember, OneSidedCall, ReceivedMessage, SentMessage, StalledMessage,
};
use crate::metric::Metric;

/// A wait state (or a completion time): its metric, its title, and the function that detects it.
#[derive(Clone, Copy, Debug)]
pub struct Pattern {
    /// The metric that it fills.
    pub metric: Metric,
    /// Numbers of instances on empty messages and on messages with data, for patterns of messages.
    pub instances: Option<[Metric; 2]>,
    /// Title without context, for a summary.
    pub title: &'static str,
    /// Whether another process or thread caused the lost time; false for the time an operation takes to
    /// complete.
    pub is_waiting: bool,
    /// The statistics of its instances; `None` if it has none.
    pub statistics: Option<Statistics>,
    /// What it means, when it is much, and what to do.
    pub explanation: Explanation,
    /// The rule.
    pub detect: Detect,
}

impl Pattern {
    /// Whether it is of start-up and shutdown, about which users can do little.
    pub fn is_of_start_up(&self) -> bool {
        self.metric.parent == Some("mpi_init_exit")
    }
}

/// The statistics of a pattern's instances: number, mean, quartiles and the severest ones (specification 13).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Statistics {
    /// The place in the file of statistics: 0 and up, without gaps.
    pub place: usize,
    /// The calls whose longest bounds the samples.
    pub within: Within,
    /// Whether an instance of all ranks begins when the first of them enters the call; otherwise, when the first begins the
    /// operation (Q18).
    pub is_from_enter: bool,
    /// Whether another pattern at this place has the same instances in other calls: that one describes both.
    pub is_shared: bool,
}

impl Statistics {
    /// Statistics at a place of the file.
    pub(crate) const fn at(place: usize, within: Within) -> Statistics {
        Statistics { place, within, is_from_enter: false, is_shared: false }
    }

    /// Statistics together with those of another pattern, at its place of the file.
    pub(crate) const fn together(place: usize, within: Within) -> Statistics {
        Statistics { is_shared: true, ..Statistics::at(place, within) }
    }
}

/// Calls that an instance lies within.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Within {
    /// A call that receives.
    Receive,
    /// A call that sends.
    Send,
    /// A collective operation, from begin to end.
    Collective(CollectiveClass),
    /// A call that completes non-blocking collective operations.
    NonBlocking,
    /// A call that goes on although its messages have been sent.
    Stalled,
    /// A call of one-sided communication.
    OneSided,
    /// A barrier of threads.
    Barrier(BarrierClass),
    /// From asking for a lock until it is there.
    Lock(LockClass),
}

/// The matched operation on which a pattern is evaluated, and its function. A function returns a length of
/// time in ticks; 0 or less means that the pattern did not occur.
///
/// Functions have no state: the history that a rule needs is in the fields of its arguments.
#[derive(Clone, Copy, Debug)]
pub enum Detect {
    /// On each received message: the time by which it was late. Of the messages that one call completes, only
    /// the one with the longest time counts, and that call has no late receivers. A late message is kept
    /// until it is overtaken.
    LateMessage(fn(&ReceivedMessage) -> Ticks),
    /// On each sent message. Of the messages that one call completes, only the one with the longest time
    /// counts.
    Send(fn(&SentMessage) -> Ticks),
    /// On a late message once a message that is received later turns out to have been sent before it; the
    /// time is the late message's.
    Overtaken(fn(&LateMessage, &ReceivedMessage) -> bool),
    /// On each member of a collective operation of a class.
    Collective(CollectiveClass, fn(&CollectiveMember) -> Ticks),
    /// On each non-blocking collective operation, at the member that completes it. Of the operations that one call completes,
    /// messages among them, only the one with the longest time counts.
    NonBlocking(fn(&NonBlockingMember) -> Ticks),
    /// On each message that has been sent, if the other process comes back to MPI during the call that completes it; of the
    /// messages of a call, on the one that has stalled longest.
    Stalled(fn(&StalledMessage) -> Ticks),
    /// On each call of one-sided communication that has a reason to wait.
    OneSided(fn(&OneSidedCall) -> Ticks),
    /// On each visit of a thread to a barrier of its team.
    ThreadBarrier(fn(&BarrierVisit) -> Ticks),
    /// On each acquisition of a lock.
    Lock(fn(&Acquisition) -> Ticks),
    /// On each call that waits for streams of accelerators.
    DeviceWait(fn(&DeviceWait) -> Ticks),
}
