//! Whom members of collective operations need: those whose data or presence they wait for (rest of MPI 2.2). Of blocking
//! operations within one group this is written down with their wait states.

use otf2::ROOT_SELF;

use super::EventRef;
use super::events::Told;
use super::matching::Instance;
use super::operations::{HANDLES, Part};
use super::world::World;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Class {
    Barrier,
    OneToN,
    NToOne,
    NToN,
    VariableNToN,
    Scan,
    /// Of a communicator.
    Creation,
    Disconnection,
    Neighborhood,
    WindowCreation,
    WindowRelease,
    Fence,
    /// What all do with a handle, and flushes of a file.
    FileHandling,
    FileTransfer,
}

impl Class {
    /// Of an operation on a communicator. Specification 3.2: codes of OTF2.
    pub(crate) fn of(told: &Told, is_among_neighbors: bool) -> Option<Class> {
        Some(match told.operation.0 {
            _ if is_among_neighbors => Class::Neighborhood,
            0 => Class::Barrier,
            1 | 4 | 5 => Class::OneToN,
            2 | 3 | 12 => Class::NToOne,
            6 | 7 | 8 | 11 | 13 | 16 => Class::NToN,
            9 | 10 => Class::VariableNToN,
            14 | 15 => Class::Scan,
            HANDLES => Class::Creation,
            18 => Class::Disconnection,
            _ => return None,
        })
    }

    pub(crate) fn is_of_window_or_file(self) -> bool {
        matches!(
            self,
            Class::WindowCreation
                | Class::WindowRelease
                | Class::Fence
                | Class::FileHandling
                | Class::FileTransfer
        )
    }

    /// Rest of MPI 2.1: members that began after one's own end were evidently not awaited. Of files those are meant that do not
    /// block.
    pub(crate) fn is_soft(self) -> bool {
        matches!(
            self,
            Class::VariableNToN
                | Class::Creation
                | Class::Disconnection
                | Class::Neighborhood
                | Class::WindowCreation
                | Class::WindowRelease
                | Class::Fence
                | Class::FileTransfer
        )
    }

    /// Class of the costs, in the names of metrics; scans have none (Q10).
    pub(crate) fn costs(self) -> Option<&'static str> {
        Some(match self {
            Class::Barrier => "barrier",
            Class::NToN | Class::VariableNToN => "n2n",
            Class::OneToN => "12n",
            Class::NToOne => "n21",
            Class::Creation | Class::Disconnection => "mgmt",
            Class::Neighborhood => "neighbor",
            Class::WindowCreation | Class::WindowRelease | Class::Fence => "rma",
            Class::FileHandling | Class::FileTransfer => "io",
            Class::Scan => return None,
        })
    }
}

impl Instance {
    /// D, the ranks that a member needs. `None` if that is not known: it has no part itself, or a neighbour has none.
    pub(crate) fn needed(&self, class: Class, world: &World, own: usize) -> Option<Vec<usize>> {
        let part = self.parts[own].as_ref()?;
        if class == Class::Neighborhood {
            return self.needed_neighbors(world, own);
        }
        let parts: Vec<&Part> = self.parts.iter().flatten().collect();
        let sends = |rank: &usize| parts[*rank].told.sent > 0;
        let (sent, received) = (part.told.sent > 0, part.told.received > 0);
        let is_across = |rank: &usize| self.side.is_some_and(|side| (*rank < side) != (own < side));
        let others: Vec<usize> = match (self.side, class) {
            // Creating a communicator needs both groups (rest of MPI 7.1).
            (None, _) | (_, Class::Creation) => (0..parts.len()).collect(),
            (Some(_), _) => (0..parts.len()).filter(is_across).collect(),
        };
        let is_root = |rank: &usize| match self.side {
            None => part.told.root == Some(*rank as u32),
            Some(_) => parts[*rank].told.root == Some(ROOT_SELF),
        };
        let others = others.into_iter();
        Some(match class {
            Class::Barrier | Class::Creation | Class::FileTransfer => others.collect(),
            Class::NToN | Class::VariableNToN if received => others.filter(sends).collect(),
            Class::OneToN if received => others.filter(is_root).filter(sends).collect(),
            Class::NToOne if received && is_root(&own) => others.filter(sends).collect(),
            Class::Scan if self.side.is_none() && (sent || received) => {
                others.take(own + 1).filter(sends).collect()
            }
            _ => Vec::new(),
        })
    }

    /// Rest of MPI 5.2: the neighbours that a member receives from, and that send to it.
    fn needed_neighbors(&self, world: &World, own: usize) -> Option<Vec<usize>> {
        let part = self.parts[own].as_ref()?;
        let mut neighbors = self.sources(world, own)?;
        neighbors.retain(|&rank| rank != own);
        let parts: Vec<&Part> =
            neighbors.iter().map(|&rank| self.parts[rank].as_ref()).collect::<Option<_>>()?;
        let pairs = neighbors.into_iter().zip(parts);
        let needed =
            pairs.filter(|(_, neighbor)| part.told.received > 0 && self.sends_to(world, neighbor, part));
        Some(needed.map(|(rank, _)| rank).collect())
    }

    /// The ranks that a member receives from, ascending; `None` if the trace does not say it.
    fn sources(&self, world: &World, own: usize) -> Option<Vec<usize>> {
        let part = self.parts[own].as_ref()?;
        let members = world.members(part.told.communicator)?;
        let [from, _] = part.told.neighbors?;
        let rank = |process: &usize| members.iter().position(|member| member == process);
        let mut sources: Vec<usize> = world.groups[from].iter().filter_map(rank).collect();
        sources.sort_unstable();
        Some(sources)
    }

    /// Number of neighbours of all members that have no part.
    pub(crate) fn missing_neighbors(&self, world: &World) -> usize {
        let sources = (0..self.parts.len()).filter_map(|own| self.sources(world, own));
        sources.flatten().filter(|&rank| self.parts[rank].is_none()).count()
    }

    /// Whether a neighbour does not contradict that it sends to another one.
    fn sends_to(&self, world: &World, neighbor: &Part, receiver: &Part) -> bool {
        neighbor.told.neighbors.is_none_or(|[_, to]| world.groups[to].contains(&receiver.process))
    }

    /// Number of pairs of neighbours of which one receives from the other one, which does not send to it.
    pub(crate) fn contradictions(&self, world: &World) -> usize {
        let of_member = |own: usize| {
            let sources = self.sources(world, own).unwrap_or_default();
            let parts = sources.into_iter().filter_map(|rank| self.parts[rank].as_ref());
            parts
                .filter(|neighbor| !self.sends_to(world, neighbor, self.parts[own].as_ref().unwrap()))
                .count()
        };
        (0..self.parts.len()).map(of_member).sum()
    }

    /// Of those that a member needs, the last one to begin; of equals the lowest rank.
    pub(crate) fn last(&self, class: Class, needed: &[usize], own: usize) -> Option<usize> {
        let awaited = needed.iter().copied().filter(|&rank| self.is_awaited(class, rank, own));
        awaited.rev().max_by_key(|&rank| self.begin(rank))
    }

    /// Rest of MPI 2.1: whether a member that is needed has been awaited.
    pub(crate) fn is_awaited(&self, class: Class, rank: usize, own: usize) -> bool {
        let end = self.parts[own].as_ref().map_or(i64::MIN, |part| part.ended.time);
        !class.is_soft() || self.begin(rank) <= end
    }

    fn begin(&self, rank: usize) -> i64 {
        self.parts[rank].as_ref().map_or(i64::MIN, |part| part.begun.time)
    }

    /// X, and the record of the begin of the member that it belongs to.
    pub(crate) fn awaited(&self, class: Class, needed: &[usize], own: usize) -> Option<EventRef> {
        Some(self.parts[self.last(class, needed, own)?].as_ref()?.begun)
    }
}
