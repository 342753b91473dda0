//! Goals: whom marks tell their times.

use crate::exchange::Batch;
use crate::exchange::batch::BatchReader;
use crate::tools::Tools;
use crate::wire::{Half, Halves, Wire};

/// What a start is to a dependency.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// The send of a message, to its receive.
    Sent,
    /// The posting of a receive, to both sides of a message by rendezvous: an eager message does not need it.
    Posting,
    /// Any other.
    Other,
}

impl Half for Role {
    fn to_half(self) -> u32 {
        self as u32
    }

    fn of_half(half: u32) -> Role {
        [Role::Sent, Role::Posting, Role::Other][half as usize]
    }
}

/// Whom a mark tells its time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Goal {
    /// A dependency of a location, of which the mark is the first start or another one.
    Dependency {
        /// The location.
        location: u32,
        /// Its number there.
        number: u32,
        /// What the mark is to it.
        role: Role,
    },
    /// A seat at the worker that holds a meeting.
    Seat {
        /// The worker.
        worker: u32,
        /// The number of the seat there.
        number: u32,
    },
}

impl Goal {
    /// The worker that owns it.
    pub(super) fn worker(self, tools: &Tools<'_>) -> usize {
        match self {
            Goal::Dependency { location, .. } => tools.owner_of(location),
            Goal::Seat { worker, .. } => worker as usize,
        }
    }
}

impl Wire for Goal {
    fn put(&self, batch: &mut Batch) {
        match *self {
            Goal::Dependency { location, number, role } => {
                Halves(location, number).put(batch);
                Halves(0_u32, role).put(batch);
            }
            Goal::Seat { worker, number } => {
                Halves(worker, number).put(batch);
                Halves(1_u32, Role::Other).put(batch);
            }
        }
    }

    fn get(reader: &mut BatchReader<'_>) -> Goal {
        let Halves(place, number): Halves<u32, u32> = Wire::get(reader);
        let Halves(kind, role): Halves<u32, Role> = Wire::get(reader);
        match kind {
            0 => Goal::Dependency { location: place, number, role },
            _ => Goal::Seat { worker: place, number },
        }
    }
}

/// The goals of the marks of a location, in 12 bytes each.
#[derive(Clone, Debug, Default)]
pub(super) struct Goals(Vec<Entry>);

/// A goal: its mark, the place and the number there.
#[derive(Clone, Copy, Debug)]
struct Entry {
    mark: u32,
    place: u32,
    /// In the upper two bits the role, or that it is a seat.
    number: u32,
}

const NUMBER: u32 = (1 << 30) - 1;
const SEAT: u32 = 3;

impl Goals {
    /// Adds a goal of a mark.
    ///
    /// # Panics
    /// If it is a number of 30 bits.
    pub(super) fn push(&mut self, mark: u32, goal: Goal) {
        let (place, number, kind) = match goal {
            Goal::Dependency { location, number, role } => (location, number, role.to_half()),
            Goal::Seat { worker, number } => (worker, number, SEAT),
        };
        assert!(number <= NUMBER, "there are too many dependencies at a location");
        self.0.push(Entry { mark, place, number: kind << 30 | number });
    }

    /// The mark and the goal at a position.
    #[inline]
    pub(super) fn get(&self, at: usize) -> Option<(u32, Goal)> {
        self.0.get(at).map(|entry| (entry.mark, entry.goal()))
    }

    /// All, in their order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, Goal)> {
        self.0.iter().map(|entry| (entry.mark, entry.goal()))
    }

    /// Those of a mark, once they are in order.
    pub(super) fn of(&self, mark: u32) -> impl Iterator<Item = Goal> + Clone {
        let first = self.0.partition_point(|entry| entry.mark < mark);
        self.0[first..].iter().take_while(move |entry| entry.mark == mark).map(|entry| entry.goal())
    }

    /// Brings them in the order of marks.
    pub(super) fn sort(&mut self) {
        self.0.sort_by_key(|entry| entry.mark);
        self.0.shrink_to_fit();
    }
}

impl Entry {
    #[inline]
    fn goal(self) -> Goal {
        let (place, number) = (self.place, self.number & NUMBER);
        match self.number >> 30 {
            SEAT => Goal::Seat { worker: place, number },
            role => Goal::Dependency { location: place, number, role: Role::of_half(role) },
        }
    }
}
