//! Topologies: who is whose neighbour.

use crate::support::random::Random;
use crate::support::trace::Members;

/// Calls among neighbours.
pub(super) const CALLS: [&str; 5] = [
    "Neighbor_allgather",
    "Neighbor_allgatherv",
    "Neighbor_alltoall",
    "Neighbor_alltoallv",
    "Neighbor_alltoallw",
];

/// The neighbours of a member, as values of attributes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Neighbors {
    pub(super) sources: u64,
    pub(super) destinations: u64,
}

/// A graph of the members of a communicator.
#[derive(Clone, Debug)]
pub(super) struct Topology {
    pub(super) communicator: String,
    pub(super) members: Vec<usize>,
    /// By member.
    pub(super) neighbors: Vec<Neighbors>,
}

/// Draws topologies of the world and of other communicators; adds the sets of neighbours to the communicators, as attributes
/// name sets of processes by these. `lost` is the percentage of neighbours that the other side does not know.
pub(super) fn topologies(
    random: &mut Random,
    communicators: &mut Vec<(String, Members)>,
    ranks: usize,
    lost: usize,
) -> Vec<Topology> {
    let world = ("world".into(), Members::Ranks((0..ranks as u64).collect()));
    let known: Vec<(String, Members)> = [world].into_iter().chain(communicators.iter().cloned()).collect();
    let mut topologies = Vec::new();
    for (communicator, members) in known {
        let Members::Ranks(members) = members else { continue };
        if random.chance(30) {
            continue;
        }
        // Who sends to whom.
        let mut draw = |percent| -> Vec<Vec<bool>> {
            members.iter().map(|_| members.iter().map(|_| random.chance(percent)).collect()).collect()
        };
        let (edges, lost) = (draw(50), draw(lost));
        let mut set = |is_neighbor: &dyn Fn(usize) -> bool| {
            let ranks = (0..members.len()).filter(|&at| is_neighbor(at)).map(|at| members[at]);
            set(communicators, ranks.collect())
        };
        let neighbors = (0..members.len()).map(|at| Neighbors {
            sources: set(&|other| edges[other][at]),
            destinations: set(&|other| edges[at][other] && !lost[at][other]),
        });
        let neighbors = neighbors.collect();
        let members = members.iter().map(|&member| member as usize).collect();
        topologies.push(Topology { communicator, members, neighbors });
    }
    topologies
}

/// The number of a set of processes among the communicators, behind the world and that of a process alone.
pub(super) fn set(communicators: &mut Vec<(String, Members)>, mut processes: Vec<u64>) -> u64 {
    processes.sort_unstable();
    let name = processes.iter().fold("ranks".to_owned(), |name, process| format!("{name}_{process}"));
    let known = communicators.iter().position(|it| it.0 == name);
    let at = known.unwrap_or_else(|| {
        communicators.push((name, Members::Ranks(processes)));
        communicators.len() - 1
    });
    at as u64 + 2
}
