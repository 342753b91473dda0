//! Bytes that lists of a thread have, as the allocator counts them: what grows next may take as much again, and no step
//! has to add up its lists.

use std::cell::Cell;

/// Bytes from which on a list counts. Smaller ones fit into the room that is always left for what is small.
const COUNTED: usize = 1 << 10;

thread_local! {
    /// Bytes of lists that this thread made, without those that it freed.
    static ALIVE: Cell<i64> = const { Cell::new(0) };
}

/// Counts a list whose size changes, in bytes; 0 before it is made, and when it is freed.
#[inline]
pub(crate) fn count(before: usize, after: usize) {
    if before.max(after) >= COUNTED {
        let counted = |size: usize| if size < COUNTED { 0 } else { size as i64 };
        ALIVE.set(ALIVE.get() + counted(after) - counted(before));
    }
}

/// A moment in the life of a thread, from which on its lists are counted.
#[derive(Clone, Copy, Debug)]
pub struct Since(i64);

impl Since {
    /// This moment.
    pub fn now() -> Since {
        Since(ALIVE.get())
    }

    /// Bytes of the lists that the thread made since then, without those that it freed.
    pub fn bytes(self) -> u64 {
        (ALIVE.get() - self.0).max(0).unsigned_abs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_count_from_their_making_until_they_are_freed() {
        let since = Since::now();
        count(0, COUNTED - 1);
        assert_eq!(since.bytes(), 0);
        count(0, 5000);
        count(5000, 10_000);
        assert_eq!((since.bytes(), Since::now().bytes()), (10_000, 0));
        count(10_000, 8);
        assert_eq!(since.bytes(), 0);
    }
}
