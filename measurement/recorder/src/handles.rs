//! Values by handle (of a request, a communicator, …), found without locks.
//!
//! MPI makes this simple: a handle that is being created or freed is used by no other call at that time (MPI
//! 4.0, 11.6). So no thread looks for a handle while it is inserted or removed; a program that breaks the
//! rule may get the value of another handle, but nothing worse.
//!
//! Slots of removed handles are reused, so a program that creates and completes requests for ever stays in
//! the first level. Handles that MPI takes from a pool come again and again: they may be put aside for a
//! while instead, and keep their slots, which costs no locked instruction.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;

use crate::levels::{EMPTY, Levels, Zeroed};

/// Flag of a handle that has been put aside, and the key of a removed one.
const AWAY: u64 = 1 << 63;
const REMOVED: u64 = u64::MAX;

/// The fate of a handle that has been looked up.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It stays.
    Kept,
    /// It is put aside, and will come again.
    Away,
    /// It is removed.
    Removed,
}

/// Values by handle. A handle that is 0 or has its highest bit set cannot be kept; no MPI library has such.
pub(crate) struct Handles<V> {
    levels: Levels<V>,
}

impl<V: Zeroed> Handles<V> {
    pub(crate) const fn new() -> Self {
        Handles { levels: Levels::new() }
    }

    /// Returns the value of a handle.
    #[inline]
    pub(crate) fn find(&self, handle: usize) -> Option<&V> {
        let key = key(handle)?;
        self.levels.find(key, |found| found == key).map(|slot| &slot.value)
    }

    /// Inserts a handle, with the value that `write` sets; its earlier value is replaced. Without memory
    /// nothing is kept.
    #[inline]
    pub(crate) fn insert(&self, handle: usize, write: impl FnOnce(&V)) {
        let Some(key) = key(handle) else { return };
        let own = self.levels.find(key, |found| found & !AWAY == key);
        let slot = own.or_else(|| self.levels.claim(key, |found| found == REMOVED));
        if let Some(slot) = slot {
            write(&slot.value);
            slot.publish(key);
        }
    }

    /// Removes a handle; returns what `look` returns for its value.
    #[inline]
    pub(crate) fn remove<R>(&self, handle: usize, look: impl FnOnce(&V) -> R) -> Option<R> {
        let mut found = None;
        self.take(handle, |value| {
            found = Some(look(value));
            Fate::Removed
        });
        found
    }

    /// Calls `look` with the value of a handle, which decides what happens to the handle.
    #[inline]
    pub(crate) fn take(&self, handle: usize, look: impl FnOnce(&V) -> Fate) {
        let Some(key) = key(handle) else { return };
        let Some(slot) = self.levels.find(key, |found| found == key) else { return };
        match look(&slot.value) {
            Fate::Kept => {}
            Fate::Away => slot.publish(key | AWAY),
            Fate::Removed => slot.publish(REMOVED),
        }
    }
}

/// A value that belongs to the call on its handle: unlike others it is read and written as a whole, without
/// atomics.
pub(crate) struct Owned<V>(UnsafeCell<MaybeUninit<V>>);

// SAFETY: uninitialized bytes are valid in a `MaybeUninit`.
unsafe impl<V: Copy + Send> Zeroed for Owned<V> {}
// SAFETY: callers of the functions below guarantee that no other thread uses the value at the time.
unsafe impl<V: Copy + Send> Sync for Owned<V> {}

impl<V: Copy> Owned<V> {
    /// Returns the value.
    ///
    /// # Safety
    /// The value has been set, and no other thread sets or changes it meanwhile.
    #[inline]
    pub(crate) unsafe fn get(&self) -> V {
        // SAFETY: the caller guarantees it.
        unsafe { (*self.0.get()).assume_init() }
    }

    /// Sets the value.
    ///
    /// # Safety
    /// No other thread uses the value meanwhile.
    #[inline]
    pub(crate) unsafe fn set(&self, value: V) {
        // SAFETY: the caller guarantees it.
        unsafe { (*self.0.get()).write(value) };
    }

    /// Returns what `change` returns for the value.
    ///
    /// # Safety
    /// The value has been set, no other thread uses it meanwhile, nor does `change` except by its argument.
    pub(crate) unsafe fn change<R>(&self, change: impl FnOnce(&mut V) -> R) -> R {
        // SAFETY: the caller guarantees it.
        change(unsafe { (*self.0.get()).assume_init_mut() })
    }
}

/// Returns the key of a handle, if it can be kept.
#[inline]
fn key(handle: usize) -> Option<u64> {
    let key = handle as u64;
    (key != EMPTY && key & AWAY == 0).then_some(key)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::mpsc;

    use super::*;

    /// Miri is about a thousand times slower.
    const MANY: usize = if cfg!(miri) { 100 } else { 10_000 };

    fn insert(handles: &Handles<AtomicU64>, handle: usize, value: u64) {
        handles.insert(handle, |known| known.store(value, Ordering::Relaxed));
    }

    fn find(handles: &Handles<AtomicU64>, handle: usize) -> Option<u64> {
        handles.find(handle).map(|known| known.load(Ordering::Relaxed))
    }

    fn remove(handles: &Handles<AtomicU64>, handle: usize) -> Option<u64> {
        handles.remove(handle, |known| known.load(Ordering::Relaxed))
    }

    #[test]
    fn handle_that_is_away_is_unknown_until_it_comes_back_with_another_value() {
        let handles = Handles::new();
        insert(&handles, 16, 1);
        handles.take(16, |value| if value.load(Ordering::Relaxed) == 1 { Fate::Away } else { Fate::Kept });
        assert_eq!(find(&handles, 16), None);
        assert_eq!(remove(&handles, 16), None);
        insert(&handles, 16, 2);
        handles.take(16, |_| Fate::Kept);
        assert_eq!(find(&handles, 16), Some(2));
        assert_eq!(remove(&handles, 16), Some(2));
        assert_eq!(find(&handles, 16), None);
    }

    #[test]
    fn many_handles_that_come_and_go_are_distinguished() {
        let handles = Handles::new();
        for round in 0..3 {
            for handle in 1..=MANY {
                insert(&handles, handle * 64, (handle + round) as u64);
            }
            for handle in 1..=MANY {
                let fate = [Fate::Away, Fate::Removed][handle % 2];
                let mut found = None;
                handles.take(handle * 64, |value| {
                    found = Some(value.load(Ordering::Relaxed));
                    fate
                });
                assert_eq!(found, Some((handle + round) as u64));
                assert_eq!(find(&handles, handle * 64), None);
            }
        }
        // The same slots were reused: this number needs the first level and a part of the second.
        assert_eq!(handles.levels.count(), 2);
    }

    #[test]
    fn handle_that_is_inserted_again_has_one_value() {
        // This number collides in the slots, and removed handles leave room in front of others.
        let handles = Handles::new();
        (1..=MANY).for_each(|handle| insert(&handles, handle * 64, 1));
        (1..=MANY)
            .filter(|handle| handle % 3 == 0)
            .for_each(|handle| assert!(remove(&handles, handle * 64).is_some()));
        let kept = || (1..=MANY).filter(|handle| handle % 3 != 0);
        kept().for_each(|handle| insert(&handles, handle * 64, 2));
        for handle in kept() {
            assert_eq!(remove(&handles, handle * 64), Some(2));
            assert_eq!(find(&handles, handle * 64), None);
        }
    }

    #[test]
    fn impossible_handle_is_not_kept() {
        let handles = Handles::new();
        for handle in [0, usize::MAX, usize::MAX - 1, AWAY as usize | 16] {
            insert(&handles, handle, 1);
            assert_eq!(find(&handles, handle), None);
        }
    }

    #[test]
    fn handles_that_threads_pass_on_have_their_values() {
        // One thread makes handles, another takes them, and the first gets them back, as with requests of a
        // pool.
        let handles = Handles::<Owned<u64>>::new();
        let (made, to_take) = mpsc::sync_channel(8);
        let (taken, to_make) = mpsc::sync_channel(64);
        (1..=16).for_each(|handle| taken.send(handle * 64).unwrap());
        std::thread::scope(|scope| {
            let handles = &handles;
            scope.spawn(move || {
                for value in 0..MANY as u64 {
                    let handle = to_make.recv().unwrap();
                    // SAFETY: the other thread has given the handle back, and does not use its value.
                    handles.insert(handle, |known| unsafe { known.set(value) });
                    made.send((handle, value)).unwrap();
                }
            });
            scope.spawn(move || {
                for (handle, value) in to_take {
                    let mut found = None;
                    handles.take(handle, |known| {
                        // SAFETY: the other thread has set the value and passed the handle on.
                        found = Some(unsafe { known.get() });
                        if value % 3 == 0 { Fate::Removed } else { Fate::Away }
                    });
                    assert_eq!(found, Some(value));
                    let _ = taken.send(handle);
                }
            });
        });
    }

    #[test]
    fn threads_that_insert_at_once_do_not_lose_each_others_handles() {
        let handles = Handles::new();
        let insert_own = |thread: usize| {
            let handles = &handles;
            move || (1..=MANY).for_each(|number| insert(handles, (number * 4 + thread) * 64, number as u64))
        };
        std::thread::scope(|scope| (0..4).for_each(|thread| drop(scope.spawn(insert_own(thread)))));
        for thread in 0..4 {
            for number in 1..=MANY {
                assert_eq!(find(&handles, (number * 4 + thread) * 64), Some(number as u64));
            }
        }
    }
}
