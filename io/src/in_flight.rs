//! Operations on files that have begun, and have not ended. Several at a time may have the same id (io.md 3.1).

use std::hash::Hash;

use rustc_hash::FxHashMap;

/// Operations in flight, by their ids.
#[derive(Debug, Clone)]
pub struct InFlight<K, T> {
    /// The one that has begun last: most end before another one begins, and are in no table.
    last: Option<(K, T)>,
    /// Others, of each id the innermost last.
    others: FxHashMap<K, Vec<T>>,
}

impl<K, T> Default for InFlight<K, T> {
    fn default() -> InFlight<K, T> {
        InFlight { last: None, others: FxHashMap::default() }
    }
}

impl<K: Copy + Eq + Hash, T> InFlight<K, T> {
    /// An operation begins.
    #[inline]
    pub fn begin(&mut self, id: K, operation: T) {
        if let Some((id, before)) = self.last.replace((id, operation)) {
            self.others.entry(id).or_default().push(before);
        }
    }

    /// The innermost operation with an id; `None` if none has begun.
    #[inline]
    pub fn get(&self, id: K) -> Option<&T> {
        match &self.last {
            Some((last, operation)) if *last == id => Some(operation),
            _ => self.others.get(&id)?.last(),
        }
    }

    /// The innermost operation with an id ends; `None` if none has begun.
    #[inline]
    pub fn end(&mut self, id: K) -> Option<T> {
        self.end_own(id, |_| true)
    }

    /// The same, but those that are one's own come before others.
    #[inline]
    pub fn end_own(&mut self, id: K, is_own: impl Fn(&T) -> bool) -> Option<T> {
        if let Some((_, operation)) = self.last.take_if(|(last, it)| *last == id && is_own(it)) {
            return Some(operation);
        }
        let list = self.others.get_mut(&id);
        let own = list.as_ref().and_then(|list| list.iter().rposition(is_own));
        if own.is_none()
            && let Some((_, operation)) = self.last.take_if(|(last, _)| *last == id)
        {
            return Some(operation);
        }
        let list = list?;
        let operation = match own {
            Some(at) => Some(list.remove(at)),
            None => list.pop(),
        };
        if list.is_empty() {
            self.others.remove(&id);
        }
        operation
    }

    /// All of them, in any order.
    pub fn into_all(self) -> impl Iterator<Item = (K, T)> {
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
        assert_eq!([open.get((1, 1)), open.get((2, 7)), open.get((3, 0))], [Some(&'b'), Some(&'c'), None]);
        assert_eq!([open.end((1, 1)), open.end((1, 1)), open.end((1, 1))], [Some('b'), Some('a'), None]);
        open.begin((1, 1), 'd');
        assert_eq!([open.end((2, 7)), open.end((2, 7)), open.end((1, 1))], [Some('c'), None, Some('d')]);
        assert!(open.others.is_empty() && open.last.is_none(), "nothing is kept of those that have ended");
    }

    #[test]
    fn own_operations_end_before_others_of_the_same_id() {
        let mut open = InFlight::default();
        ["a1", "b1", "a2", "b2"].into_iter().for_each(|it| open.begin(7, it));
        let mut end = |own: char| open.end_own(7, |it: &&str| it.starts_with(own));
        assert_eq!(
            [end('a'), end('b'), end('b'), end('b'), end('b')],
            [Some("a2"), Some("b2"), Some("b1"), Some("a1"), None]
        );
        open.begin(7, "a");
        assert_eq!(open.end_own(7, |it| it.starts_with('b')), Some("a"));
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
