//! Delay: a wait state from both sides, the waiting location and the one that makes it wait (specification
//! 9).

use model::Ticks;
use patterns::matched::CollectiveClass;

use crate::journal::JournalSpot;
use crate::wire::{Half, wire};

/// Class of the wait state that a delay causes. Costs are kept by class.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum DelayClass {
    /// A receive waits for its sender.
    LateSender,
    /// A send waits for its receiver.
    LateReceiver,
    /// Members of a barrier wait for the last of them.
    Barrier,
    /// Members of an N-to-N operation wait for the last of them.
    AllToAll,
    /// Receivers of a 1-to-N operation wait for the root.
    OneToAll,
    /// The root of an N-to-1 operation waits for the last member.
    AllToOne,
    /// Threads wait for the last one in an OpenMP barrier.
    ThreadBarrier,
    /// Threads wait while the main thread works alone.
    IdleThreads,
}

impl DelayClass {
    /// All classes.
    pub const ALL: [DelayClass; DelayClass::COUNT] = [
        DelayClass::LateSender,
        DelayClass::LateReceiver,
        DelayClass::Barrier,
        DelayClass::AllToAll,
        DelayClass::OneToAll,
        DelayClass::AllToOne,
        DelayClass::ThreadBarrier,
        DelayClass::IdleThreads,
    ];

    /// Number of classes.
    pub const COUNT: usize = 8;

    /// The class of delays in collective operations; `None` for those without (specification 9.4).
    pub fn of(class: CollectiveClass) -> Option<DelayClass> {
        match class {
            CollectiveClass::Barrier => Some(DelayClass::Barrier),
            CollectiveClass::AllToAll => Some(DelayClass::AllToAll),
            CollectiveClass::OneToAll => Some(DelayClass::OneToAll),
            CollectiveClass::AllToOne => Some(DelayClass::AllToOne),
            CollectiveClass::Init | CollectiveClass::Finalize | CollectiveClass::Scan => None,
        }
    }

    /// Whether the delay is of a message.
    pub fn is_of_messages(self) -> bool {
        matches!(self, DelayClass::LateSender | DelayClass::LateReceiver)
    }

    /// Whether the delay is of a collective operation.
    pub fn is_of_collectives(self) -> bool {
        matches!(
            self,
            DelayClass::Barrier | DelayClass::AllToAll | DelayClass::OneToAll | DelayClass::AllToOne
        )
    }

    /// The unique names of the metrics of its costs, short and long term.
    pub fn metrics(self) -> [&'static str; 2] {
        match self {
            DelayClass::LateSender => ["delay_latesender", "delay_latesender_longterm"],
            DelayClass::LateReceiver => ["delay_latereceiver", "delay_latereceiver_longterm"],
            DelayClass::Barrier => ["delay_barrier", "delay_barrier_longterm"],
            DelayClass::AllToAll => ["delay_n2n", "delay_n2n_longterm"],
            DelayClass::OneToAll => ["delay_12n", "delay_12n_longterm"],
            DelayClass::AllToOne => ["delay_n21", "delay_n21_longterm"],
            DelayClass::ThreadBarrier => ["delay_ompbarrier", "delay_ompbarrier_longterm"],
            DelayClass::IdleThreads => ["delay_ompidle", "delay_ompidle_longterm"],
        }
    }
}

/// Costs of a wait state, by class, in ticks.
pub(super) type Costs = [f64; DelayClass::COUNT];

/// A wait state with its cause.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Delay {
    /// Class of the wait state.
    pub(super) class: DelayClass,
    /// The event that waits.
    pub(super) waiting: JournalSpot,
    /// The event that it waits for.
    pub(super) causing: JournalSpot,
    /// Waiting time.
    pub(super) wait: Ticks,
    /// Time at which the call of the causing event was entered.
    pub(super) time: Ticks,
    /// The communicator of a collective operation, or the number of the team of threads in its process.
    pub(super) communicator: u32,
}

/// Message about a delay, from the waiting side to the causing one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Notice {
    /// The delay.
    pub(super) delay: Delay,
    /// Time of the causing event's call, where the delay makes that event a synchronisation point (see
    /// [`SyncPoint::taken`](super::points::SyncPoint::taken)).
    pub(super) taken: Ticks,
}

impl Half for DelayClass {
    fn to_half(self) -> u32 {
        self as u32
    }

    fn of_half(half: u32) -> DelayClass {
        DelayClass::ALL[half as usize]
    }
}

wire!(Delay { waiting, causing, wait, time, [communicator, class] });

impl Notice {
    /// Number of words in a batch.
    pub(super) const WORDS: usize = 6;
}

wire!(Notice { delay, taken });
