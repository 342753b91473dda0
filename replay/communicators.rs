//! Communicators as sets of processes: what a rank in an event means.
//!
//! OTF2 says who a rank is in two steps: a communicator's group lists ranks of its paradigm, and the paradigm's
//! `COMM_LOCATIONS` group lists the location of each of those.

use model::{Definitions, Group, GroupType, Members, Paradigm};
use rustc_hash::FxHashMap;

use crate::error::Error;

/// `GroupFlag` bit: ranks in events are ranks of the paradigm already.
const GLOBAL_MEMBERS: u32 = 1;

/// Who takes part in a communicator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Participants {
    /// Every process by itself.
    Myself,
    /// Processes by rank; positions in [`Trace::processes`](crate::trace::Trace::processes).
    Ranks(Vec<u32>),
    /// The two sides of an inter-communicator, processes by rank.
    Sides(Vec<u32>, Vec<u32>),
    /// Not a communicator of MPI.
    NotMpi,
}

impl Participants {
    /// The process that `process` means by a peer's `rank`; in an inter-communicator ranks count in the other side.
    pub fn peer(&self, process: usize, rank: u32) -> Option<usize> {
        let at = |side: &[u32]| side.get(rank as usize).map(|&process| process as usize);
        match self {
            Participants::Myself => (rank == 0).then_some(process),
            Participants::Ranks(ranks) => at(ranks),
            Participants::Sides(a, b) => at(if a.contains(&(process as u32)) { b } else { a }),
            Participants::NotMpi => None,
        }
    }
}

/// The world of MPI: which processes have which rank.
#[derive(Clone, Debug, Default)]
pub struct World {
    /// Ranks by position of the location group.
    pub rank_of_group: FxHashMap<usize, u32>,
    /// Ranks by reference of the location that stands for the process.
    pub main_threads: FxHashMap<u64, u32>,
}

/// Reads the ranks from MPI's `COMM_LOCATIONS`; without one, nobody has a rank.
pub fn world(definitions: &Definitions) -> World {
    let mut world = World::default();
    let Some(group) = paradigm_locations(definitions, Paradigm::MPI) else { return world };
    for (rank, &reference) in group.members.iter().enumerate() {
        let Some(location) = definitions.locations.find(reference) else { continue };
        world.rank_of_group.entry(location.group).or_insert(rank as u32);
        world.main_threads.entry(reference).or_insert(rank as u32);
    }
    world
}

fn paradigm_locations(definitions: &Definitions, paradigm: Paradigm) -> Option<&Group> {
    definitions.groups.iter().find(|g| g.kind == GroupType::COMM_LOCATIONS && g.paradigm == paradigm)
}

/// The participants of every communicator, by its position.
///
/// # Errors
/// If a group of MPI names a rank or location that does not exist.
pub fn participants(definitions: &Definitions, process_of_group: &[u32]) -> Result<Vec<Participants>, Error> {
    let process_of = |reference: u64| {
        definitions.locations.find(reference).map(|location| process_of_group[location.group])
    };
    let resolve = |position: usize| resolve(definitions, &definitions.groups[position], &process_of);
    let mut all = Vec::with_capacity(definitions.communicators.len());
    for (at, communicator) in definitions.communicators.iter().enumerate() {
        let participants = match communicator.members {
            Members::Group(group) => resolve(group),
            Members::Inter(a, b) => match (resolve(a), resolve(b)) {
                (Ok(Participants::Ranks(a)), Ok(Participants::Ranks(b))) => Ok(Participants::Sides(a, b)),
                (Err(error), _) | (_, Err(error)) => Err(error),
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

fn resolve(
    definitions: &Definitions,
    group: &Group,
    process_of: &dyn Fn(u64) -> Option<u32>,
) -> Result<Participants, String> {
    if group.paradigm != Paradigm::MPI {
        return Ok(Participants::NotMpi);
    }
    let by_location = |reference: u64| {
        process_of(reference)
            .ok_or_else(|| format!("its group names location {reference}, expected one that is defined"))
    };
    match group.kind {
        GroupType::COMM_SELF => Ok(Participants::Myself),
        GroupType::COMM_LOCATIONS => {
            group.members.iter().map(|&m| by_location(m)).collect::<Result<_, _>>().map(Participants::Ranks)
        }
        GroupType::COMM_GROUP => {
            let world = paradigm_locations(definitions, group.paradigm)
                .ok_or("its group counts ranks of MPI, and no group lists the locations of MPI's ranks")?;
            if group.flags & GLOBAL_MEMBERS != 0 {
                return resolve(definitions, world, process_of);
            }
            let member = |&rank: &u64| {
                let reference = usize::try_from(rank).ok().and_then(|rank| world.members.get(rank));
                by_location(*reference.ok_or_else(|| {
                    format!("its group names rank {rank}, expected less than {}", world.members.len())
                })?)
            };
            group.members.iter().map(member).collect::<Result<_, _>>().map(Participants::Ranks)
        }
        _ => Ok(Participants::NotMpi),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_are_counted_in_the_other_side_of_an_intercommunicator() {
        let sides = Participants::Sides(vec![0, 2], vec![1, 3]);
        assert_eq!(sides.peer(0, 1), Some(3));
        assert_eq!(sides.peer(3, 0), Some(0));
        assert_eq!(sides.peer(3, 2), None);
    }

    #[test]
    fn rank_zero_of_self_is_the_process_itself() {
        assert_eq!(Participants::Myself.peer(7, 0), Some(7));
        assert_eq!(Participants::Myself.peer(7, 1), None);
        assert_eq!(Participants::NotMpi.peer(7, 0), None);
    }
}
