//! Synchronisation points: events at which a location has synchronised with others (specification 7.1).

use model::Ticks;

use crate::ids::JournalPosition;
use crate::journal::JournalSpot;

/// The partners of a synchronisation point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Peers {
    /// One process.
    One(u32),
    /// The processes of a list, by its number.
    Several(u32),
    /// All members of a communicator, by its position in the definitions.
    Communicator(u32),
    /// All processes.
    World,
    /// The threads of this team, in a barrier; by the fork of the process that made it.
    Barrier {
        /// That fork.
        team: u32,
    },
    /// The threads of this team, at the start of a parallel region.
    Region {
        /// That fork.
        team: u32,
        /// Whether the thread is the one that forked the team.
        is_master: bool,
    },
}

/// Continuation of the critical path before a point, seen backwards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Next {
    /// On the same location, past the point.
    Through,
    /// None: the path starts here.
    Start,
    /// If the point waits: at the event that it waits for.
    Blamed(JournalSpot),
    /// At the threads of a team that did not wait there; the number of the team's meeting.
    Team(u32),
}

/// A synchronisation point: an event at which a location has synchronised with others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SyncPoint {
    /// Its position in the journal.
    pub(super) position: JournalPosition,
    /// Waiting time of the location at this event; 0 if others waited for it.
    pub(super) wait: Ticks,
    /// The time in the call that belongs to the synchronisation, not to the completion after it.
    pub(super) taken: Ticks,
    /// The partners.
    pub(super) peers: Peers,
    /// Continuation of the critical path.
    pub(super) next: Next,
}

impl SyncPoint {
    /// Whether the critical path stops here instead of going through.
    pub(super) fn is_stop(&self) -> bool {
        match self.next {
            Next::Through => false,
            Next::Start | Next::Team(_) => true,
            Next::Blamed(_) => self.wait > 0,
        }
    }
}

/// Sorts points by position. Of several at one event the first one counts (Q23).
pub(super) fn sort(points: &mut Vec<SyncPoint>) {
    points.sort_by_key(|point| point.position);
    points.dedup_by_key(|point| point.position);
    points.shrink_to_fit();
}
