//! Communicators as sets of processes, which give ranks in events their meaning.
//!
//! OTF2 defines a rank in two steps: the group of a communicator lists ranks of its paradigm, and the
//! `COMM_LOCATIONS` group of the paradigm lists the location of each of those.

use std::sync::Arc;

use model::{Definitions, Group, GroupType, Members, Paradigm};
use rustc_hash::FxHashMap;

use crate::error::Error;
use crate::int::to_u32;

/// `GroupFlag` bit: ranks in events are ranks of the paradigm already.
const GLOBAL_MEMBERS: u32 = 1;

/// The processes of a communicator. Communicators of one group share its list, as a trace may have many
/// duplicates.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Participants {
    /// Every process by itself.
    Myself,
    /// Processes by rank; positions in [`Trace::processes`](crate::trace::Trace::processes).
    Ranks(Arc<[u32]>),
    /// The two sides of an inter-communicator, processes by rank.
    Sides(GroupSides),
    /// Of MPI, with processes that are no locations of the trace (rest of MPI 7.3).
    Outside,
    /// Not a communicator of MPI.
    NotMpi,
}

impl Participants {
    /// Returns the processes by rank, first those of one side, then those of the other; `None` if they are not a list.
    pub fn processes(&self) -> Option<&[u32]> {
        match self {
            Participants::Ranks(ranks) => Some(ranks),
            Participants::Sides(sides) => Some(sides.all()),
            Participants::Myself | Participants::Outside | Participants::NotMpi => None,
        }
    }

    /// Whether a process is the first one of the communicator; every process is of its own.
    pub fn is_first(&self, process: usize) -> bool {
        match self {
            Participants::Myself => true,
            Participants::Ranks(ranks) => ranks.first().is_some_and(|&first| first as usize == process),
            Participants::Sides(sides) => sides.a.first().is_some_and(|&first| first as usize == process),
            Participants::Outside | Participants::NotMpi => false,
        }
    }

    /// Returns the process that `process` means by a peer's `rank`; in an inter-communicator ranks count on
    /// the other side.
    #[inline]
    pub fn peer(&self, process: usize, rank: u32) -> Option<usize> {
        let at = |side: &[u32]| side.get(rank as usize).map(|&process| process as usize);
        match self {
            Participants::Myself => (rank == 0).then_some(process),
            Participants::Ranks(ranks) => at(ranks),
            Participants::Sides(sides) => at(sides.other(to_u32(process))),
            Participants::Outside | Participants::NotMpi => None,
        }
    }
}

/// The two sides of an inter-communicator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GroupSides {
    a: Arc<[u32]>,
    b: Arc<[u32]>,
    /// The processes of the first side, sorted.
    in_a: Arc<[u32]>,
    /// Those of the first side, then those of the other.
    all: Arc<[u32]>,
}

impl GroupSides {
    /// Returns the side that a process is not on.
    fn other(&self, process: u32) -> &[u32] {
        if self.is_in_first(process) { &self.b } else { &self.a }
    }

    /// Whether a process is on the first side.
    pub fn is_in_first(&self, process: u32) -> bool {
        self.in_a.binary_search(&process).is_ok()
    }

    /// The processes of the first side by rank, then those of the other.
    pub fn all(&self) -> &[u32] {
        &self.all
    }
}

/// The world of MPI: the rank of each process.
#[derive(Clone, Debug, Default)]
pub struct World {
    /// Ranks by position of the location group.
    pub rank_of_group: FxHashMap<usize, u32>,
    /// Ranks by the reference of the location that stands for the process.
    pub main_threads: FxHashMap<u64, u32>,
}

/// Reads the ranks from MPI's `COMM_LOCATIONS`; without it no process has a rank.
pub fn world(definitions: &Definitions) -> World {
    let mut world = World::default();
    let Some(group) = paradigm_locations(definitions, Paradigm::MPI) else { return world };
    let group = &definitions.groups[group];
    for (rank, &reference) in group.members.iter().enumerate() {
        let Some(location) = definitions.locations.find(reference) else { continue };
        world.rank_of_group.entry(location.group).or_insert(to_u32(rank));
        world.main_threads.entry(reference).or_insert(to_u32(rank));
    }
    world
}

/// Returns the position of the group that lists the ranks of a paradigm.
pub(crate) fn paradigm_locations(definitions: &Definitions, paradigm: Paradigm) -> Option<usize> {
    definitions.groups.iter().position(|g| g.kind == GroupType::COMM_LOCATIONS && g.paradigm == paradigm)
}

/// Returns the participants of every communicator, by its position. `may_reach_out` says whether groups of MPI may name
/// ranks that are no locations of the trace.
///
/// # Errors
/// If a group of MPI names a location that does not exist, or a rank, unless it may.
pub fn participants(
    definitions: &Definitions,
    process_of_group: &[u32],
    may_reach_out: bool,
) -> Result<Vec<Participants>, Error> {
    let mut groups = Groups {
        definitions,
        process_of_group,
        may_reach_out,
        locations: paradigm_locations(definitions, Paradigm::MPI),
        known: FxHashMap::default(),
        sorted: FxHashMap::default(),
    };
    let mut all = Vec::with_capacity(definitions.communicators.len());
    for (at, communicator) in definitions.communicators.iter().enumerate() {
        let participants = match communicator.members {
            Members::Group(group) => groups.resolve(group),
            Members::Inter(group, other) => match (groups.resolve(group), groups.resolve(other)) {
                (Ok(Participants::Ranks(a)), Ok(Participants::Ranks(b))) => {
                    let in_a = groups.sorted.entry(group).or_insert_with(|| sorted(&a)).clone();
                    let all = [&*a, &*b].concat().into();
                    Ok(Participants::Sides(GroupSides { a, b, in_a, all }))
                }
                (Err(error), _) | (_, Err(error)) => Err(error),
                (Ok(Participants::Outside), _) | (_, Ok(Participants::Outside)) => Ok(Participants::Outside),
                _ => Ok(Participants::NotMpi),
            },
        };
        all.push(participants.map_err(|problem| {
            Error::new(format!(
                "communicator {} \"{}\": {problem}; the definitions contradict each other, record the program again",
                definitions.communicators.reference(at),
                communicator.name.replace(char::is_control, "\u{fffd}")
            ))
        })?);
    }
    Ok(all)
}

/// Returns the processes of the groups that name ranks of MPI's world, in rising order, by the position of the group; groups with
/// a rank that does not exist are left out.
pub fn groups(definitions: &Definitions, process_of_group: &[u32]) -> FxHashMap<u32, Arc<[u32]>> {
    let mut groups = Groups {
        definitions,
        process_of_group,
        may_reach_out: true,
        locations: paradigm_locations(definitions, Paradigm::MPI),
        known: FxHashMap::default(),
        sorted: FxHashMap::default(),
    };
    let of_mpi = |group: &Group| group.kind == GroupType::COMM_GROUP && group.paradigm == Paradigm::MPI;
    let sorted = |processes: Arc<[u32]>| match processes.is_sorted() {
        true => processes,
        false => {
            let mut processes = processes.to_vec();
            processes.sort_unstable();
            processes.into()
        }
    };
    let resolve = |at: usize| match groups.resolve(at) {
        Ok(Participants::Ranks(ranks)) => Some((to_u32(at), sorted(ranks))),
        _ => None,
    };
    let all = 0..definitions.groups.len();
    all.filter(|&at| of_mpi(&definitions.groups[at])).filter_map(resolve).collect()
}

/// Groups resolved to processes, each only once.
struct Groups<'a> {
    definitions: &'a Definitions,
    process_of_group: &'a [u32],
    may_reach_out: bool,
    /// Position of the group with MPI's ranks.
    locations: Option<usize>,
    known: FxHashMap<usize, Result<Participants, String>>,
    /// The processes of first sides of inter-communicators, in rising order.
    sorted: FxHashMap<usize, Arc<[u32]>>,
}

fn sorted(processes: &[u32]) -> Arc<[u32]> {
    let mut processes = processes.to_vec();
    processes.sort_unstable();
    processes.into()
}

impl Groups<'_> {
    fn resolve(&mut self, group: usize) -> Result<Participants, String> {
        // A group with this flag stands for the world, whose list is shared, too.
        let is_global = |group: &Group| {
            group.kind == GroupType::COMM_GROUP
                && group.paradigm == Paradigm::MPI
                && group.flags & GLOBAL_MEMBERS != 0
        };
        let group = match self.locations {
            Some(world) if is_global(&self.definitions.groups[group]) => world,
            _ => group,
        };
        if !self.known.contains_key(&group) {
            self.known.insert(group, self.list(&self.definitions.groups[group]));
        }
        self.known[&group].clone()
    }

    fn list(&self, group: &Group) -> Result<Participants, String> {
        if group.paradigm != Paradigm::MPI {
            return Ok(Participants::NotMpi);
        }
        match group.kind {
            GroupType::COMM_SELF => Ok(Participants::Myself),
            GroupType::COMM_LOCATIONS => {
                let members = group.members.iter().map(|&reference| self.process_of(reference));
                members.collect::<Result<_, _>>().map(Participants::Ranks)
            }
            GroupType::COMM_GROUP => {
                let world = self.locations.ok_or(
                    "its group counts ranks of MPI, and no group lists the locations of MPI's ranks",
                )?;
                let world = &self.definitions.groups[world].members;
                let is_outside = |&rank: &u64| rank >= world.len() as u64;
                if self.may_reach_out && group.members.iter().any(is_outside) {
                    return Ok(Participants::Outside);
                }
                let member = |&rank: &u64| {
                    let reference = usize::try_from(rank).ok().and_then(|rank| world.get(rank));
                    self.process_of(*reference.ok_or_else(|| {
                        format!("its group names rank {rank}, expected less than {}", world.len())
                    })?)
                };
                group.members.iter().map(member).collect::<Result<_, _>>().map(Participants::Ranks)
            }
            _ => Ok(Participants::NotMpi),
        }
    }

    fn process_of(&self, reference: u64) -> Result<u32, String> {
        let location = self.definitions.locations.find(reference);
        location
            .map(|location| self.process_of_group[location.group])
            .ok_or_else(|| format!("its group names location {reference}, expected one that is defined"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_are_counted_in_the_other_side_of_an_intercommunicator() {
        let sides = Participants::Sides(GroupSides {
            a: [2, 0].into(),
            b: [1, 3].into(),
            in_a: [0, 2].into(),
            all: [2, 0, 1, 3].into(),
        });
        assert_eq!(sides.peer(0, 1), Some(3));
        assert_eq!(sides.peer(3, 0), Some(2));
        assert_eq!(sides.peer(3, 2), None);
    }

    #[test]
    fn rank_zero_of_self_is_the_process_itself() {
        assert_eq!(Participants::Myself.peer(7, 0), Some(7));
        assert_eq!(Participants::Myself.peer(7, 1), None);
        assert_eq!([Participants::NotMpi, Participants::Outside].map(|it| it.peer(7, 0)), [None; 2]);
    }
}
