//! Operations on files that have begun, and have not ended.

use rustc_hash::FxHashMap;

/// A handle, and the id that matches the records of an operation on it. Several at a time may have the same one (io.md 3.1).
pub(super) type Id = (u32, u64);

/// Operations in flight, by their ids.
#[derive(Debug, Clone)]
pub(super) struct InFlight<T> {
    /// The one that has begun last: most end before another one begins, and are in no table.
    last: Option<(Id, T)>,
    /// Others, of each id the innermost last.
    others: FxHashMap<Id, Vec<T>>,
}

impl<T> Default for InFlight<T> {
    fn default() -> InFlight<T> {
        InFlight { last: None, others: FxHashMap::default() }
    }
}

impl<T> InFlight<T> {
    /// An operation begins.
    #[inline]
    pub(super) fn begin(&mut self, id: Id, operation: T) {
        if let Some((id, before)) = self.last.replace((id, operation)) {
            self.others.entry(id).or_default().push(before);
        }
    }

    /// The innermost operation with an id ends; `None` if none has begun.
    #[inline]
    pub(super) fn end(&mut self, id: Id) -> Option<T> {
        if let Some((_, operation)) = self.last.take_if(|(last, _)| *last == id) {
            return Some(operation);
        }
        let list = self.others.get_mut(&id)?;
        let operation = list.pop();
        if list.is_empty() {
            self.others.remove(&id);
        }
        operation
    }

    /// All of them, in any order.
    pub(super) fn into_all(self) -> impl Iterator<Item = (Id, T)> {
        let others = self.others.into_iter();
        others.flat_map(|(id, list)| list.into_iter().map(move |operation| (id, operation))).chain(self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn innermost_operation_of_an_id_ends_first() {
        let mut open = InFlight::default();
        open.begin((1, 1), 'a');
        open.begin((1, 1), 'b');
        open.begin((2, 7), 'c');
        assert_eq!([open.end((1, 1)), open.end((1, 1)), open.end((1, 1))], [Some('b'), Some('a'), None]);
        open.begin((1, 1), 'd');
        assert_eq!([open.end((2, 7)), open.end((2, 7)), open.end((1, 1))], [Some('c'), None, Some('d')]);
        assert!(open.others.is_empty() && open.last.is_none(), "nothing is kept of those that have ended");
    }

    #[test]
    fn those_that_have_not_ended_are_left() {
        let mut open = InFlight::default();
        (0..3).for_each(|id| open.begin((0, id), id));
        open.end((0, 1));
        let mut left: Vec<_> = open.into_all().collect();
        left.sort_unstable();
        assert_eq!(left, [((0, 0), 0), ((0, 2), 2)]);
    }
}
