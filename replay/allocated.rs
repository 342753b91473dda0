//! Bytes in lists of a thread, as counted by the allocator. A list that grows next may take as much again;
//! thanks to the count no step has to add up its lists.

use std::cell::Cell;

/// Size in bytes from which on a list counts. Smaller ones fit into the room that is always left for small
/// allocations.
const COUNTED: usize = 1 << 10;

thread_local! {
    /// Bytes of lists that this thread allocated, minus those that it freed.
    static ALIVE: Cell<i64> = const { Cell::new(0) };
}

/// Counts a list whose size in bytes changes; the size is 0 before allocation and after freeing.
#[inline]
pub(crate) fn count(before: usize, after: usize) {
    if before.max(after) >= COUNTED {
        let counted = |size: usize| if size < COUNTED { 0 } else { size as i64 };
        ALIVE.set(ALIVE.get() + counted(after) - counted(before));
    }
}

/// A start of counting: lists that a thread allocates from then on are counted.
#[derive(Clone, Copy, Debug)]
pub struct Since(i64);

impl Since {
    /// Starts counting now.
    pub fn now() -> Since {
        Since(ALIVE.get())
    }

    /// Returns the bytes of the lists that the thread allocated since then, minus those that it freed.
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
