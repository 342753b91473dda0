//! What all processes share: communicators and groups (specification 2.1, rest of MPI 7.2).

use model::{Definitions, GroupType, Members, Paradigm, attributes};
use replay::Semantics;

/// The members of a communicator, as indices of processes.
#[derive(Clone, Debug)]
pub(crate) enum Group {
    /// Each process alone (`MPI_COMM_SELF`).
    Alone,
    One(Vec<usize>),
    Two(Vec<usize>, Vec<usize>),
}

/// Data that all processes share.
#[derive(Clone, Debug)]
pub(crate) struct World {
    /// Ticks per second.
    pub(crate) resolution: u64,
    pub(crate) processes: usize,
    /// Sets of processes that take part in operations: communicators, behind them those of windows and of files.
    pub(crate) communicators: Vec<Group>,
    /// The groups of MPI, as indices of processes.
    pub(crate) groups: Vec<Vec<usize>>,
    /// Whether probes that find a message tell which.
    pub(crate) has_found_messages: bool,
}

impl World {
    pub(crate) fn new(definitions: &Definitions, semantics: Semantics) -> World {
        let of_windows = definitions.windows.iter().map(|window| Some(window.communicator));
        let of_files = definitions.file_handles.iter().map(|handle| handle.communicator);
        let all = (0..definitions.communicators.len()).map(Some).chain(of_windows).chain(of_files);
        let communicators = all.map(|at| at.map_or(Group::Alone, |at| group(definitions, at))).collect();
        let of_mpi = |at: usize| match definitions.groups[at].paradigm == Paradigm::MPI {
            true => processes(definitions, &definitions.groups[at].members),
            false => Vec::new(),
        };
        let of_probes = [attributes::PROBE_SOURCE, attributes::PROBE_TAG, attributes::PROBE_COMM];
        let is_defined = |name: &&str| definitions.attributes.iter().any(|known| known == name);
        World {
            resolution: definitions.clock.resolution,
            processes: definitions.location_groups.len(),
            communicators,
            groups: (0..definitions.groups.len()).map(of_mpi).collect(),
            has_found_messages: semantics == Semantics::Corrected && of_probes.iter().all(is_defined),
        }
    }

    /// The number of a window among the sets of processes.
    pub(crate) fn window(&self, definitions: &Definitions, reference: u32) -> usize {
        definitions.communicators.len() + definitions.windows.position(reference.into()).unwrap()
    }

    /// The number of a file among the sets of processes, if it has been opened by those of a communicator.
    pub(crate) fn file(&self, definitions: &Definitions, reference: u64) -> Option<usize> {
        let position = definitions.file_handles.position(reference).unwrap();
        definitions.file_handles[position].communicator?;
        Some(definitions.communicators.len() + definitions.windows.len() + position)
    }

    /// The process of a rank in a set of processes with one group, as another process sees it; `None` if it has no such rank.
    pub(crate) fn rank(&self, set: usize, process: usize, rank: u32) -> Option<usize> {
        match &self.communicators[set] {
            Group::Alone => (rank == 0).then_some(process),
            Group::One(members) => members.get(rank as usize).copied(),
            Group::Two(..) => None,
        }
    }

    /// The members of a communicator by rank; of an inter-communicator both groups. `None` if each process is alone.
    pub(crate) fn members(&self, communicator: usize) -> Option<Vec<usize>> {
        match &self.communicators[communicator] {
            Group::Alone => None,
            Group::One(members) => Some(members.clone()),
            Group::Two(a, b) => Some([a.as_slice(), b].concat()),
        }
    }
}

/// The processes of a group's members, which refer to the locations of MPI; these refer to location ids.
fn processes(definitions: &Definitions, members: &[u64]) -> Vec<usize> {
    let all = definitions
        .groups
        .iter()
        .find(|group| group.kind == GroupType::COMM_LOCATIONS && group.paradigm == Paradigm::MPI)
        .expect("locations of MPI");
    let process = |&member: &u64| definitions.locations.find(all.members[member as usize]).unwrap().group;
    members.iter().map(process).collect()
}

/// The members of a communicator.
fn group(definitions: &Definitions, communicator: usize) -> Group {
    let side = |group: usize| processes(definitions, &definitions.groups[group].members);
    match definitions.communicators[communicator].members {
        Members::Group(group) if definitions.groups[group].kind == GroupType::COMM_SELF => Group::Alone,
        Members::Group(group) if definitions.groups[group].paradigm != Paradigm::MPI => Group::Alone,
        Members::Group(group) => Group::One(side(group)),
        Members::Inter(a, b) => Group::Two(side(a), side(b)),
    }
}
