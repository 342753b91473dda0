//! Open files that are recorded, by their descriptors.

use std::sync::atomic::{AtomicU64, Ordering};

/// Descriptors that can be in the table; files with larger ones are not recorded.
const MOST: usize = 1 << 16;
/// Flag of a file whose writes go to its end.
const APPENDS: u64 = 1 << 32;
/// Flag of a file of which the last lock is a shared one.
const SHARES: u64 = 1 << 33;

/// The number of the handle plus 1, and flags; 0 for a descriptor that is not recorded.
static DESCRIPTORS: [AtomicU64; MOST] = [const { AtomicU64::new(0) }; MOST];

/// An open file that is recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct OpenFile {
    /// The number of its handle in the process.
    pub(crate) handle: u32,
    /// Whether its writes go to its end.
    pub(crate) appends: bool,
    /// Whether the last lock that was got is a shared one.
    pub(crate) shares: bool,
}

impl OpenFile {
    fn read(word: u64) -> Option<OpenFile> {
        let handle = (word as u32).checked_sub(1)?;
        Some(OpenFile { handle, appends: word & APPENDS != 0, shares: word & SHARES != 0 })
    }

    fn word(self) -> u64 {
        let flag = |is_set, flag| if is_set { flag } else { 0 };
        (u64::from(self.handle) + 1) | flag(self.appends, APPENDS) | flag(self.shares, SHARES)
    }
}

/// Returns the file of a descriptor, if it is recorded.
#[inline]
pub(crate) fn find(descriptor: i32) -> Option<OpenFile> {
    OpenFile::read(DESCRIPTORS.get(descriptor as u32 as usize)?.load(Ordering::Relaxed))
}

/// Sets the file of a descriptor; returns the one that it had before. `None` for a file that cannot be kept.
pub(crate) fn set(descriptor: i32, file: Option<OpenFile>) -> Option<Option<OpenFile>> {
    let slot = DESCRIPTORS.get(descriptor as u32 as usize)?;
    let word = file.map_or(0, OpenFile::word);
    Some(OpenFile::read(slot.swap(word, Ordering::Relaxed)))
}

/// Sets the file of a descriptor that has none; `false` if it has one, or the file cannot be kept.
pub(crate) fn insert(descriptor: i32, file: OpenFile) -> bool {
    let Some(slot) = DESCRIPTORS.get(descriptor as u32 as usize) else { return false };
    slot.compare_exchange(0, file.word(), Ordering::Relaxed, Ordering::Relaxed).is_ok()
}

/// Removes the files of some descriptors; calls `removed` for each.
pub(crate) fn remove_all(first: u32, last: u32, mut removed: impl FnMut(OpenFile)) {
    let last = (last as usize).min(MOST - 1);
    for slot in DESCRIPTORS.get(first as usize..=last).unwrap_or_default() {
        // Most are not used: their memory has never been touched.
        if slot.load(Ordering::Relaxed) != 0 {
            OpenFile::read(slot.swap(0, Ordering::Relaxed)).into_iter().for_each(&mut removed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_have_their_files_until_they_are_removed() {
        // No file of this process has these.
        let file = |handle| OpenFile { handle, appends: handle == 1, shares: handle == 5 };
        assert_eq!(set(60_000, Some(file(0))), Some(None));
        assert_eq!(set(60_001, Some(file(1))), Some(None));
        assert_eq!((find(60_000), find(60_001), find(60_002)), (Some(file(0)), Some(file(1)), None));
        assert!(!insert(60_000, file(1)) && insert(60_002, file(2)) && !insert(1 << 20, file(2)));
        assert_eq!(set(60_002, None), Some(Some(file(2))));
        assert_eq!(set(60_000, Some(file(5))), Some(Some(file(0))));
        for descriptor in [-1, 1 << 20] {
            assert_eq!((set(descriptor, Some(file(1))), find(descriptor)), (None, None));
        }
        let mut removed = Vec::new();
        remove_all(60_000, u32::MAX, |file| removed.push(file.handle));
        assert_eq!((removed, find(60_000)), (vec![5, 1], None));
    }
}
