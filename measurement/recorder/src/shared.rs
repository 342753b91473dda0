//! Values by key that all threads of the process share: the counters of a channel, the number of a region, ….
//!
//! Unlike handles of MPI, keys belong to no call: threads may look for one while another thread adds it. So
//! values are atomics, one thread at a time adds keys, and a key is published when its value is complete. A
//! key is never removed, so that finding one takes no lock.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use std::sync::{Mutex, PoisonError};

use crate::levels::{Levels, Zeroed};

// SAFETY: zero bytes are the value 0.
unsafe impl Zeroed for AtomicU64 {}
// SAFETY: zero bytes are the value 0.
unsafe impl Zeroed for AtomicU32 {}
// SAFETY: a zero byte is `false`.
unsafe impl Zeroed for AtomicBool {}

/// Values by key: a hash, or an address. The highest bit of a key does not count.
pub(crate) struct Shared<V> {
    levels: Levels<V>,
    /// Held while keys are added.
    adding: Mutex<()>,
}

impl<V: Zeroed> Shared<V> {
    pub(crate) const fn new() -> Self {
        Shared { levels: Levels::new(), adding: Mutex::new(()) }
    }

    /// Returns the value of a key, if it has been added.
    #[inline]
    pub(crate) fn find(&self, key: u64) -> Option<&V> {
        let key = normal(key);
        self.levels.find(key, |found| found == key).map(|slot| &slot.value)
    }

    /// Returns the value of a key. The first time it is added, and `make` initializes its value, which is
    /// zero; once for a key, whatever other threads do. `None` without memory, and `make` is not called.
    #[inline]
    pub(crate) fn get_or_insert(&self, key: u64, make: impl FnOnce(&V)) -> Option<&V> {
        self.find(key).or_else(|| self.add(key, make))
    }

    #[cold]
    fn add(&self, key: u64, make: impl FnOnce(&V)) -> Option<&V> {
        let _adding = self.adding.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have added it.
        if let Some(found) = self.find(key) {
            return Some(found);
        }
        let key = normal(key);
        let slot = self.levels.claim(key, |_| false)?;
        make(&slot.value);
        slot.publish(key);
        Some(&slot.value)
    }
}

/// Returns the key in a slot, different from all special keys.
#[inline]
fn normal(key: u64) -> u64 {
    (key & (u64::MAX >> 1)).max(1)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;

    #[test]
    fn threads_that_meet_at_a_new_key_make_its_value_once() {
        let keys = if cfg!(miri) { 100 } else { 20_000 };
        let (values, made) = (Shared::<AtomicU64>::new(), AtomicU64::new(0));
        let insert_all = || {
            for key in 0..keys {
                let value = values.get_or_insert(key << 7, |value| {
                    made.fetch_add(1, Ordering::Relaxed);
                    value.store(key * 3 + 1, Ordering::Relaxed);
                });
                // The value is complete as soon as the key is found.
                assert_eq!(value.map(|value| value.load(Ordering::Relaxed)), Some(key * 3 + 1));
            }
        };
        std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(insert_all))));
        assert_eq!(made.into_inner(), keys);
        assert!(values.find(keys << 7).is_none());
    }

    #[test]
    fn any_number_is_a_key() {
        let values = Shared::<AtomicBool>::new();
        for key in [0, u64::MAX, u64::MAX - 1, 1 << 63] {
            assert!(values.get_or_insert(key, |value| value.store(true, Ordering::Relaxed)).is_some());
            assert!(values.find(key).is_some_and(|value| value.load(Ordering::Relaxed)));
        }
    }
}
