//! Communicators, windows and files: what processes know by numbers of their own becomes global by its key.
//!
//! Numbers are given in the order in which ranks, and each rank's numbers, come: the same journals give the same
//! archive.

use super::journals::Process;
use super::members::{self, Groups};
use super::notices::Notices;
use super::strings::Strings;
use std::collections::{BTreeMap, HashMap};

/// The world's number, in journals and in the archive.
pub(crate) const WORLD: u32 = 0;
/// The number of `MPI_COMM_SELF`, likewise. All processes share one definition.
const SELF: u32 = 1;

/// Local numbers of a process and the global ones.
pub(crate) type Numbers = BTreeMap<u32, u32>;

/// A communicator of the archive; its number is its position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Communicator {
    pub(crate) name: String,
    /// Number of its group.
    pub(crate) group: u32,
    /// Number of the other group of an inter-communicator.
    pub(crate) other: Option<u32>,
    pub(crate) parent: Option<u32>,
}

/// A window; its number is its position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Window {
    pub(crate) name: String,
    pub(crate) communicator: u32,
}

/// A handle of a file; its number is its position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Handle {
    /// Number of its file.
    pub(crate) file: u32,
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
pub(crate) struct Shared {
    pub(crate) groups: Groups,
    pub(crate) communicators: Vec<Communicator>,
    pub(crate) windows: Vec<Window>,
    pub(crate) handles: Vec<Handle>,
    /// Paths of files by their numbers.
    pub(crate) paths: Strings,
    pub(crate) topologies: Vec<Topology>,
    pub(crate) of: Vec<Known>,
}

/// The global numbers of what one process knows.
#[derive(Clone, Default, Debug)]
pub(crate) struct Known {
    pub(crate) communicators: Numbers,
    pub(crate) groups: Numbers,
    pub(crate) windows: Numbers,
    pub(crate) handles: Numbers,
    /// Files that events refer to without a handle.
    pub(crate) files: Numbers,
}

/// Brings together what the processes of a run know.
pub(crate) fn share(processes: &[Process], notices: &mut Notices) -> Shared {
    let size = processes.first().map_or(0, |process| process.size);
    let mut shared = Shared { of: vec![Known::default(); processes.len()], ..Shared::default() };
    let world = shared.groups.number((0..size).collect());
    let predefined = |name: &str, group| Communicator { name: name.into(), group, other: None, parent: None };
    shared.communicators.push(predefined("MPI_COMM_WORLD", world));
    shared.communicators.push(predefined("MPI_COMM_SELF", members::SELF));
    share_communicators(&mut shared, processes, size, notices);
    share_windows(&mut shared, processes, notices);
    share_files(&mut shared, processes, notices);
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
    shared
}

/// What all members together tell of a communicator.
#[derive(Default)]
struct Told {
    /// Position of each process that knows it, and its number there.
    by: Vec<(usize, u32)>,
    members: Option<Vec<u32>>,
    remote: Option<Vec<u32>>,
    name: String,
}

fn share_communicators(shared: &mut Shared, processes: &[Process], size: u32, notices: &mut Notices) {
    let mut order = Vec::new();
    let mut told: HashMap<u64, Told> = HashMap::new();
    for (at, process) in processes.iter().enumerate() {
        let known = &mut shared.of[at].communicators;
        known.insert(WORLD, WORLD);
        known.insert(SELF, SELF);
        for (&local, communicator) in process.communicators.iter().filter(|(local, _)| **local > SELF) {
            let entry = told.entry(communicator.key).or_insert_with(|| {
                order.push(communicator.key);
                Told::default()
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
    // Numbers first: the parent of the one side of an inter-communicator may come later than the other side.
    for (number, key) in (shared.communicators.len() as u32..).zip(&order) {
        for &(at, local) in told.get(key).map_or(&[][..], |told| &told.by) {
            shared.of[at].communicators.insert(local, number);
        }
    }
    for key in order {
        let Some(told) = told.remove(&key) else { continue };
        let parent = parent(shared, processes, &told.by, notices);
        let own = told.members.unwrap_or_else(|| {
            // Only the first member must tell, and it has died before it did.
            let (first, local) = told.by.first().map_or((0, 0), |&(at, local)| (processes[at].rank, local));
            let text =
                format!("nobody has told the members of communicator {local}: those that know it count");
            notices.loss(first, text);
            told.by.iter().map(|&(at, _)| processes[at].rank).collect()
        });
        let group = shared.groups.number(own);
        let other = told.remote.map(|ranks| shared.groups.number(ranks));
        // Both sides tell the same pair, each from its own end.
        let first = |group| shared.groups.ranks(group).iter().min().copied();
        let (group, other) = match other {
            Some(other) if first(other) < first(group) => (other, Some(group)),
            other => (group, other),
        };
        shared.communicators.push(Communicator { name: told.name, group, other, parent });
    }
}

/// The global number of the parent, if those who know the communicator agree and it comes before. The two sides of an
/// inter-communicator need not have one parent.
fn parent(shared: &Shared, processes: &[Process], by: &[(usize, u32)], notices: &mut Notices) -> Option<u32> {
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

fn share_windows(shared: &mut Shared, processes: &[Process], notices: &mut Notices) {
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

fn share_files(shared: &mut Shared, processes: &[Process], notices: &mut Notices) {
    let mut numbers: HashMap<u64, u32> = HashMap::new();
    for (at, process) in processes.iter().enumerate() {
        for (&local, file) in &process.files {
            let Some(&communicator) = shared.of[at].communicators.get(&file.communicator) else {
                let text = format!("file {local} has an unknown communicator {}", file.communicator);
                notices.loss(process.rank, text);
                continue;
            };
            let number = *numbers.entry(file.key).or_insert_with(|| {
                let file = shared.paths.number(&file.path);
                shared.handles.push(Handle { file, communicator });
                shared.handles.len() as u32 - 1
            });
            shared.of[at].handles.insert(local, number);
        }
        for (&local, path) in &process.deleted {
            shared.of[at].files.insert(local, shared.paths.number(path));
        }
    }
}

fn share_topologies(shared: &mut Shared, processes: &[Process], notices: &mut Notices) {
    let mut positions: BTreeMap<u32, usize> = BTreeMap::new();
    for (at, process) in processes.iter().enumerate() {
        for told in &process.topologies {
            let communicator = shared.of[at].communicators.get(&told.communicator).copied();
            let dimensions: Vec<(u32, bool)> =
                told.extents.iter().copied().zip(told.periodic.iter().copied()).collect();
            let are_alike = [told.extents.len(), told.periodic.len(), told.coordinates.len()]
                .iter()
                .all(|&length| length == dimensions.len() && length <= 255);
            let (Some(communicator), true) = (communicator, are_alike) else {
                let text = format!("the topology of communicator {} makes no sense", told.communicator);
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
                topology.places.insert(rank as u32, told.coordinates.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use recording::journal;

    /// Number, key, parent, members and remote group of a communicator.
    type Told<'a> = (u32, u64, Option<u32>, Option<&'a str>, Option<&'a str>);

    fn process(rank: u32, communicators: &[Told<'_>]) -> Process {
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
    fn communicator_of_a_dead_first_member_has_those_who_know_it() {
        let processes =
            [process(1, &[(2, 5, Some(0), None, None)]), process(3, &[(2, 5, Some(9), Some("3,3"), None)])];
        let mut notices = Notices::default();
        let shared = share(&processes, &mut notices);
        assert_eq!(shared.groups.ranks(shared.communicators[2].group), [1, 3]);
        assert_eq!(shared.communicators[2].parent, Some(0));
        assert_eq!(notices.lines().len(), 3);
    }

    #[test]
    fn file_that_is_opened_and_deleted_is_one_file() {
        let mut processes = [process(0, &[]), process(1, &[])];
        processes[0]
            .files
            .insert(0, journal::File { handle: 0, key: 2, path: "/f".into(), communicator: WORLD });
        processes[1].deleted.insert(0, "/g".into());
        processes[1].deleted.insert(1, "/f".into());
        let shared = share(&processes, &mut Notices::default());
        assert_eq!(shared.handles, [Handle { file: 0, communicator: WORLD }]);
        assert_eq!(shared.of[1].files, Numbers::from([(0, 1), (1, 0)]));
        assert!(shared.paths.iter().eq(["/f", "/g"]));
    }

    #[test]
    fn windows_files_and_topologies_follow_their_communicators() {
        let mut processes = [process(0, &[]), process(1, &[])];
        for (process, communicator) in processes.iter_mut().zip([0, 9]) {
            process.windows.insert(7, journal::Window { window: 7, key: 1, communicator, name: "w".into() });
            process.files.insert(3, journal::File { handle: 3, key: 2, path: "/f".into(), communicator });
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
