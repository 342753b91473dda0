//! The communication operations of a process: what is kept of its events once they were walked.
//!
//! Operations stand in the order of their events; with several threads in MPI, in the order of time. Positions are 32
//! bits wide, because one process never records more calls than that in files that fit a worker.

mod calls;
mod flagged;
mod messages;

use model::Ticks;
use patterns::matched::{BarrierClass, CollectiveClass, Interval, LockClass};

use crate::call_tree::PathId;
use crate::ids::EventNumber;
use crate::journal::EventSpot;
use crate::severity::Row;
use crate::wire::wire;

pub use calls::{Call, CallId, CallSite, Calls, NO_CALL};
pub(crate) use flagged::Flagged;
pub use messages::{Envelope, Envelopes, Receive, Send};

/// Where a process is at some time: what others may have to wait for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Place {
    /// Position of the location in the report.
    pub location: u32,
    /// The call path in the tree of the location's process.
    pub path: PathId,
}

wire!(Place { [location, path] });

/// Stands for the communicator of all processes in `MPI_Init`.
pub const WORLD_AT_INIT: u32 = u32::MAX;

/// Stands for the communicator of all processes in `MPI_Finalize`.
pub const WORLD_AT_FINALIZE: u32 = u32::MAX - 1;

/// A process's part in a collective operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Collective {
    /// When it began.
    pub begin: Ticks,
    /// When it ended.
    pub end: Ticks,
    /// The call that did it.
    pub call: CallId,
    /// The number of the record of its begin, where records are numbered.
    pub begun: EventNumber,
    /// The event of its end.
    pub position: EventNumber,
    /// Position of the communicator in the definitions, or one of the `WORLD_AT_…`.
    pub communicator: u32,
    /// What it does; `None` for operations that are counted only.
    pub class: Option<CollectiveClass>,
    /// OTF2's number of the operation.
    pub operation: u8,
    /// Rank of the root in the communicator, or OTF2's number for none.
    pub root: u32,
    /// Bytes that this process put into it.
    pub sent: u64,
    /// Bytes that this process got from it.
    pub received: u64,
}

/// A thread in a barrier of OpenMP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Barrier {
    /// Which fork of the process made the team, from 1.
    pub team: u32,
    /// Position of its location in the report.
    pub location: u32,
    /// The row of the barrier's call path in the severities of the location.
    pub row: Row,
    /// The region of the barrier.
    pub region: u32,
    /// What kind of barrier it is.
    pub class: BarrierClass,
    /// From enter to leave.
    pub visit: Interval,
    /// Time in which the thread ran tasks in there.
    pub tasks: Ticks,
    /// The number of the record that it was entered by, where records are numbered.
    pub entered: EventNumber,
    /// The event of its end.
    pub position: EventNumber,
    /// The visit of the thread of its team that entered it last, as a position in [`Operations::barriers`]; the same for
    /// all that visit this barrier; `None` if that is not known.
    pub last: Option<u32>,
}

/// A parallel region that a member of a team has entered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParallelRegion {
    /// Which fork of the process made the team, from 1.
    pub team: u32,
    /// Position of the member's location in the report.
    pub location: u32,
    /// Whether the member has forked the team.
    pub is_master: bool,
    /// Whether the member is in no other team.
    pub is_outermost: bool,
    /// When the team was forked.
    pub fork: Ticks,
    /// When the member entered the region.
    pub enter: Ticks,
    /// That event.
    pub position: EventNumber,
}

/// What a thread has to do with a team, where records are numbered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TeamEvent {
    /// Which fork of the process made the team, from 1.
    pub team: u32,
    /// What happened.
    pub kind: TeamEventKind,
    /// Which record says so.
    pub spot: EventSpot,
}

/// What may happen to a team.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum TeamEventKind {
    /// A thread makes it.
    Fork,
    /// A member begins.
    Begin,
    /// A member ends.
    End,
    /// The thread that made it goes on alone.
    Join,
}

/// A lock that a thread got.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lock {
    /// Position of its location in the report.
    pub location: u32,
    /// The row of the call path in the severities of the location.
    pub row: Row,
    /// What kind of lock it is.
    pub class: LockClass,
    /// From entering the call until the thread had the lock.
    pub call: Interval,
    /// The release by the thread that had it before; `None` if nobody had it, or that is not known.
    pub released: Option<Release>,
}

/// A lock becomes free.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Release {
    /// When.
    pub time: Ticks,
    /// The thread that had the lock, and where it was.
    pub place: Place,
}

/// The first moment from which on operations may be missing, as numbers of operations before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Gap {
    /// Sends before it.
    pub sends: usize,
    /// Receives that were complete before it.
    pub receives: usize,
    /// Collective operations before it.
    pub collectives: usize,
}

/// What is missing before operations that are in the trace, of their channel or on their communicator: by their positions,
/// rising. It holds for later ones of that channel, too, until another number is told.
#[derive(Clone, Debug, Default)]
pub struct Unrecorded {
    /// Before sends.
    pub sends: Vec<(u32, u64)>,
    /// Before receives, in the order in which they completed.
    pub receives: Vec<(u32, u64)>,
    /// Before collective operations.
    pub collectives: Vec<(u32, u64)>,
    /// When receives were posted whose posting is missing.
    pub postings: Vec<(u32, Ticks)>,
    /// Envelopes of receives before which an unknown number is missing from the first pause on; in no order.
    pub disordered: Vec<u32>,
}

impl Unrecorded {
    /// When a receive was posted, if that is missing in the trace.
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
    /// Whether nobody knows what the process did at its end: events are missing, or the recorder was switched off.
    pub has_unknown_end: bool,
    /// Where the recording was interrupted first, if it was, and an unknown number of operations is missing.
    pub gap: Option<Gap>,
    /// Whether that is so, among other reasons, because recording was switched off.
    pub was_off: bool,
    /// Where the recording paused first, if it did, and what is missing since then is counted.
    pub pause: Option<Gap>,
    /// What is missing because of pauses.
    pub unrecorded: Unrecorded,
    /// Whether receives were posted that the trace does not complete.
    pub has_open_receives: bool,
    /// Calls, in the order of their first operation.
    pub calls: Calls,
    /// Messages sent, in the order of their sends.
    pub sends: Vec<Send>,
    /// Messages received, in the order of their completions.
    pub receives: Vec<Receive>,
    /// Envelopes of messages sent: to whom.
    pub destinations: Envelopes,
    /// Envelopes of messages received: from whom.
    pub sources: Envelopes,
    /// Collective operations, in the order of their ends.
    pub collectives: Vec<Collective>,
    /// Visits of threads to barriers, in the order of their begins.
    pub barriers: Vec<Barrier>,
    /// Parallel regions that threads entered, in the order of time.
    pub parallel_regions: Vec<ParallelRegion>,
    /// Where the main thread has joined teams and is in no other, in its journal.
    pub joins: Vec<EventNumber>,
    /// Locks that threads got, in the order of time.
    pub locks: Vec<Lock>,
    /// What threads had to do with teams, in the order of time; empty unless records are numbered.
    pub teams: Vec<TeamEvent>,
    /// Where threads communicated, in the order in which they did; empty unless records are numbered and there are several.
    pub order: Vec<EventSpot>,
}

impl Operations {
    /// From here on operations may be missing; only the first such place counts.
    pub fn interrupt(&mut self) {
        let here = self.here();
        self.gap.get_or_insert(here);
    }

    /// From here on operations may be missing, which are counted.
    pub fn pause(&mut self) {
        let here = self.here();
        self.pause.get_or_insert(here);
    }

    /// Recording is switched off, and nobody counts.
    pub fn switch_off(&mut self) {
        self.interrupt();
        self.was_off = true;
    }

    /// What is missing since the first pause is not known.
    pub fn lose_count(&mut self) {
        self.switch_off();
        if let (Some(pause), Some(gap)) = (self.pause, &mut self.gap) {
            gap.sends = gap.sends.min(pause.sends);
            gap.receives = gap.receives.min(pause.receives);
            gap.collectives = gap.collectives.min(pause.collectives);
        }
    }

    /// A gap that begins here.
    fn here(&self) -> Gap {
        Gap { sends: self.sends.len(), receives: self.receives.len(), collectives: self.collectives.len() }
    }

    /// Gives back the room that was kept for growing.
    pub fn shrink(&mut self) {
        self.calls.shrink();
        self.sends.shrink_to_fit();
        self.receives.shrink_to_fit();
        self.destinations.shrink();
        self.sources.shrink();
        self.collectives.shrink_to_fit();
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

    /// Where a call was made.
    ///
    /// # Panics
    /// If there is no such call.
    #[inline]
    pub fn site(&self, id: CallId) -> &CallSite {
        self.calls.site_of(id)
    }

    /// To whom a message was sent.
    ///
    /// # Panics
    /// If it is not one of these.
    #[inline]
    pub fn destination(&self, send: &Send) -> &Envelope {
        &self.destinations.list()[send.envelope()]
    }

    /// From whom a message was received.
    ///
    /// # Panics
    /// If it is not one of these.
    #[inline]
    pub fn source(&self, receive: &Receive) -> &Envelope {
        &self.sources.list()[receive.envelope()]
    }
}
