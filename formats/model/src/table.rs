//! Table of definitions: in order of appearance, indexed by the reference that records use.

use std::collections::HashMap;
use std::ops::Index;

/// Table of definitions of one kind. The analysis uses positions (0, 1, …), records use OTF2 references (any
/// numbers, not necessarily dense).
#[derive(Clone, Debug)]
pub struct Table<T> {
    items: Vec<T>,
    references: Vec<u64>,
    /// Position by reference; empty as long as references are 0, 1, 2, …
    positions: HashMap<u64, usize>,
}

impl<T> Table<T> {
    /// An empty table.
    pub fn new() -> Self {
        Table { items: Vec::new(), references: Vec::new(), positions: HashMap::new() }
    }

    /// Appends a definition and returns its position.
    ///
    /// # Errors
    /// Returns the item itself if `reference` is already defined.
    pub fn push(&mut self, reference: u64, item: T) -> Result<usize, T> {
        if self.position(reference).is_some() {
            return Err(item);
        }
        let position = self.items.len();
        if self.positions.is_empty() && reference != position as u64 {
            self.positions = self.references.iter().enumerate().map(|(at, &old)| (old, at)).collect();
        }
        if !self.positions.is_empty() || reference != position as u64 {
            self.positions.insert(reference, position);
        }
        self.items.push(item);
        self.references.push(reference);
        Ok(position)
    }

    /// The position of the definition with this reference.
    #[inline]
    pub fn position(&self, reference: u64) -> Option<usize> {
        if self.positions.is_empty() {
            return usize::try_from(reference).ok().filter(|&at| at < self.items.len());
        }
        self.positions.get(&reference).copied()
    }

    /// The definition with this reference.
    pub fn find(&self, reference: u64) -> Option<&T> {
        self.position(reference).map(|at| &self.items[at])
    }

    /// The reference of the definition at `position`.
    ///
    /// # Panics
    /// If there is no such position.
    pub fn reference(&self, position: usize) -> u64 {
        self.references[position]
    }

    /// The definition at `position`.
    pub fn get(&self, position: usize) -> Option<&T> {
        self.items.get(position)
    }

    /// Mutable access to the definition at `position`.
    pub fn get_mut(&mut self, position: usize) -> Option<&mut T> {
        self.items.get_mut(position)
    }

    /// Number of definitions.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether the table is empty.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// All definitions in order of appearance.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    /// Mutable access to all definitions, in order of appearance.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.items.iter_mut()
    }
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Table::new()
    }
}

impl<T> Index<usize> for Table<T> {
    type Output = T;

    fn index(&self, position: usize) -> &T {
        &self.items[position]
    }
}

impl<'a, T> IntoIterator for &'a Table<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparse_references_are_found_dense_ones_need_no_map() {
        let mut dense = Table::new();
        assert_eq!((dense.push(0, 'a'), dense.push(1, 'b')), (Ok(0), Ok(1)));
        assert!(dense.positions.is_empty());
        assert_eq!(dense.push(9, 'c'), Ok(2));
        assert_eq!([0, 1, 9, 2].map(|r| dense.find(r).copied()), [Some('a'), Some('b'), Some('c'), None]);
        assert_eq!(dense.reference(2), 9);
    }

    #[test]
    fn first_reference_not_zero_is_found() {
        let mut table = Table::new();
        assert_eq!(table.push(7, 'x'), Ok(0));
        assert_eq!((table.position(7), table.position(0)), (Some(0), None));
    }

    #[test]
    fn reference_defined_twice_is_refused() {
        let mut table = Table::new();
        assert_eq!((table.push(3, 'a'), table.push(3, 'b')), (Ok(0), Err('b')));
    }
}
