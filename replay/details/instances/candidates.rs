//! Candidates of a worker: its longest instances of each wait state, and those that the statistics may list.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::{BothSides, Candidate};
use crate::call_tree::{CallPath, CallTree};
use crate::ids::PathId;
use crate::int::to_u32;
use crate::statistics::{Instance, SUBJECTS, SubjectId};
use crate::walk::WalkedProcess;

/// Longest instances of a wait state that are kept.
pub(super) const LONGEST: usize = 64;

/// Instances of different call paths that are kept: twice as many as the statistics list. Paths are compared from the root,
/// and a call path of the report may have two roots in processes: its program, and none where the events that name it are
/// lost.
const LISTED: usize = 10;

/// The severest waits of a worker's processes so far.
#[derive(Debug, Default)]
pub struct SevereWaits {
    /// Call paths of all processes that candidates for the list have.
    tree: CallTree,
    /// The process that has offered the last one, and the place of its call paths in the tree, as far as they were needed.
    known: (usize, Vec<PathId>),
    /// By wait state.
    of: Vec<OfSubject>,
}

/// Candidates of one wait state.
#[derive(Debug, Default)]
pub(super) struct OfSubject {
    /// Of all that were offered.
    pub(super) offered: u64,
    /// The longest ones.
    longest: BinaryHeap<ByOrder>,
    /// The longest of each call path, in descending order, with that path in the tree.
    listed: Vec<(PathId, Candidate<PathId>)>,
}

/// A candidate in the order of its instance. The largest one is the least severe.
#[derive(Clone, Copy, Debug)]
struct ByOrder(Candidate<PathId>);

impl Ord for ByOrder {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.key().cmp(&other.0.key())
    }
}

impl PartialOrd for ByOrder {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ByOrder {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for ByOrder {}

impl SevereWaits {
    /// Adds an instance at a call path of a process, if it may be one of the severest.
    pub fn offer(
        &mut self,
        subject: SubjectId,
        process: &WalkedProcess,
        instance: Instance,
        both: impl FnOnce() -> BothSides,
    ) {
        if self.of.is_empty() {
            self.of.resize_with(SUBJECTS.len(), OfSubject::default);
        }
        let path = self.place(process, instance.path);
        let of = &mut self.of[subject];
        of.offered += 1;
        let is_long =
            of.longest.len() < LONGEST || of.longest.peek().is_some_and(|worst| instance <= worst.0.instance);
        let may_be_listed = match of.listed.iter().find(|known| known.0 == path) {
            Some((_, known)) => instance <= known.instance,
            None if of.listed.len() < LISTED => true,
            None => of.listed.last().is_some_and(|(_, worst)| instance <= worst.instance),
        };
        if !is_long && !may_be_listed {
            return;
        }
        let candidate = Candidate { instance, both: both(), speaker: to_u32(process.number) };
        if is_long {
            of.longest.push(ByOrder(candidate));
            if of.longest.len() > LONGEST {
                of.longest.pop();
            }
        }
        if may_be_listed {
            of.list(path, candidate);
        }
    }

    /// The place of a call path of a process in the tree.
    fn place(&mut self, process: &WalkedProcess, path: PathId) -> PathId {
        let (number, known) = &mut self.known;
        if *number != process.number || known.len() != process.paths.len() {
            *number = process.number;
            known.clear();
            known.resize(process.paths.len(), PathId::NONE);
        }
        match known.get_mut(path.index()) {
            Some(place) if !place.is_none() => *place,
            Some(place) => {
                *place = enter(&mut self.tree, &process.paths, path);
                *place
            }
            None => PathId::NONE,
        }
    }

    /// The candidates by wait state: their number, and all of them in any order, some of them twice.
    pub(super) fn into_subjects(self) -> impl Iterator<Item = (u64, Vec<Candidate<PathId>>)> {
        self.of.into_iter().map(|of| {
            let listed = of.listed.into_iter().map(|(_, candidate)| candidate);
            (of.offered, of.longest.into_iter().map(|longest| longest.0).chain(listed).collect())
        })
    }
}

impl OfSubject {
    /// Adds a candidate to the longest of each call path.
    fn list(&mut self, path: PathId, candidate: Candidate<PathId>) {
        match self.listed.iter_mut().find(|known| known.0 == path) {
            Some((_, known)) if known.key() <= candidate.key() => return,
            Some((_, known)) => *known = candidate,
            None => self.listed.push((path, candidate)),
        }
        self.listed.sort_unstable_by_key(|(_, candidate)| candidate.key());
        self.listed.truncate(LISTED);
    }
}

/// Returns a call path of a process in a tree, to which it is added.
fn enter(tree: &mut CallTree, paths: &[CallPath], path: PathId) -> PathId {
    let mut way = Vec::new();
    let mut next = paths.get(path.index());
    while let Some(node) = next {
        way.push(node);
        next = paths.get(node.parent.index());
    }
    way.into_iter().rev().fold(PathId::NONE, |above, node| tree.enter(above, node.region, node.site))
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;

    use super::*;
    use crate::call_tree::NO_SITE;
    use crate::details::instances::tests::NOTHING;
    use crate::operations::Place;

    fn instance(process: u32, duration: i64, path: usize) -> Instance {
        let (path, cause) = (PathId::new(path), Place::default());
        Instance { duration: Reverse(duration), process, enter: 0, exit: 1, path, cause }
    }

    fn path(parent: PathId, region: u32) -> CallPath {
        CallPath { parent, region, site: NO_SITE }
    }

    #[test]
    fn the_longest_are_kept_and_the_longest_of_each_call_path_from_the_root() {
        let root = path(PathId::NONE, 7);
        let processes = [
            vec![root, path(PathId::new(0), 1), path(PathId::new(0), 2)],
            vec![root, path(PathId::new(0), 2), path(PathId::new(0), 1)],
        ]
        .into_iter()
        .enumerate()
        .map(|(number, paths)| WalkedProcess {
            number,
            paths: paths.into(),
            locations: Box::default(),
            work: None,
            file_times: Box::default(),
        });
        let processes: Vec<WalkedProcess> = processes.collect();
        // The second process numbers its call paths in another order.
        let mut severe = SevereWaits::default();
        (1..=200).for_each(|ticks| severe.offer(3, &processes[0], instance(0, ticks, 1), || NOTHING));
        severe.offer(3, &processes[1], instance(1, 5, 2), || NOTHING);
        severe.offer(3, &processes[1], instance(1, 4, 1), || NOTHING);
        severe.offer(3, &processes[1], instance(1, 300, 2), || NOTHING);
        let (offered, mut all) = severe.into_subjects().nth(3).unwrap();
        all.sort_unstable_by_key(Candidate::key);
        let ticks: Vec<i64> = all.iter().map(|candidate| candidate.instance.duration.0).collect();
        let expected: Vec<i64> = [300, 300].into_iter().chain((138..=200).rev()).chain([4]).collect();
        assert_eq!((offered, ticks), (203, expected));
    }
}
