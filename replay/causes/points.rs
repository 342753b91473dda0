//! Synchronisation points: events at which a location has synchronised with others (specification 7.1).

use std::rc::Rc;

use model::Ticks;

use crate::ids::JournalPosition;
use crate::int::to_u32;
use crate::journal::JournalSpot;
use crate::trace::Trace;

/// The partners of a synchronisation point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Peers {
    /// One process; or a location of the same process, a stream of an accelerator or a thread that uses it, by the number that
    /// [`own_location`] gives it.
    One(u32),
    /// The processes of a list, by its number.
    Several(u32),
    /// All members of a communicator, by its position in the definitions.
    Communicator(u32),
    /// All processes.
    World,
    /// Nobody: the event only bounds a stretch of time.
    Nobody,
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

/// The number of a location as a partner of its own process: numbers behind those of all processes. Streams and threads synchronise
/// one by one (site.md, 6.2).
pub(super) fn own_location(trace: &Trace, location: u32) -> u32 {
    to_u32(trace.processes.len()) + location
}

/// A point at an event that others have waited for.
pub(super) fn caused(position: JournalPosition, taken: Ticks, peers: Peers) -> SyncPoint {
    SyncPoint { position, wait: 0, taken, peers, next: Next::Through }
}

/// Events that several processes may have waited for, other than the ends of blocking collective operations.
#[derive(Debug, Default)]
pub(super) struct SharedCauses {
    /// The event, the time that its call took without the completion after it, and a process that waited.
    all: Vec<(JournalSpot, Ticks, u32)>,
}

impl SharedCauses {
    /// Adds a wait for an event.
    pub(super) fn add(&mut self, causing: JournalSpot, taken: Ticks, process: u32) {
        self.all.push((causing, taken, process));
    }

    /// Adds the points of these events, each with all processes that waited for it, and with the longest completion of all (rest
    /// of MPI 2.3). `first` is the location of the first points.
    pub(super) fn add_points(
        mut self,
        points: &mut [Vec<SyncPoint>],
        first: usize,
        lists: &mut Vec<Rc<[u32]>>,
    ) {
        self.all.sort_unstable_by_key(|&(spot, taken, process)| (spot, process, taken));
        for waits in self.all.chunk_by(|a, b| a.0 == b.0) {
            let Some(&(spot, ..)) = waits.first() else { continue };
            let taken = waits.iter().map(|&(_, taken, _)| taken).min().unwrap_or(0);
            let mut processes: Vec<u32> = waits.iter().map(|&(.., process)| process).collect();
            processes.dedup();
            let peers = match processes[..] {
                [process] => Peers::One(process),
                _ => {
                    lists.push(processes.into());
                    Peers::Several(to_u32(lists.len() - 1))
                }
            };
            points[spot.location as usize - first].push(caused(spot.position, taken, peers));
        }
    }
}

/// Sorts points by position. Of several at one event the first one counts (Q23). If only others have waited there, for example a
/// probe and the receive of its message, the longest completion of all does (rest of MPI 2.3).
pub(super) fn sort(points: &mut Vec<SyncPoint>) {
    points.sort_by_key(|point| point.position);
    points.dedup_by(|other, first| {
        let is_caused = |point: &SyncPoint| point.wait == 0 && point.next == Next::Through;
        if other.position == first.position && is_caused(other) && is_caused(first) {
            first.taken = first.taken.min(other.taken);
        }
        other.position == first.position
    });
    points.shrink_to_fit();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_point_at_an_event_counts_and_the_longest_completion_of_those_that_only_others_wait_at() {
        let mut points = vec![
            caused(JournalPosition::new(7), 5, Peers::One(1)),
            SyncPoint { wait: 4, ..caused(JournalPosition::new(3), 9, Peers::One(2)) },
            caused(JournalPosition::new(3), 1, Peers::One(1)),
            caused(JournalPosition::new(7), 2, Peers::One(1)),
        ];
        sort(&mut points);
        let kept: Vec<(Ticks, Ticks)> = points.iter().map(|point| (point.wait, point.taken)).collect();
        assert_eq!(kept, [(4, 9), (0, 2)]);
    }
}
