//! Renumbering: from numbers in the file to positions in lists.
//!
//! In a [`Cube`](crate::Cube) the position is the number, parents precede children and siblings are sorted.
//! Files keep these rules almost always; then numbers are kept. Trees that break them are renumbered in
//! document order.

use std::collections::{HashMap, HashSet};

use crate::error::{Error, Result};

/// Positions for the nodes of a tree listed in document order: the number of each node if all follow the
/// rules, otherwise its position in the document.
pub(super) fn tree_positions(ids: &[u64], parents: &[Option<usize>]) -> Vec<usize> {
    kept(ids, parents).unwrap_or_else(|| (0..ids.len()).collect())
}

fn kept(ids: &[u64], parents: &[Option<usize>]) -> Option<Vec<usize>> {
    let mut taken = vec![false; ids.len()];
    // The smallest number that the next child may have. Numbers are distinct, so zero is right for roots.
    let mut next_child = vec![0; ids.len()];
    let mut next_root = 0;
    let mut positions = Vec::with_capacity(ids.len());
    for (id, parent) in ids.iter().zip(parents) {
        let id = usize::try_from(*id).ok()?;
        if std::mem::replace(taken.get_mut(id)?, true) {
            return None;
        }
        let parent = match parent {
            Some(parent) => Some(*positions.get(*parent)?),
            None => None,
        };
        let next = match parent {
            Some(parent) if parent >= id => return None,
            Some(parent) => next_child.get_mut(parent)?,
            None => &mut next_root,
        };
        if id < std::mem::replace(next, id) {
            return None;
        }
        positions.push(id);
    }
    Some(positions)
}

/// Moves each item to its position; `positions` is a permutation.
pub(super) fn arrange<T>(items: Vec<T>, positions: &[usize]) -> Vec<T> {
    let mut slots: Vec<Option<T>> = items.iter().map(|_| None).collect();
    for (item, position) in items.into_iter().zip(positions) {
        if let Some(slot) = slots.get_mut(*position) {
            *slot = Some(item);
        }
    }
    slots.into_iter().flatten().collect()
}

/// Sorts the items of a flat list by number, and returns the position of each number, too.
pub(super) fn sort<T>(what: &str, items: Vec<T>, ids: &[u64]) -> Result<(Vec<T>, HashMap<u64, usize>)> {
    distinct(what, ids)?;
    let mut pairs: Vec<(u64, T)> = ids.iter().copied().zip(items).collect();
    pairs.sort_by_key(|(id, _)| *id);
    let positions = pairs.iter().enumerate().map(|(position, (id, _))| (*id, position)).collect();
    Ok((pairs.into_iter().map(|(_, item)| item).collect(), positions))
}

/// Fails if a number is used twice.
pub(super) fn distinct(what: &str, ids: &[u64]) -> Result<()> {
    let mut seen = HashSet::with_capacity(ids.len());
    match ids.iter().find(|id| !seen.insert(**id)) {
        Some(id) => Err(Error::invalid(format!("two {what}s have the number {id}"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_parents_first_and_sorted_siblings_are_kept() {
        // 0(1(3), 2)
        assert_eq!(tree_positions(&[0, 1, 3, 2], &[None, Some(0), Some(1), Some(0)]), [0, 1, 3, 2]);
        assert_eq!(arrange(vec!['a', 'b', 'c', 'd'], &[0, 1, 3, 2]), ['a', 'b', 'd', 'c']);
    }

    #[test]
    fn other_numbers_give_way_to_document_order() {
        let siblings = [None, Some(0), Some(0)];
        assert_eq!(tree_positions(&[0, 2, 1], &siblings), [0, 1, 2]);
        assert_eq!(tree_positions(&[1, 0, 2], &siblings), [0, 1, 2]);
        assert_eq!(tree_positions(&[0, 7, 8], &siblings), [0, 1, 2]);
        assert_eq!(tree_positions(&[0, 1, 1], &siblings), [0, 1, 2]);
    }

    #[test]
    fn flat_lists_are_sorted_and_gaps_closed() {
        let (items, positions) = sort("region", vec!['x', 'y'], &[9, 4]).unwrap();
        assert_eq!((items, positions[&9]), (vec!['y', 'x'], 1));
        assert!(sort("region", vec!['x', 'y'], &[4, 4]).is_err());
    }
}
