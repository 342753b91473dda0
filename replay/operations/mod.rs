//! The communication operations of a process: all that is kept of its events after the walk.
//!
//! Operations are in the order of their events; with several threads in MPI, in the order of time. Positions
//! are 32 bits wide, because one process never records more calls than that in files that fit a worker.

mod accelerators;
mod calls;
mod flagged;
mod messages;
mod nonblocking;
mod one_sided;
mod polls;
mod probes;
pub(crate) mod transfers;

use model::Ticks;
use patterns::matched::{BarrierClass, CollectiveClass, Interval, LockClass};

use crate::ids::{CallId, EventNumber, PathId, Row};
use crate::journal::EventSpot;
use crate::wire::wire;

pub use accelerators::{
    Activity, ActivityKind, Awaited, DeviceCall, Direction, EventCall, Launch, Offload, StreamMark,
};
pub use calls::{Call, CallSite, Calls};
pub(crate) use flagged::Flagged;
pub use messages::{Envelope, Envelopes, Receive, Send};
pub use nonblocking::{Done, NonBlocking};
pub use one_sided::{ALL_TARGETS, Access, AccessEpoch, ExposureEpoch, LockCall, LockEpoch, OneSided, Step};
pub use polls::{Asked, Poll, Polls};
pub use probes::{Found, Probe};

/// A location and a call path: the place of an event that others may have to wait for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Place {
    /// Position of the location in the report.
    pub location: u32,
    /// The call path in the tree of the location's process.
    pub path: PathId,
}

wire!(Place { [location, path] });

/// Code for the communicator of all processes in `MPI_Init`.
pub const WORLD_AT_INIT: u32 = u32::MAX;

/// Code for the communicator of all processes in `MPI_Finalize`.
pub const WORLD_AT_FINALIZE: u32 = u32::MAX - 1;

/// A process's part in a collective operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Collective {
    /// Time of its start.
    pub begin: Ticks,
    /// Time of its end.
    pub end: Ticks,
    /// The call of the operation.
    pub call: CallId,
    /// The record of its start, where records are numbered.
    pub begun: EventNumber,
    /// The event of its end.
    pub position: EventNumber,
    /// Number of the communicator, window or file handle among the [sets of processes](crate::trace::Trace::communicators), or
    /// one of the `WORLD_AT_…`.
    pub communicator: u32,
    /// Its class; `None` for operations that are counted only.
    pub class: Option<CollectiveClass>,
    /// OTF2's code of the operation.
    pub operation: u8,
    /// Rank of the root in the communicator, or OTF2's number for none.
    pub root: u32,
    /// Bytes that this process sent.
    pub sent: u64,
    /// Bytes that this process received.
    pub received: u64,
}

impl Collective {
    /// One that moves no data, of which only the times are known.
    pub fn between(begin: Ticks, end: Ticks) -> Collective {
        Collective {
            begin,
            end,
            call: CallId::NONE,
            begun: EventNumber::NONE,
            position: EventNumber::NONE,
            communicator: 0,
            class: None,
            operation: u8::MAX,
            root: u32::MAX,
            sent: 0,
            received: 0,
        }
    }
}

/// The neighbours of a process in an operation among neighbours: positions of groups in the definitions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Neighbors {
    /// Those that it receives from.
    pub sources: u32,
    /// Those that it sends to.
    pub destinations: u32,
}

/// A thread's visit to an OpenMP barrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Barrier {
    /// Number of the process's fork that made the team, from 1.
    pub team: u32,
    /// Position of its location in the report.
    pub location: u32,
    /// The row of the barrier's call path in the severities of the location.
    pub row: Row,
    /// The region of the barrier.
    pub region: u32,
    /// Explicit or implicit.
    pub class: BarrierClass,
    /// From enter to leave.
    pub visit: Interval,
    /// Time in which the thread ran tasks inside the barrier.
    pub tasks: Ticks,
    /// The record of the enter event, where records are numbered.
    pub entered: EventNumber,
    /// The leave event.
    pub position: EventNumber,
    /// The visit of the thread of its team that entered it last, as a position in [`Operations::barriers`];
    /// the same for all visits to this barrier; `None` if unknown.
    pub last: Option<u32>,
}

/// A parallel region that a member of a team has entered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParallelRegion {
    /// Number of the process's fork that made the team, from 1.
    pub team: u32,
    /// Position of the member's location in the report.
    pub location: u32,
    /// Whether the member has forked the team.
    pub is_master: bool,
    /// Whether the member is in no other team.
    pub is_outermost: bool,
    /// Time at which the team was forked.
    pub fork: Ticks,
    /// Time at which the member entered the region.
    pub enter: Ticks,
    /// The enter event.
    pub position: EventNumber,
}

/// An event of a thread team, where records are numbered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TeamEvent {
    /// Number of the process's fork that made the team, from 1.
    pub team: u32,
    /// Kind of event.
    pub kind: TeamEventKind,
    /// The record.
    pub spot: EventSpot,
}

/// Kind of an event of a thread team.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum TeamEventKind {
    /// A thread forks the team.
    Fork,
    /// A member starts.
    Begin,
    /// A member ends.
    End,
    /// The thread that forked the team joins it.
    Join,
}

/// Acquisition of a lock by a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lock {
    /// Position of its location in the report.
    pub location: u32,
    /// The row of the call path in the severities of the location.
    pub row: Row,
    /// Kind of lock.
    pub class: LockClass,
    /// From entering the call until the thread had the lock.
    pub call: Interval,
    /// The release by the previous owner; `None` if there was none, or it is unknown.
    pub released: Option<Release>,
}

/// Release of a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Release {
    /// Time of the release.
    pub time: Ticks,
    /// The releasing thread's location and call path.
    pub place: Place,
}

/// Position of a gap: from here on operations may be missing, given as numbers of operations before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Gap {
    /// Calls before it.
    pub calls: usize,
    /// Sends before it.
    pub sends: usize,
    /// Receives that were complete before it.
    pub receives: usize,
    /// Collective operations before it.
    pub collectives: usize,
    /// Non-blocking ones that were requested before it.
    pub nonblocking: usize,
}

/// Numbers of missing operations of a channel or on a communicator, before operations that are in the trace:
/// by their positions, ascending. They hold for later ones of that channel, too, until the next number.
#[derive(Clone, Debug, Default)]
pub struct Unrecorded {
    /// Before sends.
    pub sends: Vec<(u32, u64)>,
    /// Before receives, in the order in which they completed.
    pub receives: Vec<(u32, u64)>,
    /// Before collective operations.
    pub collectives: Vec<(u32, u64)>,
    /// Posting times of receives whose posting is missing.
    pub postings: Vec<(u32, Ticks)>,
    /// Envelopes of receives before which an unknown number is missing from the first pause on; in no order.
    pub disordered: Vec<u32>,
}

impl Unrecorded {
    /// Posting time of a receive, if the posting is missing in the trace.
    pub fn posting(&self, receive: u32) -> Option<Ticks> {
        let at = self.postings.binary_search_by_key(&receive, |&(receive, _)| receive).ok()?;
        Some(self.postings[at].1)
    }

    fn shrink(&mut self) {
        self.sends.shrink_to_fit();
        self.receives.shrink_to_fit();
        self.collectives.shrink_to_fit();
        self.postings.shrink_to_fit();
        self.disordered.shrink_to_fit();
    }
}

/// All operations of a process.
#[derive(Clone, Debug, Default)]
pub struct Operations {
    /// Whether the end of the process is unknown: events are missing, or the recorder was switched off.
    pub has_unknown_end: bool,
    /// The first interruption of recording with an unknown number of missing operations, if any.
    pub gap: Option<Gap>,
    /// Whether that is, among other reasons, because recording was switched off.
    pub was_off: bool,
    /// The first pause of recording with counts of missing operations, if any.
    pub pause: Option<Gap>,
    /// Stretches in which recording was off on a thread; [`Ticks::MAX`] ends those that go on.
    pub off: Vec<Interval>,
    /// The first of these with counts of messages and of blocking collective operations that move data, but of no others.
    pub uneven_pause: Option<Gap>,
    /// Operations missing because of pauses.
    pub unrecorded: Unrecorded,
    /// Whether receives were posted that the trace does not complete.
    pub has_open_receives: bool,
    /// Calls, in the order of their first operation.
    pub calls: Calls,
    /// Messages sent, in the order of their sends.
    pub sends: Vec<Send>,
    /// Messages received, in the order of their completions.
    pub receives: Vec<Receive>,
    /// Envelopes of messages sent, with their receivers.
    pub destinations: Envelopes,
    /// Envelopes of messages received, with their senders.
    pub sources: Envelopes,
    /// Collective operations, in the order of their ends.
    pub collectives: Vec<Collective>,
    /// Neighbours in those among neighbours, by position in `collectives`, ascending.
    pub neighbors: Vec<(u32, Neighbors)>,
    /// Non-blocking collective operations, in the order of their requests.
    pub nonblocking: Vec<NonBlocking>,
    /// One-sided communication.
    pub one_sided: OneSided,
    /// Tests and probes that have found nothing.
    pub polls: Polls,
    /// The events of leaving calls that may have stalled, and of `MPI_Win_wait`, in the order of calls.
    pub left: Vec<(CallId, EventNumber)>,
    /// Blocking probes, in the order of their ends.
    pub probes: Vec<Probe>,
    /// Visits of threads to barriers, in the order of their starts.
    pub barriers: Vec<Barrier>,
    /// Parallel regions that threads entered, in the order of time.
    pub parallel_regions: Vec<ParallelRegion>,
    /// Joins of the main thread that is in no other team, as positions in its journal.
    pub joins: Vec<EventNumber>,
    /// Acquisitions of locks, in the order of time.
    pub locks: Vec<Lock>,
    /// Events of thread teams, in the order of time; empty unless records are numbered.
    pub teams: Vec<TeamEvent>,
    /// Communication events of threads, in their order; empty unless records are numbered and there are
    /// several threads.
    pub order: Vec<EventSpot>,
}

impl Operations {
    /// Marks a gap: from here on operations may be missing. Only the first one counts.
    pub fn interrupt(&mut self) {
        let here = self.here();
        self.gap.get_or_insert(here);
    }

    /// Marks a pause: from here on operations may be missing, which are counted; `is_even` if whole operations are, on all members.
    pub fn pause(&mut self, is_even: bool) {
        let here = self.here();
        self.pause.get_or_insert(here);
        if !is_even {
            self.uneven_pause.get_or_insert(here);
        }
    }

    /// Marks that recording is switched off without counting.
    pub fn switch_off(&mut self) {
        self.interrupt();
        self.was_off = true;
    }

    /// Marks the counts since the first pause as unknown.
    pub fn lose_count(&mut self) {
        self.switch_off();
        if let (Some(pause), Some(gap)) = (self.pause, &mut self.gap) {
            gap.calls = gap.calls.min(pause.calls);
            gap.sends = gap.sends.min(pause.sends);
            gap.receives = gap.receives.min(pause.receives);
            gap.collectives = gap.collectives.min(pause.collectives);
            gap.nonblocking = gap.nonblocking.min(pause.nonblocking);
        }
    }

    /// A gap at this position.
    fn here(&self) -> Gap {
        Gap {
            calls: self.calls.len(),
            sends: self.sends.len(),
            receives: self.receives.len(),
            collectives: self.collectives.len(),
            nonblocking: self.nonblocking.len(),
        }
    }

    /// Sorts what was added in another order, and frees the memory that only growing needs.
    pub fn shrink(&mut self) {
        self.calls.shrink();
        self.sends.shrink_to_fit();
        self.receives.shrink_to_fit();
        self.destinations.shrink();
        self.sources.shrink();
        self.collectives.shrink_to_fit();
        self.neighbors.shrink_to_fit();
        self.nonblocking.shrink_to_fit();
        self.one_sided.shrink();
        self.polls.shrink();
        self.probes.shrink_to_fit();
        self.left.sort_unstable_by_key(|&(call, _)| call);
        self.left.shrink_to_fit();
        self.off.shrink_to_fit();
        self.unrecorded.shrink();
        self.barriers.shrink_to_fit();
        self.parallel_regions.shrink_to_fit();
        self.joins.shrink_to_fit();
        self.locks.shrink_to_fit();
        self.teams.shrink_to_fit();
        self.order.shrink_to_fit();
    }

    /// A call.
    ///
    /// # Panics
    /// If there is no such call.
    #[inline]
    pub fn call(&self, id: CallId) -> Call {
        self.calls.get(id)
    }

    /// The call site of a call.
    ///
    /// # Panics
    /// If there is no such call.
    #[inline]
    pub fn site(&self, id: CallId) -> &CallSite {
        self.calls.site_of(id)
    }

    /// The call that posted a receive, given by position. Where that call is missing in the trace, its enter is known: then
    /// this is all of it.
    ///
    /// # Panics
    /// If there is no such receive.
    #[inline]
    pub fn posting(&self, receive: u32) -> Interval {
        let posted = self.unrecorded.posting(receive);
        let of_call = || self.call(self.receives[receive as usize].posting).interval;
        posted.map_or_else(of_call, |posted| Interval::new(posted, posted))
    }

    /// The event of leaving a call that may have stalled, or of `MPI_Win_wait`; `None` of others.
    pub fn left(&self, call: CallId) -> Option<EventNumber> {
        let found = self.left.binary_search_by_key(&call, |&(call, _)| call);
        found.ok().map(|at| self.left[at].1)
    }

    /// The envelope of a message sent.
    ///
    /// # Panics
    /// If it is not one of these.
    #[inline]
    pub fn destination(&self, send: &Send) -> &Envelope {
        &self.destinations.list()[send.envelope()]
    }

    /// The envelope of a message received.
    ///
    /// # Panics
    /// If it is not one of these.
    #[inline]
    pub fn source(&self, receive: &Receive) -> &Envelope {
        &self.sources.list()[receive.envelope()]
    }
}
