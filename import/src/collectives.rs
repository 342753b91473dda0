//! Communicators of a trace, and collective operations on them: which member was the root of each.
//!
//! A trace says of the root that it is one, at the root only. As the k-th operation with a root on a communicator is
//! the same one for all members, the others learn it when the whole trace has been read.

use rustc_hash::FxHashMap;

use crate::error::Fault;
use crate::header::{Communicator, communicator};

/// A communicator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Group {
    /// Its number in the trace.
    pub(crate) number: u64,
    /// Tasks in the order of ranks.
    pub(crate) members: Vec<u32>,
    /// Ranks by task, unless it has all tasks in their order.
    ranks: Option<FxHashMap<u32, u32>>,
    /// Ranks of the roots of its operations, in their order.
    roots: Vec<Option<u32>>,
}

/// All communicators by the numbers of the trace.
#[derive(Debug, Default)]
pub(crate) struct Communicators {
    positions: FxHashMap<u64, Option<u32>>,
    list: Vec<Group>,
    /// Numbers of operations with a root, by communicator and task.
    orders: FxHashMap<(u32, u32), u64>,
}

impl Communicators {
    /// Adds that of a line; a number that is there already keeps its tasks.
    pub(crate) fn add(&mut self, line: &[u8], tasks: usize) -> Result<(), Fault> {
        match communicator(line, tasks)? {
            Communicator::Inter { number } => {
                self.positions.entry(number).or_insert(None);
            }
            Communicator::Intra { number, members } => {
                if self.positions.contains_key(&number) {
                    return Ok(());
                }
                let is_world =
                    members.len() == tasks && (0..).zip(&members).all(|(rank, &task)| rank == task);
                let ranks =
                    (!is_world).then(|| (0..).zip(&members).map(|(rank, &task)| (task, rank)).collect());
                self.positions.insert(number, u32::try_from(self.list.len()).ok());
                self.list.push(Group { number, members, ranks, roots: Vec::new() });
            }
        }
        Ok(())
    }

    /// The position of a communicator that a task is a member of.
    pub(crate) fn position(&self, number: u64, task: u32) -> Option<u32> {
        let position = (*self.positions.get(&number)?)?;
        self.get(position)?.rank(task)?;
        Some(position)
    }

    /// Counts an operation with a root; returns its place in their order.
    pub(crate) fn count(&mut self, position: u32, task: u32, is_root: bool) -> u64 {
        let next = self.orders.entry((position, task)).or_default();
        let order = *next;
        *next += 1;
        let group = usize::try_from(position).ok().and_then(|at| self.list.get_mut(at));
        if let (true, Some(group), Ok(at)) = (is_root, group, usize::try_from(order)) {
            let rank = group.rank(task);
            if group.roots.len() <= at {
                group.roots.resize(at + 1, None);
            }
            if let Some(root) = group.roots.get_mut(at) {
                *root = root.or(rank);
            }
        }
        order
    }

    pub(crate) fn get(&self, position: u32) -> Option<&Group> {
        self.list.get(usize::try_from(position).ok()?)
    }

    pub(crate) fn list(&self) -> &[Group] {
        &self.list
    }

    /// The reference of a communicator in the archive. 0 is that of all tasks, which is the first such one of the trace;
    /// the others follow without a gap.
    pub(crate) fn reference(&self, position: u32) -> u32 {
        let world = self.list.iter().position(Group::is_world).and_then(|world| u32::try_from(world).ok());
        match world {
            Some(world) if position == world => 0,
            Some(world) if position > world => position,
            _ => position.saturating_add(1),
        }
    }

    /// The reference of a communicator of messages: 0 for those in order, further ones behind those of the trace.
    pub(crate) fn reference_of_layer(&self, layer: u32) -> u32 {
        let last = self.list.len() - usize::from(self.list.iter().any(Group::is_world));
        let last = u32::try_from(last).unwrap_or(u32::MAX);
        if layer == 0 { 0 } else { last.saturating_add(layer) }
    }
}

impl Group {
    /// Whether it has all tasks in their order, as `MPI_COMM_WORLD` has.
    pub(crate) fn is_world(&self) -> bool {
        self.ranks.is_none()
    }

    fn rank(&self, task: u32) -> Option<u32> {
        match &self.ranks {
            None => Some(task),
            Some(ranks) => ranks.get(&task).copied(),
        }
    }

    /// The rank of the root of an operation; `None` if no member has said to be the root.
    pub(crate) fn root(&self, order: u64) -> Option<u32> {
        *self.roots.get(usize::try_from(order).ok()?)?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_members_learn_the_root_of_an_operation() {
        let mut all = Communicators::default();
        for line in ["c:1:1:3:1:2:3", "c:1:4:2:3:2", "i:1:5:1:1:4:3", "c:1:4:1:1"] {
            all.add(line.as_bytes(), 3).unwrap();
        }
        assert_eq!(
            [all.reference(0), all.reference(1), all.reference_of_layer(0), all.reference_of_layer(1)],
            [0, 1, 0, 2]
        );
        assert!(all.list()[0].is_world() && !all.list()[1].is_world());
        assert_eq!(
            [all.position(4, 0), all.position(4, 1), all.position(5, 0), all.position(6, 0)],
            [None, Some(1), None, None]
        );
        assert_eq!([all.count(1, 1, false), all.count(1, 1, true), all.count(1, 2, true)], [0, 1, 0]);
        let group = all.get(1).unwrap();
        // Task 2 is rank 0 there.
        assert_eq!([group.root(0), group.root(1), group.root(2)], [Some(0), Some(1), None]);
    }
}
