//! Delay: a wait state from both sides, the waiting location and the one that makes it wait (specification
//! 9).

use model::Ticks;
use patterns::matched::CollectiveClass;

use crate::journal::JournalSpot;
use crate::wire::{Half, wire};

/// Class of the wait state that a delay causes. Costs are kept by class.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Class {
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

impl Class {
    /// All classes.
    pub const ALL: [Class; Class::COUNT] = [
        Class::LateSender,
        Class::LateReceiver,
        Class::Barrier,
        Class::AllToAll,
        Class::OneToAll,
        Class::AllToOne,
        Class::ThreadBarrier,
        Class::IdleThreads,
    ];

    /// Number of classes.
    pub const COUNT: usize = 8;

    /// The class of delays in collective operations; `None` for those without (specification 9.4).
    pub fn of(class: CollectiveClass) -> Option<Class> {
        match class {
            CollectiveClass::Barrier => Some(Class::Barrier),
            CollectiveClass::AllToAll => Some(Class::AllToAll),
            CollectiveClass::OneToAll => Some(Class::OneToAll),
            CollectiveClass::AllToOne => Some(Class::AllToOne),
            CollectiveClass::Init | CollectiveClass::Finalize | CollectiveClass::Scan => None,
        }
    }

    /// Whether the delay is of a message.
    pub fn is_of_messages(self) -> bool {
        matches!(self, Class::LateSender | Class::LateReceiver)
    }

    /// Whether the delay is of a collective operation.
    pub fn is_of_collectives(self) -> bool {
        matches!(self, Class::Barrier | Class::AllToAll | Class::OneToAll | Class::AllToOne)
    }

    /// The unique names of the metrics of its costs, short and long term.
    pub fn metrics(self) -> [&'static str; 2] {
        match self {
            Class::LateSender => ["delay_latesender", "delay_latesender_longterm"],
            Class::LateReceiver => ["delay_latereceiver", "delay_latereceiver_longterm"],
            Class::Barrier => ["delay_barrier", "delay_barrier_longterm"],
            Class::AllToAll => ["delay_n2n", "delay_n2n_longterm"],
            Class::OneToAll => ["delay_12n", "delay_12n_longterm"],
            Class::AllToOne => ["delay_n21", "delay_n21_longterm"],
            Class::ThreadBarrier => ["delay_ompbarrier", "delay_ompbarrier_longterm"],
            Class::IdleThreads => ["delay_ompidle", "delay_ompidle_longterm"],
        }
    }
}

/// Costs of a wait state, by class, in ticks.
pub(super) type Costs = [f64; Class::COUNT];

/// A wait state with its cause.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Delay {
    /// Class of the wait state.
    pub(super) class: Class,
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

impl Half for Class {
    fn to_half(self) -> u32 {
        self as u32
    }

    fn of_half(half: u32) -> Class {
        Class::ALL[half as usize]
    }
}

wire!(Delay { waiting, causing, wait, time, [communicator, class] });

impl Notice {
    /// Number of words in a batch.
    pub(super) const WORDS: usize = 6;
}

wire!(Notice { delay, taken });
