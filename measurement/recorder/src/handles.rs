//! What the recorder knows of a handle (a request, a communicator, …), found without locks.
//!
//! MPI gives the rule that makes this simple: a handle that is being made or freed is used by no other call at that
//! time. So only the keys of slots are shared between threads; a value belongs to whoever makes the call on its handle.
//!
//! Open addressing in levels: a level that is half full stays, and a larger one is added behind it. Slots of removed
//! handles are used again, so a program that makes and completes requests for ever stays in the first level.

use std::cell::UnsafeCell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};

use crate::memory::anonymous;

const EMPTY: usize = 0;
const REMOVED: usize = usize::MAX;
/// Slots of the first level; each further one has eight times as many.
const FIRST: usize = 4096;
const LEVELS: usize = 6;

struct Slot<V> {
    key: AtomicUsize,
    value: UnsafeCell<V>,
}

/// Values by handle. A handle that is 0 or all ones cannot be kept; no MPI has such.
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
        if handle == EMPTY || handle == REMOVED {
            return;
        }
        for level in 0..LEVELS {
            let Some(slots) = self.level(level) else { return };
            for at in probe(handle, slots.len()).take(slots.len() / 2) {
                let slot = &slots[at];
                let key = slot.key.load(Ordering::Relaxed);
                if key != EMPTY && key != REMOVED && key != handle {
                    continue;
                }
                if key == EMPTY && self.used[level].load(Ordering::Relaxed) as usize >= slots.len() / 2 {
                    break;
                }
                if key == handle
                    || slot.key.compare_exchange(key, handle, Ordering::AcqRel, Ordering::Relaxed).is_ok()
                {
                    if key == EMPTY {
                        self.used[level].fetch_add(1, Ordering::Relaxed);
                    }
                    // SAFETY: the slot is ours now, and nobody looks for a handle that is being made.
                    unsafe { *slot.value.get() = value };
                    return;
                }
            }
        }
    }

    /// Forgets a handle; answers what it had.
    #[inline]
    pub(crate) fn remove(&self, handle: usize) -> Option<V> {
        self.take(handle, |_| true)
    }

    /// What a handle has, which is forgotten if that `is_done`.
    #[inline]
    pub(crate) fn take(&self, handle: usize, is_done: impl FnOnce(&V) -> bool) -> Option<V> {
        let slot = self.slot(handle)?;
        // SAFETY: the handle is in use by the calling thread alone.
        let value = unsafe { *slot.value.get() };
        if is_done(&value) {
            slot.key.store(REMOVED, Ordering::Release);
        }
        Some(value)
    }

    #[inline]
    fn slot(&self, handle: usize) -> Option<&Slot<V>> {
        if handle == EMPTY || handle == REMOVED {
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

fn slots_of(level: usize) -> usize {
    FIRST << (3 * level)
}

/// The slots in which a handle may be, in order. Handles are multiples of powers of two, or small numbers.
#[inline]
fn probe(handle: usize, slots: usize) -> impl Iterator<Item = usize> {
    let hash = (handle as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    (0..slots).map(move |step| (hash as usize + step) & (slots - 1))
}
