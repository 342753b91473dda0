//! Communicators, windows and topologies: numbers of processes become global numbers by the objects' keys.
//!
//! Numbers are given in the order of ranks, and of each rank's numbers: the same journals give the same
//! archive.

use super::files::{self, Files};
use super::journals::Process;
use super::members::{self, Groups};
use super::notices::Notices;
use super::teams::{self, Teams};
use std::collections::{BTreeMap, HashMap};

/// The number of `MPI_COMM_WORLD` in journals.
pub(crate) const WORLD: u32 = 0;
/// The number of `MPI_COMM_SELF`, likewise. All processes share one definition.
const SELF: u32 = 1;

/// The global numbers of a process's local ones.
pub(crate) type Numbers = BTreeMap<u32, u32>;

/// A communicator of the archive; its number is its position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Communicator {
    pub(crate) name: String,
    /// Number of its group.
    pub(crate) group: u32,
    /// Number of the remote group of an inter-communicator.
    pub(crate) other: Option<u32>,
    pub(crate) parent: Option<u32>,
}

/// A window; its number is its position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Window {
    pub(crate) name: String,
    pub(crate) communicator: u32,
}

/// A Cartesian topology.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Topology {
    pub(crate) communicator: u32,
    /// Extent of each dimension, and whether it is periodic.
    pub(crate) dimensions: Vec<(u32, bool)>,
    /// Coordinates by rank in the communicator.
    pub(crate) places: BTreeMap<u32, Vec<u32>>,
}

/// Everything that processes share, with the numbers of each process by its position.
#[derive(Clone, Default, Debug)]
pub(crate) struct SharedObjects {
    pub(crate) groups: Groups,
    pub(crate) communicators: Vec<Communicator>,
    pub(crate) windows: Vec<Window>,
    pub(crate) files: Files,
    pub(crate) topologies: Vec<Topology>,
    pub(crate) teams: Teams,
    pub(crate) of: Vec<LocalNumbers>,
}

/// The global numbers of one process's objects.
#[derive(Clone, Default, Debug)]
pub(crate) struct LocalNumbers {
    pub(crate) communicators: Numbers,
    pub(crate) groups: Numbers,
    pub(crate) windows: Numbers,
    pub(crate) handles: Numbers,
    /// Files that events refer to without a handle.
    pub(crate) files: Numbers,
}

/// Merges the objects of the processes of a run.
pub(crate) fn share(processes: &[Process], notices: &mut Notices) -> SharedObjects {
    let size = processes.first().map_or(0, |process| process.size);
    let mut shared =
        SharedObjects { of: vec![LocalNumbers::default(); processes.len()], ..SharedObjects::default() };
    let world = shared.groups.number((0..size).collect());
    let predefined = [(WORLD, "MPI_COMM_WORLD", world), (SELF, "MPI_COMM_SELF", members::SELF)];
    for (local, name, group) in predefined.into_iter().skip(usize::from(has_sessions_only(processes))) {
        let number = shared.communicators.len() as u32;
        shared.communicators.push(Communicator { name: name.into(), group, other: None, parent: None });
        for known in &mut shared.of {
            known.communicators.insert(local, number);
        }
    }
    share_communicators(&mut shared, processes, size, notices);
    share_windows(&mut shared, processes, notices);
    shared.files = files::share(processes, &mut shared.of, notices);
    share_topologies(&mut shared, processes, notices);
    for (process, known) in processes.iter().zip(&mut shared.of) {
        for (&local, ranges) in &process.groups {
            match members::parse(ranges, size) {
                Some(ranks) => {
                    known.groups.insert(local, shared.groups.number(ranks));
                }
                None => {
                    notices.loss(process.rank, format!("group {local} has impossible members {ranges:?}"))
                }
            }
        }
    }
    let (teams, numbers) = teams::collect(processes, &shared.groups, shared.communicators.len());
    for (known, numbers) in shared.of.iter_mut().zip(numbers) {
        known.communicators.extend(numbers);
    }
    shared.teams = teams;
    shared
}

/// Whether the program has started MPI by sessions only: processes know `MPI_COMM_SELF`, and no world.
fn has_sessions_only(processes: &[Process]) -> bool {
    let know = |number| processes.iter().any(|process| process.communicators.contains_key(&number));
    know(SELF) && !know(WORLD)
}

/// A communicator as all members together have recorded it.
#[derive(Default)]
struct SharedCommunicator {
    /// Position of each process that knows it, and its number there.
    by: Vec<(usize, u32)>,
    members: Option<Vec<u32>>,
    remote: Option<Vec<u32>>,
    name: String,
}

fn share_communicators(shared: &mut SharedObjects, processes: &[Process], size: u32, notices: &mut Notices) {
    let mut order = Vec::new();
    let mut recorded: HashMap<u64, SharedCommunicator> = HashMap::new();
    for (at, process) in processes.iter().enumerate() {
        for (&local, communicator) in process.communicators.iter().filter(|(local, _)| **local > SELF) {
            let entry = recorded.entry(communicator.key).or_insert_with(|| {
                order.push(communicator.key);
                SharedCommunicator::default()
            });
            entry.by.push((at, local));
            let mut ranks = |ranges: &Option<String>| {
                let ranges = ranges.as_ref()?;
                let ranks = members::parse(ranges, size).filter(|ranks| !ranks.is_empty());
                if ranks.is_none() {
                    let text = format!("communicator {local} has impossible members {ranges:?}");
                    notices.loss(process.rank, text);
                }
                ranks
            };
            if entry.members.is_none() {
                entry.members = ranks(&communicator.members);
                entry.remote = ranks(&communicator.remote);
            }
            if entry.name.is_empty() {
                entry.name.clone_from(&communicator.name);
            }
        }
    }
    // Numbers first: the parent of one side of an inter-communicator may come later than the other side.
    for (number, key) in (shared.communicators.len() as u32..).zip(&order) {
        for &(at, local) in recorded.get(key).map_or(&[][..], |recorded| &recorded.by) {
            shared.of[at].communicators.insert(local, number);
        }
    }
    for key in order {
        let Some(recorded) = recorded.remove(&key) else { continue };
        let parent = parent(shared, processes, &recorded.by, notices);
        let own = recorded.members.unwrap_or_else(|| {
            // Only the first member must record them, and it has died before.
            let (first, local) =
                recorded.by.first().map_or((0, 0), |&(at, local)| (processes[at].rank, local));
            let text =
                format!("nobody has told the members of communicator {local}: those that know it count");
            notices.loss(first, text);
            recorded.by.iter().map(|&(at, _)| processes[at].rank).collect()
        });
        let group = shared.groups.number(own);
        let other = recorded.remote.map(|ranks| shared.groups.number(ranks));
        // Both sides have recorded the same pair, each from its own end.
        let first = |group| shared.groups.ranks(group).iter().min().copied();
        let (group, other) = match other {
            Some(other) if first(other) < first(group) => (other, Some(group)),
            other => (group, other),
        };
        shared.communicators.push(Communicator { name: recorded.name, group, other, parent });
    }
}

/// Returns the global number of the parent, if the processes that know the communicator agree and it comes
/// before. The two sides of an inter-communicator need not have one parent.
fn parent(
    shared: &SharedObjects,
    processes: &[Process],
    by: &[(usize, u32)],
    notices: &mut Notices,
) -> Option<u32> {
    let mut parents = by.iter().filter_map(|&(at, local)| {
        let parent = processes[at].communicators.get(&local)?.parent?;
        let known = shared.of[at].communicators.get(&parent).copied();
        if known.is_none() {
            let text = format!("communicator {local} has an unknown parent {parent}");
            notices.note(processes[at].rank, text);
        }
        known
    });
    let first = parents.next()?;
    let next = shared.communicators.len() as u32;
    (parents.all(|parent| parent == first) && first < next).then_some(first)
}

fn share_windows(shared: &mut SharedObjects, processes: &[Process], notices: &mut Notices) {
    let mut numbers: HashMap<u64, u32> = HashMap::new();
    for (at, process) in processes.iter().enumerate() {
        for (&local, window) in &process.windows {
            let Some(&communicator) = shared.of[at].communicators.get(&window.communicator) else {
                let text = format!("window {local} has an unknown communicator {}", window.communicator);
                notices.loss(process.rank, text);
                continue;
            };
            let number = *numbers.entry(window.key).or_insert_with(|| {
                shared.windows.push(Window { name: window.name.clone(), communicator });
                shared.windows.len() as u32 - 1
            });
            shared.of[at].windows.insert(local, number);
        }
    }
}

fn share_topologies(shared: &mut SharedObjects, processes: &[Process], notices: &mut Notices) {
    let mut positions: BTreeMap<u32, usize> = BTreeMap::new();
    for (at, process) in processes.iter().enumerate() {
        for recorded in &process.topologies {
            let communicator = shared.of[at].communicators.get(&recorded.communicator).copied();
            let dimensions: Vec<(u32, bool)> =
                recorded.extents.iter().copied().zip(recorded.periodic.iter().copied()).collect();
            let are_alike = [recorded.extents.len(), recorded.periodic.len(), recorded.coordinates.len()]
                .iter()
                .all(|&length| length == dimensions.len() && length <= 255);
            let (Some(communicator), true) = (communicator, are_alike) else {
                let text = format!("the topology of communicator {} makes no sense", recorded.communicator);
                notices.note(process.rank, text);
                continue;
            };
            let group = shared.communicators[communicator as usize].group;
            let Some(rank) = shared.groups.ranks(group).iter().position(|&rank| rank == process.rank) else {
                continue;
            };
            let position = *positions.entry(communicator).or_insert_with(|| {
                let places = BTreeMap::new();
                shared.topologies.push(Topology { communicator, dimensions: dimensions.clone(), places });
                shared.topologies.len() - 1
            });
            let topology = &mut shared.topologies[position];
            if topology.dimensions == dimensions {
                topology.places.insert(rank as u32, recorded.coordinates.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use recording::journal;

    /// Number, key, parent, members and remote group of a communicator.
    type CommunicatorFields<'a> = (u32, u64, Option<u32>, Option<&'a str>, Option<&'a str>);

    fn process(rank: u32, communicators: &[CommunicatorFields<'_>]) -> Process {
        let communicators = communicators.iter().map(|&(local, key, parent, members, remote)| {
            let (members, remote) = (members.map(Into::into), remote.map(Into::into));
            (
                local,
                journal::Communicator {
                    communicator: local,
                    key,
                    name: String::new(),
                    parent,
                    members,
                    remote,
                },
            )
        });
        Process { rank, size: 4, communicators: communicators.collect(), ..Process::default() }
    }

    #[test]
    fn same_key_is_the_same_communicator() {
        let processes = [
            process(0, &[(2, 77, Some(0), Some("0,2"), None), (3, 78, Some(2), Some("2,0"), None)]),
            process(1, &[(2, 99, Some(0), Some("1,3"), None)]),
            process(2, &[(2, 77, Some(0), None, None), (5, 78, Some(2), None, None)]),
        ];
        let mut notices = Notices::default();
        let shared = share(&processes, &mut notices);
        assert_eq!(notices.lines(), [""; 0]);
        assert_eq!(shared.communicators.len(), 5);
        assert_eq!(shared.of[2].communicators, Numbers::from([(0, 0), (1, 1), (2, 2), (5, 3)]));
        assert_eq!(shared.of[1].communicators[&2], 4);
        assert_eq!(shared.communicators[3].parent, Some(2));
        assert_eq!(shared.groups.ranks(shared.communicators[3].group), [2, 0]);
    }

    #[test]
    fn program_that_only_has_sessions_has_no_world() {
        let of = |own: &[CommunicatorFields<'_>]| share(&[process(0, own)], &mut Notices::default());
        let (world, myself) = ((0, 1, None, Some("0-3"), None), (1, 2, None, Some("0"), None));
        let other = (2, 77, None, Some("0,2"), None);
        let sessions = of(&[myself, other]);
        assert_eq!(sessions.communicators[0].name, "MPI_COMM_SELF");
        assert_eq!(sessions.of[0].communicators, Numbers::from([(1, 0), (2, 1)]));
        // Not so if nobody knows anything of communicators, as journals may be damaged.
        for (communicators, count) in [(&[world, myself, other][..], 3), (&[], 2)] {
            let shared = of(communicators);
            assert_eq!(shared.communicators.len(), count);
            assert_eq!(shared.communicators[0].name, "MPI_COMM_WORLD");
        }
    }

    #[test]
    fn both_sides_of_an_inter_communicator_agree() {
        let one = process(2, &[(2, 5, Some(0), Some("2,3"), Some("0,1"))]);
        let other = process(0, &[(2, 5, Some(0), Some("0,1"), Some("2,3"))]);
        for processes in [[one.clone(), other.clone()], [other, one]] {
            let shared = share(&processes, &mut Notices::default());
            let inter = &shared.communicators[2];
            assert_eq!(shared.groups.ranks(inter.group), [0, 1]);
            assert_eq!(inter.other.map(|group| shared.groups.ranks(group)), Some(&[2, 3][..]));
        }
    }

    #[test]
    fn communicator_of_a_dead_first_member_has_the_processes_that_know_it() {
        let processes =
            [process(1, &[(2, 5, Some(0), None, None)]), process(3, &[(2, 5, Some(9), Some("3,3"), None)])];
        let mut notices = Notices::default();
        let shared = share(&processes, &mut notices);
        assert_eq!(shared.groups.ranks(shared.communicators[2].group), [1, 3]);
        assert_eq!(shared.communicators[2].parent, Some(0));
        assert_eq!(notices.lines().len(), 3);
    }

    #[test]
    fn windows_files_and_topologies_follow_their_communicators() {
        let mut processes = [process(0, &[]), process(1, &[])];
        for (process, communicator) in processes.iter_mut().zip([0, 9]) {
            process.windows.insert(7, journal::Window { window: 7, key: 1, communicator, name: "w".into() });
            let file = journal::File { handle: 3, key: 2, path: "/f".into(), communicator, storage: None };
            process.files.insert(3, file);
            process.topologies.push(journal::Topology {
                communicator,
                extents: vec![2, 2],
                periodic: vec![true, false],
                coordinates: vec![0, 1],
            });
        }
        let mut notices = Notices::default();
        let shared = share(&processes, &mut notices);
        assert_eq!(shared.of[0].windows, Numbers::from([(7, 0)]));
        assert_eq!(shared.of[0].handles, Numbers::from([(3, 0)]));
        assert_eq!(shared.topologies[0].places, BTreeMap::from([(0, vec![0, 1])]));
        assert!(shared.of[1].windows.is_empty() && shared.of[1].handles.is_empty());
        assert_eq!(notices.lines().len(), 3);
    }
}
