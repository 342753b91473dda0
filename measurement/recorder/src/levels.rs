//! Lock-free slots by key, on which [`handles`](crate::handles) and [`shared`](crate::shared) are built.
//!
//! Open addressing in levels: a level that is half full stays, and a larger one is added behind it. So a slot
//! never moves and is never freed, and a reference to one is valid as long as the process lives. Everything
//! in a slot is shared by all threads: its key is an atomic, its value [`Zeroed`].

use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use crate::memory::anonymous;

/// Key of a slot that has never been used.
pub(crate) const EMPTY: u64 = 0;
/// Key of a slot that has been claimed but not published yet.
const CLAIMED: u64 = u64::MAX - 1;
/// Slots of the first level; each further one has eight times as many.
const FIRST: usize = if cfg!(miri) { 64 } else { 4096 };
const LEVELS: usize = 6;

/// Values that threads may share, and that fresh memory consists of.
///
/// # Safety
/// A value of zero bytes must be valid.
pub(crate) unsafe trait Zeroed: Sync {}

/// A key and its value.
pub(crate) struct Slot<V> {
    key: AtomicU64,
    pub(crate) value: V,
}

impl<V> Slot<V> {
    /// Publishes a slot under a key: a thread that finds it by this key sees everything written to the value
    /// before.
    #[inline]
    pub(crate) fn publish(&self, key: u64) {
        self.key.store(key, Ordering::Release);
    }
}

/// Slots by key.
pub(crate) struct Levels<V> {
    first: [AtomicPtr<Slot<V>>; LEVELS],
    used: [AtomicU32; LEVELS],
}

impl<V: Zeroed> Levels<V> {
    pub(crate) const fn new() -> Self {
        Levels {
            first: [const { AtomicPtr::new(null_mut()) }; LEVELS],
            used: [const { AtomicU32::new(0) }; LEVELS],
        }
    }

    /// Returns the slot of a key; `is_same` says which keys count as that one.
    #[inline]
    pub(crate) fn find(&self, key: u64, is_same: impl Fn(u64) -> bool) -> Option<&Slot<V>> {
        for level in 0..LEVELS {
            let slots = self.level(level)?;
            for at in probe(key, slots.len()) {
                let found = slots[at].key.load(Ordering::Acquire);
                if is_same(found) {
                    return Some(&slots[at]);
                }
                if found == EMPTY {
                    break;
                }
            }
        }
        None
    }

    /// Claims a slot for a key without one: a slot that was never used, or has a key for which `is_free`
    /// holds. No thread finds it until it is published. `None` without memory.
    pub(crate) fn claim(&self, key: u64, is_free: impl Fn(u64) -> bool) -> Option<&Slot<V>> {
        for level in 0..LEVELS {
            let slots = self.level(level).or_else(|| self.make_level(level))?;
            for at in probe(key, slots.len()).take(slots.len() / 2) {
                let slot = &slots[at];
                let found = slot.key.load(Ordering::Relaxed);
                if found == EMPTY {
                    if self.used[level].load(Ordering::Relaxed) as usize >= slots.len() / 2 {
                        break;
                    }
                } else if !is_free(found) {
                    continue;
                }
                if slot.key.compare_exchange(found, CLAIMED, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                    if found == EMPTY {
                        self.used[level].fetch_add(1, Ordering::Relaxed);
                    }
                    return Some(slot);
                }
            }
        }
        None
    }

    /// Returns the slots of a level, if it has been made.
    #[inline]
    fn level(&self, level: usize) -> Option<&[Slot<V>]> {
        let first = self.first[level].load(Ordering::Acquire);
        // SAFETY: a level is published with all its slots, in which all bytes are zero at first: valid
        // keys and values; it is never freed. Keys change as atomics, and values are `Sync`.
        (!first.is_null()).then(|| unsafe { std::slice::from_raw_parts(first, slots_of(level)) })
    }

    #[cold]
    fn make_level(&self, level: usize) -> Option<&[Slot<V>]> {
        // Fresh memory is zero, and starts at a page: aligned for any slot.
        let made = anonymous(slots_of(level) * size_of::<Slot<V>>())?.cast();
        let null = null_mut();
        // If two threads make it at once, the memory of the second is leaked: that is rare, and a few pages.
        let _ = self.first[level].compare_exchange(null, made, Ordering::AcqRel, Ordering::Relaxed);
        self.level(level)
    }

    /// Returns the number of levels that have been made.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.first.iter().take_while(|first| !first.load(Ordering::Relaxed).is_null()).count()
    }
}

const fn slots_of(level: usize) -> usize {
    FIRST << (3 * level)
}

/// Returns the slots in which a key may be, in order. Keys may be multiples of powers of two, or small
/// numbers.
#[inline]
fn probe(key: u64, slots: usize) -> impl Iterator<Item = usize> {
    let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    (0..slots).map(move |step| (hash as usize + step) & (slots - 1))
}
