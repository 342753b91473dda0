//! Delay: a wait state from both sides, the waiting location and the one that makes it wait (specification
//! 9).

use model::Ticks;
use patterns::matched::CollectiveClass;

use crate::exchange::Batch;
use crate::exchange::batch::BatchReader;
use crate::ids::JournalPosition;
use crate::journal::JournalSpot;
use crate::wire::{Half, Halves, Wire, wire};

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
    /// Members of a new communicator wait for the last of them.
    Communicators,
    /// Members of an operation among neighbours wait for the last of these.
    Neighbors,
    /// Both sides of a message wait until the other process is in MPI again.
    Progress,
    /// Processes wait at windows, and for what others do with them.
    OneSided,
    /// Members wait for the last of them in collective operations on files.
    Files,
    /// Calls wait for kernels and copies on streams of accelerators (site.md, 6.2).
    Accelerator,
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
        DelayClass::Communicators,
        DelayClass::Neighbors,
        DelayClass::Progress,
        DelayClass::OneSided,
        DelayClass::Files,
        DelayClass::Accelerator,
    ];

    /// Number of classes.
    pub const COUNT: usize = 14;

    /// The class of delays in collective operations; `None` for those without (specification 9.4).
    pub fn of(class: CollectiveClass) -> Option<DelayClass> {
        match class {
            CollectiveClass::Barrier => Some(DelayClass::Barrier),
            CollectiveClass::AllToAll => Some(DelayClass::AllToAll),
            CollectiveClass::OneToAll => Some(DelayClass::OneToAll),
            CollectiveClass::AllToOne => Some(DelayClass::AllToOne),
            CollectiveClass::Handle | CollectiveClass::Disconnect => Some(DelayClass::Communicators),
            CollectiveClass::Neighborhood => Some(DelayClass::Neighbors),
            CollectiveClass::WindowCreation | CollectiveClass::WindowRelease | CollectiveClass::Fence => {
                Some(DelayClass::OneSided)
            }
            CollectiveClass::FileHandling | CollectiveClass::FileTransfer => Some(DelayClass::Files),
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
            DelayClass::Barrier
                | DelayClass::AllToAll
                | DelayClass::OneToAll
                | DelayClass::AllToOne
                | DelayClass::Communicators
                | DelayClass::Neighbors
                | DelayClass::Files
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
            DelayClass::Neighbors => ["delay_neighbor", "delay_neighbor_longterm"],
            DelayClass::Communicators => ["delay_mgmt", "delay_mgmt_longterm"],
            DelayClass::Progress => ["delay_progress", "delay_progress_longterm"],
            DelayClass::OneSided => ["delay_rma", "delay_rma_longterm"],
            DelayClass::Files => ["delay_io", "delay_io_longterm"],
            DelayClass::Accelerator => ["delay_accel_wait", "delay_accel_wait_longterm"],
        }
    }
}

/// Form of a cause (rest of MPI 2.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// One event waits for one event of another location, which is a point because of that. Nobody is charged more than the
    /// delay explains.
    Edge,
    /// Members wait for one of them; all have points of their own.
    Group,
    /// One event waits for the release of a lock. Its holder is charged for all that it did since it asked for the lock, without
    /// comparison: where all do the same in turn, that would blame nobody (rest of MPI 8.4).
    Holder,
}

/// Costs of a wait state, by class, in ticks.
pub(super) type Costs = [f64; DelayClass::COUNT];

/// A wait state with its cause.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Delay {
    /// Class of the wait state.
    pub(super) class: DelayClass,
    /// Form of its cause.
    pub(super) form: Form,
    /// The event that waits.
    pub(super) waiting: JournalSpot,
    /// The event that it waits for.
    pub(super) causing: JournalSpot,
    /// Waiting time; 0 if the event has waited for another one before. Then there are no costs (rest of MPI 2.3).
    pub(super) wait: Ticks,
    /// Time at which the call of the causing event was entered.
    pub(super) time: Ticks,
    /// By form and class: the event since which the [holder](Form::Holder) of a lock is charged, as a position in the journal of
    /// the causing location; the number of the team of threads in its process; or the communicator; 0 of streams.
    pub(super) scope: u32,
}

impl Delay {
    /// The communicator, or the window; `None` for threads, streams and locks.
    pub(super) fn communicator(&self) -> Option<u32> {
        let is_of_process = matches!(
            self.class,
            DelayClass::ThreadBarrier | DelayClass::IdleThreads | DelayClass::Accelerator
        );
        (!is_of_process && self.form != Form::Holder).then_some(self.scope)
    }

    /// The event since which the holder of a lock is charged.
    pub(super) fn base(&self) -> Option<JournalPosition> {
        let base = JournalPosition::of_half(self.scope);
        (self.form == Form::Holder && !base.is_none()).then_some(base)
    }
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

/// Class and form in half a word.
#[derive(Clone, Copy, Debug)]
struct Kind(DelayClass, Form);

/// Bits of a form; those of the class are above.
const FORM_BITS: u32 = 2;

impl Half for Kind {
    fn to_half(self) -> u32 {
        let Kind(class, form) = self;
        class.to_half() << FORM_BITS | form as u32
    }

    fn of_half(half: u32) -> Kind {
        const FORMS: [Form; 4] = [Form::Edge, Form::Group, Form::Holder, Form::Edge];
        let form = FORMS[half as usize % FORMS.len()];
        Kind(DelayClass::of_half(half >> FORM_BITS), form)
    }
}

impl Wire for Delay {
    #[inline]
    fn put(&self, batch: &mut Batch) {
        let Delay { class, form, waiting, causing, wait, time, scope } = *self;
        ((waiting, causing), ((wait, time), Halves(scope, Kind(class, form)))).put(batch);
    }

    #[inline]
    fn get(reader: &mut BatchReader<'_>) -> Delay {
        let ((waiting, causing), ((wait, time), Halves(scope, Kind(class, form)))) = Wire::get(reader);
        Delay { class, form, waiting, causing, wait, time, scope }
    }
}

impl Notice {
    /// Number of words in a batch.
    pub(super) const WORDS: usize = 6;
}

wire!(Notice { delay, taken });
