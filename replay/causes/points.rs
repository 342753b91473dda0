//! Synchronisation points: events at which a location has synchronised with others (specification 7.1).

use model::Ticks;

use crate::ids::JournalPosition;
use crate::journal::JournalSpot;

/// With whom.
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
    /// The threads of this team, at the begin of a parallel region.
    Region {
        /// That fork.
        team: u32,
        /// Whether the thread is the one that forked the team.
        is_master: bool,
    },
}

/// Where the critical path goes on, seen backwards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Next {
    /// Nowhere: it goes through the point.
    Through,
    /// It begins here.
    Start,
    /// If the point waits: at the event that it waits for.
    Blamed(JournalSpot),
    /// At the threads of a team that did not wait there; the number of the team's meeting.
    Team(u32),
}

/// An event at which a location has synchronised with others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SyncPoint {
    /// Its place in the journal.
    pub(super) position: JournalPosition,
    /// How long the location waited there; 0 if others waited for it.
    pub(super) wait: Ticks,
    /// The time in the call that belongs to the synchronisation, not to what came after it: the time in the call without
    /// its completion.
    pub(super) taken: Ticks,
    /// With whom.
    pub(super) peers: Peers,
    /// Where the critical path goes on.
    pub(super) next: Next,
}

impl SyncPoint {
    /// Whether the critical path does not go through it.
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
