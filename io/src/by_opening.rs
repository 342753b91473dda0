//! What is known by opening of a file: most ranks go on with the one that they have used last.

use rustc_hash::FxHashMap;

/// Something of each opening of a file by a rank.
#[derive(Clone, Default, Debug)]
pub(crate) struct ByOpening<T> {
    /// The opening that was asked for last, and what is known of it.
    last: (u64, T),
    others: FxHashMap<u64, T>,
}

impl<T: Default> ByOpening<T> {
    /// What is known of an opening.
    pub(crate) fn of(&mut self, opening: u64) -> &mut T {
        if self.last.0 != opening {
            let next = (opening, self.others.remove(&opening).unwrap_or_default());
            let (before, known) = std::mem::replace(&mut self.last, next);
            self.others.insert(before, known);
        }
        &mut self.last.1
    }
}
