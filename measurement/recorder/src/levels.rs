//! Slots that are found by key without locks: what [`handles`](crate::handles) and [`shared`](crate::shared) are made of.
//!
//! Open addressing in levels: a level that is half full stays, and a larger one is added behind it. So a slot never moves
//! and is never freed, and a reference to one is good for as long as the process lives. Everything in a slot is shared by
//! all threads: its key is an atomic, its value [`Zeroed`].

use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use crate::memory::anonymous;

/// Key of a slot that has never been used.
pub(crate) const EMPTY: u64 = 0;
/// Key of a slot that its claimant has not published yet.
const CLAIMED: u64 = u64::MAX - 1;
/// Slots of the first level; each further one has eight times as many.
const FIRST: usize = if cfg!(miri) { 64 } else { 4096 };
const LEVELS: usize = 6;

/// Values that threads may share, and that fresh memory consists of.
///
/// # Safety
/// Bytes that are all zero are a value.
pub(crate) unsafe trait Zeroed: Sync {}

/// A place for a value.
pub(crate) struct Slot<V> {
    key: AtomicU64,
    pub(crate) value: V,
}

impl<V> Slot<V> {
    /// Gives a slot its key: whoever finds it by this key sees what has been written to the value before.
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

    /// The slot of a key, which may also have another key that is the same to the caller.
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

    /// A slot for a key that has none: one that was never used, or has a key that is free to the caller. Nobody finds it
    /// until it is published. `None` without memory.
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

    /// The slots of a level, if it has been made.
    #[inline]
    fn level(&self, level: usize) -> Option<&[Slot<V>]> {
        let first = self.first[level].load(Ordering::Acquire);
        // SAFETY: a level is published with all its slots, whose bytes are zero at first, which are keys and values; it is
        // never freed. Whatever changes in them changes by atomics, or as their type, which may be shared, has it.
        (!first.is_null()).then(|| unsafe { std::slice::from_raw_parts(first, slots_of(level)) })
    }

    #[cold]
    fn make_level(&self, level: usize) -> Option<&[Slot<V>]> {
        // Fresh memory is zero, and starts at a page: aligned for any slot.
        let made = anonymous(slots_of(level) * size_of::<Slot<V>>())?.cast();
        let null = null_mut();
        // Should two threads make it at once, the second's is left alone: a cold path, and a few pages.
        let _ = self.first[level].compare_exchange(null, made, Ordering::AcqRel, Ordering::Relaxed);
        self.level(level)
    }

    /// How many levels have been made.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.first.iter().take_while(|first| !first.load(Ordering::Relaxed).is_null()).count()
    }
}

const fn slots_of(level: usize) -> usize {
    FIRST << (3 * level)
}

/// The slots in which a key may be, in order. Keys may be multiples of powers of two, or small numbers.
#[inline]
fn probe(key: u64, slots: usize) -> impl Iterator<Item = usize> {
    let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    (0..slots).map(move |step| (hash as usize + step) & (slots - 1))
}
