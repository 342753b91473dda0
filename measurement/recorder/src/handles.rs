//! What the recorder knows of a handle (a request, a communicator, …), found without locks.
//!
//! MPI gives the rule that makes this simple: a handle that is being made or freed is used by no other call at that
//! time. So only the keys of slots are shared between threads; a value belongs to whoever makes the call on its handle.
//!
//! Open addressing in levels: a level that is half full stays, and a larger one is added behind it. Slots of removed
//! handles are used again, so a program that makes and completes requests for ever stays in the first level. Handles that
//! MPI takes from a pool come again and again: they may leave their slots for a while instead, which are theirs to come
//! back to, without an instruction that locks.

use std::cell::UnsafeCell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};

use crate::memory::anonymous;

/// Keys of slots: these, or a handle, or a handle that has left with this bit.
const EMPTY: usize = 0;
const REMOVED: usize = usize::MAX;
/// The value is being written.
const CLAIMED: usize = REMOVED - 1;
const AWAY: usize = 1 << (usize::BITS - 1);
/// Slots of the first level; each further one has eight times as many.
const FIRST: usize = 4096;
const LEVELS: usize = 6;

struct Slot<V> {
    key: AtomicUsize,
    value: UnsafeCell<V>,
}

/// What becomes of a handle that has been looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It stays.
    Kept,
    /// It is forgotten for now, and will come again.
    Away,
    /// It is forgotten.
    Removed,
}

/// Values by handle. A handle that is 0 or has its highest bit set cannot be kept; no MPI has such.
pub(crate) struct Handles<V: Copy> {
    levels: [AtomicPtr<Slot<V>>; LEVELS],
    used: [AtomicU32; LEVELS],
}

// SAFETY: values are reached through the handle that the calling thread was given by MPI, see above.
unsafe impl<V: Copy + Send> Sync for Handles<V> {}

impl<V: Copy> Handles<V> {
    pub(crate) const fn new() -> Self {
        Handles {
            levels: [const { AtomicPtr::new(null_mut()) }; LEVELS],
            used: [const { AtomicU32::new(0) }; LEVELS],
        }
    }

    /// The value of a handle, to read or to change.
    #[inline]
    #[allow(clippy::mut_from_ref)] // The value belongs to whoever has the handle, see above.
    pub(crate) fn find(&self, handle: usize) -> Option<&mut V> {
        let slot = self.slot(handle)?;
        // SAFETY: the handle is in use by the calling thread alone.
        Some(unsafe { &mut *slot.value.get() })
    }

    /// Keeps a value for a handle; a value that the handle had before is gone. Without memory nothing is kept.
    #[inline]
    pub(crate) fn insert(&self, handle: usize, value: V) {
        if !is_valid(handle) {
            return;
        }
        for level in 0..LEVELS {
            let Some(slots) = self.level(level) else { return };
            for at in probe(handle, slots.len()).take(slots.len() / 2) {
                let slot = &slots[at];
                let key = slot.key.load(Ordering::Relaxed);
                let is_own = key == handle || key == handle | AWAY;
                if !is_own && key != EMPTY && key != REMOVED {
                    continue;
                }
                if key == EMPTY && self.used[level].load(Ordering::Relaxed) as usize >= slots.len() / 2 {
                    break;
                }
                if is_own
                    || slot.key.compare_exchange(key, CLAIMED, Ordering::AcqRel, Ordering::Relaxed).is_ok()
                {
                    if key == EMPTY {
                        self.used[level].fetch_add(1, Ordering::Relaxed);
                    }
                    // SAFETY: the slot is ours now, and nobody looks for a handle that is being made.
                    unsafe { *slot.value.get() = value };
                    slot.key.store(handle, Ordering::Release);
                    return;
                }
            }
        }
    }

    /// Forgets a handle; answers what it had.
    #[inline]
    pub(crate) fn remove(&self, handle: usize) -> Option<V> {
        let mut found = None;
        self.take(handle, |value| {
            found = Some(*value);
            Fate::Removed
        });
        found
    }

    /// Shows what a handle has, and does with the handle as it is told.
    #[inline]
    pub(crate) fn take(&self, handle: usize, look: impl FnOnce(&V) -> Fate) {
        let Some(slot) = self.slot(handle) else { return };
        // SAFETY: the handle is in use by the calling thread alone.
        match look(unsafe { &*slot.value.get() }) {
            Fate::Kept => {}
            Fate::Away => slot.key.store(handle | AWAY, Ordering::Release),
            Fate::Removed => slot.key.store(REMOVED, Ordering::Release),
        }
    }

    #[inline]
    fn slot(&self, handle: usize) -> Option<&Slot<V>> {
        if !is_valid(handle) {
            return None;
        }
        for level in 0..LEVELS {
            let first = self.levels[level].load(Ordering::Acquire);
            if first.is_null() {
                return None;
            }
            // SAFETY: a level is published with all its slots and never freed.
            let slots = unsafe { std::slice::from_raw_parts(first, slots_of(level)) };
            for at in probe(handle, slots.len()) {
                let key = slots[at].key.load(Ordering::Acquire);
                if key == handle {
                    return Some(&slots[at]);
                }
                if key == EMPTY {
                    break;
                }
            }
        }
        None
    }

    /// The slots of a level, which is made if it is not there; `None` without memory.
    fn level(&self, level: usize) -> Option<&[Slot<V>]> {
        let mut first = self.levels[level].load(Ordering::Acquire);
        if first.is_null() {
            // Fresh memory is zero: all slots are empty.
            let made: *mut Slot<V> = anonymous(slots_of(level) * size_of::<Slot<V>>())?.cast();
            let swapped =
                self.levels[level].compare_exchange(null_mut(), made, Ordering::AcqRel, Ordering::Acquire);
            // Should two threads make it at once, the second's is left alone: a cold path, and a few pages.
            first = swapped.map_or_else(|other| other, |_| made);
        }
        // SAFETY: a level is published with all its slots and never freed.
        Some(unsafe { std::slice::from_raw_parts(first, slots_of(level)) })
    }
}

#[inline]
fn is_valid(handle: usize) -> bool {
    handle != EMPTY && handle & AWAY == 0
}

fn slots_of(level: usize) -> usize {
    FIRST << (3 * level)
}

/// The slots in which a handle may be, in order. Handles are multiples of powers of two, or small numbers.
#[inline]
fn probe(handle: usize, slots: usize) -> impl Iterator<Item = usize> {
    let hash = (handle as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    (0..slots).map(move |step| (hash as usize + step) & (slots - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handle_that_is_away_is_unknown_until_it_comes_back_with_another_value() {
        let handles = Handles::new();
        handles.insert(16, 'a');
        handles.take(16, |&value| if value == 'a' { Fate::Away } else { Fate::Kept });
        assert_eq!(handles.find(16), None);
        assert_eq!(handles.remove(16), None);
        handles.insert(16, 'b');
        handles.take(16, |_| Fate::Kept);
        assert_eq!(handles.find(16).copied(), Some('b'));
        assert_eq!(handles.remove(16), Some('b'));
        assert_eq!(handles.find(16), None);
    }

    #[test]
    fn many_handles_that_come_and_go_are_told_apart() {
        let handles = Handles::new();
        for round in 0..3 {
            for handle in 1..=10_000 {
                handles.insert(handle * 64, handle + round);
            }
            for handle in 1..=10_000 {
                let fate = [Fate::Away, Fate::Removed][handle % 2];
                let mut found = None;
                handles.take(handle * 64, |&value| {
                    found = Some(value);
                    fate
                });
                assert_eq!(found, Some(handle + round));
                assert_eq!(handles.find(handle * 64), None);
            }
        }
        // The same slots were used again: 10,000 need the first level and a part of the second.
        assert!(handles.levels[2].load(Ordering::Relaxed).is_null());
    }

    #[test]
    fn impossible_handle_is_not_kept() {
        let handles = Handles::new();
        for handle in [0, usize::MAX, usize::MAX - 1, AWAY | 16] {
            handles.insert(handle, ());
            assert_eq!(handles.find(handle), None);
        }
    }
}
