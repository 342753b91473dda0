//! The tree of call paths: regions by the path that they were entered from.
//!
//! Paths are numbered in the order of their first appearance, parents before children. Merging appends
//! unknown paths in the order of the other tree. That is associative, so any reduction over trees in the
//! order of ranks gives the same numbers.

use crate::error::Error;
use crate::exchange::{Batch, Exchange, broadcast, reduce};
use crate::ids::PathId;
use crate::int::to_u64;
use crate::wire::{self, batch_of, wire};

/// Stands for "no call site known".
pub const NO_SITE: u32 = u32::MAX;

/// A node of a call tree: a region and the path that it was entered from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CallPath {
    /// The path that it was entered from; [none](PathId::NONE) at a root.
    pub parent: PathId,
    /// Position among the regions of the [`Trace`](crate::trace::Trace).
    pub region: u32,
    /// Position in [`Trace::sites`](crate::trace::Trace::sites), if calling contexts name the call site, else
    /// [`NO_SITE`].
    pub site: u32,
}

/// Call paths with a hash table that finds the children of each.
#[derive(Clone, Debug, Default)]
pub struct CallTree {
    paths: Vec<CallPath>,
    /// The hash table: each path stands at the place of its hash or at the next free one; free ones have
    /// [none](PathId::NONE). Its size is a power of two, at least twice the number of paths, as a walk looks a path up
    /// at every other event.
    places: Vec<PathId>,
}

impl CallTree {
    /// Returns the path of `region` entered from `parent` at `site`; a new path gets the next number.
    #[inline]
    pub fn enter(&mut self, parent: PathId, region: u32, site: u32) -> PathId {
        match self.find(parent, region, site) {
            Some(path) => path,
            None => self.add(CallPath { parent, region, site }),
        }
    }

    /// Returns the path of `region` entered from `parent` at `site`, if it exists.
    #[inline]
    pub fn find(&self, parent: PathId, region: u32, site: u32) -> Option<PathId> {
        let wanted = CallPath { parent, region, site };
        let mut at = self.place(wanted);
        loop {
            let &path = self.places.get(at)?;
            if *self.paths.get(path.index())? == wanted {
                return Some(path);
            }
            at = (at + 1) & (self.places.len() - 1);
        }
    }

    /// Returns the place of a path in the hash table, or the free one that it would get.
    #[inline]
    fn place(&self, CallPath { parent, region, site }: CallPath) -> usize {
        let key = to_u64(parent.index()) << 32 | u64::from(region);
        let hash = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32 ^ site.wrapping_mul(0x9e37_79b9);
        hash as usize & self.places.len().wrapping_sub(1)
    }

    #[cold]
    fn add(&mut self, path: CallPath) -> PathId {
        self.paths.push(path);
        if 2 * self.paths.len() > self.places.len() {
            self.places.clear();
            self.places.resize((4 * self.paths.len()).next_power_of_two().max(64), PathId::NONE);
            (0..self.paths.len()).for_each(|path| self.settle(PathId::new(path)));
        } else {
            self.settle(PathId::new(self.paths.len() - 1));
        }
        PathId::new(self.paths.len() - 1)
    }

    /// Enters a path into the hash table.
    fn settle(&mut self, path: PathId) {
        let mut at = self.place(self.paths[path.index()]);
        while self.places[at] != PathId::NONE {
            at = (at + 1) & (self.places.len() - 1);
        }
        self.places[at] = path;
    }

    /// Returns all paths, in the order of their numbers.
    pub fn paths(&self) -> &[CallPath] {
        &self.paths
    }

    /// Returns all paths, in the order of their numbers, without the hash table.
    pub fn into_paths(self) -> Box<[CallPath]> {
        self.paths.into()
    }

    /// Returns the number of paths.
    pub fn len(&self) -> usize {
        self.paths.len()
    }

    /// Whether there is no path.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// Adds the paths of `other`; returns their numbers here.
    pub fn merge(&mut self, other: &[CallPath]) -> Vec<PathId> {
        self.merge_below(PathId::NONE, other)
    }

    /// Adds the paths of `other`, its roots below a path; returns their numbers here.
    pub fn merge_below(&mut self, above: PathId, other: &[CallPath]) -> Vec<PathId> {
        let mut here: Vec<PathId> = Vec::with_capacity(other.len());
        for path in other {
            let parent = if path.parent == PathId::NONE { above } else { here[path.parent.index()] };
            here.push(self.enter(parent, path.region, path.site));
        }
        here
    }

    /// Returns the paths without parent.
    pub fn roots(&self) -> impl Iterator<Item = PathId> + '_ {
        (0..self.paths.len()).filter(|&at| self.paths[at].parent == PathId::NONE).map(PathId::new)
    }

    /// Returns the same paths below one root, which has number 0, and the number of each path in that tree. A
    /// root whose region is `region` or `stands_for` becomes this root.
    pub fn below_root(&self, region: u32, stands_for: u32) -> (CallTree, Vec<PathId>) {
        let mut tree = CallTree::default();
        let root = tree.enter(PathId::NONE, region, NO_SITE);
        let mut numbers: Vec<PathId> = Vec::with_capacity(self.paths.len());
        for path in &self.paths {
            numbers.push(match path.parent {
                PathId::NONE if [region, stands_for].contains(&path.region) => root,
                PathId::NONE => tree.enter(root, path.region, path.site),
                parent => tree.enter(numbers[parent.index()], path.region, path.site),
            });
        }
        (tree, numbers)
    }

    /// Returns all paths in preorder: children after their parent and before its next sibling, siblings in
    /// the order of their numbers.
    pub fn preorder(&self) -> Vec<PathId> {
        // The last child of each path, and the sibling before each.
        let mut last = vec![PathId::NONE; self.paths.len()];
        let mut before = vec![PathId::NONE; self.paths.len()];
        let mut last_root = PathId::NONE;
        for (at, path) in self.paths.iter().enumerate() {
            let last =
                if path.parent == PathId::NONE { &mut last_root } else { &mut last[path.parent.index()] };
            before[at] = std::mem::replace(last, PathId::new(at));
        }
        let mut open: Vec<PathId> = Vec::new();
        let open_all = |mut path: PathId, open: &mut Vec<PathId>| {
            while path != PathId::NONE {
                open.push(path);
                path = before[path.index()];
            }
        };
        open_all(last_root, &mut open);
        let mut order = Vec::with_capacity(self.paths.len());
        while let Some(path) = open.pop() {
            order.push(path);
            open_all(last[path.index()], &mut open);
        }
        order
    }
}

/// Merges the trees of all workers, which own ranks in rising order, and returns the result on every worker.
///
/// # Errors
/// If a worker failed.
pub fn merge_all(tree: CallTree, exchange: &mut dyn Exchange) -> Result<CallTree, Error> {
    let tree = reduce(
        exchange,
        tree,
        |tree| batch_of(tree.paths()),
        |tree, words| {
            tree.merge(&wire::all::<CallPath>(words).collect::<Vec<_>>());
        },
    )?;
    if exchange.worker() == 0 {
        let words = if exchange.workers() > 1 { batch_of(tree.paths()) } else { Batch::new() };
        broadcast(exchange, words)?;
        return Ok(tree);
    }
    let mut merged = CallTree::default();
    let words = broadcast(exchange, Batch::new())?;
    merged.merge(&wire::all::<CallPath>(&words).collect::<Vec<_>>());
    Ok(merged)
}

wire!(CallPath { [parent, region], site });

#[cfg(test)]
mod tests {
    use super::*;

    const NO_PATH: usize = u32::MAX as usize;

    fn tree(paths: &[(usize, u32)]) -> CallTree {
        let mut tree = CallTree::default();
        for &(parent, region) in paths {
            tree.enter(PathId::new(parent), region, NO_SITE);
        }
        tree
    }

    #[test]
    fn merging_keeps_known_paths_and_appends_the_others() {
        let mut a = tree(&[(NO_PATH, 9), (0, 1)]);
        let b = tree(&[(NO_PATH, 9), (0, 2), (1, 3), (0, 1)]);
        assert_eq!(a.merge(b.paths()), [0, 2, 3, 1].map(PathId::new));
        assert_eq!(a.len(), 4);
    }

    #[test]
    fn merging_in_any_grouping_gives_the_same_numbers() {
        let trees = [
            tree(&[(NO_PATH, 9), (0, 1)]),
            tree(&[(NO_PATH, 9), (0, 2)]),
            tree(&[(NO_PATH, 9), (0, 3), (0, 1)]),
        ];
        let mut left = trees[0].clone();
        left.merge(trees[1].paths());
        left.merge(trees[2].paths());
        let mut right = trees[1].clone();
        right.merge(trees[2].paths());
        let mut all = trees[0].clone();
        all.merge(right.paths());
        assert_eq!(left.paths(), all.paths());
    }

    #[test]
    fn preorder_puts_children_behind_their_parent() {
        let tree = tree(&[(NO_PATH, 9), (0, 1), (0, 2), (1, 3), (2, 4), (1, 5)]);
        assert_eq!(tree.preorder(), [0, 1, 3, 5, 2, 4].map(PathId::new));
    }

    #[test]
    fn paths_merged_below_another_one_have_it_in_place_of_nothing() {
        let mut a = tree(&[(NO_PATH, 9), (0, 1)]);
        let below = tree(&[(NO_PATH, 1), (0, 2)]);
        assert_eq!(a.merge_below(PathId::default(), below.paths()), [1, 2].map(PathId::new));
        assert_eq!(a.paths()[2], CallPath { parent: PathId::new(1), region: 2, site: NO_SITE });
    }

    #[test]
    fn one_root_above_all_takes_the_place_of_those_that_it_stands_for() {
        let tree = tree(&[(NO_PATH, 9), (0, 7), (NO_PATH, 8), (2, 7), (NO_PATH, 6)]);
        let roots = |tree: &CallTree| tree.roots().collect::<Vec<_>>();
        let root = vec![PathId::default()];
        let (below, numbers) = tree.below_root(5, 5);
        assert_eq!((&roots(&below), &numbers[..]), (&root, &[1, 2, 3, 4, 5].map(PathId::new)[..]));
        let (below, numbers) = tree.below_root(8, 9);
        assert_eq!((&roots(&below), &numbers[..]), (&root, &[0, 1, 0, 1, 2].map(PathId::new)[..]));
        assert_eq!(below.paths()[0].region, 8);
    }
}
