//! Files that are mapped into memory (io.md, 2.5): which, and how much. What pages move is not seen.

use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use call_paths::Registers;
use recording::attributes::{HANDLE, IO_HANDLE};
use recording::journal::JournalRecord;

use super::access::{Access, by_descriptor};
use super::keeping_errno;
use super::transfers::flushed;
use crate::clock::now;
use crate::process::Process;

/// Mappings that can be in the table; of more of them only the call that maps is recorded.
const MOST: usize = 1024;
/// Begins of places that are free, or being filled.
const FREE: u64 = 0;
const CLAIMED: u64 = 1;

/// Addresses, from the begin up to the end, and the number of a handle.
struct Mapping {
    begin: AtomicU64,
    end: AtomicU64,
    handle: AtomicU32,
}

static MAPPINGS: [Mapping; MOST] =
    [const { Mapping { begin: AtomicU64::new(FREE), end: AtomicU64::new(0), handle: AtomicU32::new(0) } };
        MOST];
/// How many of the first places have ever been used.
static USED: AtomicUsize = AtomicUsize::new(0);
/// Bytes that were mapped, all in all.
static BYTES: AtomicU64 = AtomicU64::new(0);

/// The mappings that have addresses of a range.
fn in_range(begin: u64, end: u64) -> impl Iterator<Item = (&'static Mapping, u64, u64)> {
    let used = MAPPINGS[..USED.load(Ordering::Relaxed)].iter();
    used.filter_map(move |mapping| {
        let first = mapping.begin.load(Ordering::Acquire);
        let last = mapping.end.load(Ordering::Relaxed);
        (first > CLAIMED && first < end && last > begin).then_some((mapping, first, last))
    })
}

/// Returns the handle of the first mapping that has addresses of a range.
#[inline]
fn find(begin: u64, end: u64) -> Option<u32> {
    let handle = |(mapping, ..): (&Mapping, u64, u64)| mapping.handle.load(Ordering::Relaxed);
    in_range(begin, end).next().map(handle)
}

fn insert(begin: u64, end: u64, handle: u32) {
    let claim = |mapping: &&Mapping| {
        mapping.begin.compare_exchange(FREE, CLAIMED, Ordering::Acquire, Ordering::Relaxed).is_ok()
    };
    let Some((at, mapping)) = MAPPINGS.iter().enumerate().find(|(_, mapping)| claim(mapping)) else { return };
    mapping.end.store(end, Ordering::Relaxed);
    mapping.handle.store(handle, Ordering::Relaxed);
    mapping.begin.store(begin, Ordering::Release);
    USED.fetch_max(at + 1, Ordering::Relaxed);
}

/// Takes a range of addresses out of all mappings.
fn cut(begin: u64, end: u64) {
    for (mapping, first, last) in in_range(begin, end) {
        let handle = mapping.handle.load(Ordering::Relaxed);
        mapping.begin.store(FREE, Ordering::Release);
        if first < begin {
            insert(first, begin, handle);
        }
        if last > end {
            insert(end, last, handle);
        }
    }
}

/// A mapping that a call is about to move, or to give another size.
#[derive(Clone, Copy)]
struct Moving {
    handle: u32,
    /// Its addresses that go away; none if it stays where it is as well.
    gone: Option<(u64, u64)>,
}

impl Moving {
    /// Takes so many addresses out of the table, before the call: another thread may get them as soon as they are free.
    /// `None` if they are not those of a file.
    fn take(address: usize, length: usize, flags: i32) -> Option<Moving> {
        let (begin, end) = range(address, length);
        let (mapping, _, last) = in_range(begin, begin.saturating_add(1)).next()?;
        let handle = mapping.handle.load(Ordering::Relaxed);
        // Without a length the new one is a second one of the same pages (`mremap(2)`).
        let stays = length == 0 || flags & libc::MREMAP_DONTUNMAP != 0;
        let gone = (!stays).then_some((begin, end.min(last)));
        if let Some((begin, end)) = gone {
            cut(begin, end);
        }
        Some(Moving { handle, gone })
    }

    /// Puts the mapping to its new addresses.
    fn put(self, (begin, end): (u64, u64)) {
        insert(begin, end, self.handle);
        let before = self.gone.map_or(0, |(begin, end)| end - begin);
        BYTES.fetch_add((end - begin).saturating_sub(before), Ordering::Relaxed);
    }

    /// Puts it back: the call has failed.
    fn put_back(self) {
        if let Some((begin, end)) = self.gone {
            insert(begin, end, self.handle);
        }
    }
}

/// Returns the range of addresses of a call.
fn range(address: usize, length: usize) -> (u64, u64) {
    (address as u64, (address as u64).saturating_add(length as u64))
}

/// Makes a call that maps something.
#[inline(always)]
pub(super) fn map(
    function: u32,
    registers: Registers,
    (address, length, flags, descriptor): (usize, usize, i32, i32),
    real: impl FnOnce() -> usize,
) -> usize {
    if flags & libc::MAP_FIXED != 0 && USED.load(Ordering::Relaxed) != 0 {
        // It takes the place of what is there.
        let (begin, end) = range(address, length);
        cut(begin, end);
    }
    by_descriptor(function, registers, descriptor, real, |access, file, result| {
        if result != libc::MAP_FAILED as usize {
            let (begin, end) = range(result, length);
            insert(begin, end, file.handle);
            BYTES.fetch_add(length as u64, Ordering::Relaxed);
            tell(access, file.handle);
        }
    })
}

/// Says which handle the call is for.
fn tell(access: &mut Access, handle: u32) {
    let (_, end) = access.times();
    access.thread().events.attributes(end, &[(HANDLE, IO_HANDLE, handle.into())]);
}

/// Makes a call that moves a mapping, or gives it another length.
#[inline(always)]
pub(super) fn remap(
    function: u32,
    registers: Registers,
    (address, length): (usize, usize),
    (new_length, flags): (usize, i32),
    real: impl FnOnce() -> usize,
) -> usize {
    if !super::is_on() || USED.load(Ordering::Relaxed) == 0 {
        return real();
    }
    let moving = Moving::take(address, length, flags);
    let mut access = moving.and_then(|_| Access::lock());
    if let Some(access) = &mut access {
        access.enter(registers, function, now());
    }
    let result = real();
    if let Some(access) = &mut access {
        access.end_at(now());
    }
    let is_done = result != libc::MAP_FAILED as usize;
    if is_done {
        // With `MREMAP_FIXED` it takes the place of what was there, which nobody else can get now.
        let (begin, end) = range(result, new_length);
        cut(begin, end);
    }
    match moving {
        Some(moving) if is_done => moving.put(range(result, new_length)),
        Some(moving) => moving.put_back(),
        None => {}
    }
    keeping_errno(|| {
        if let (Some(access), Some(moving)) = (&mut access, moving.filter(|_| is_done)) {
            tell(access, moving.handle);
        }
        drop(access);
    });
    result
}

/// Makes a call that ends mappings.
#[inline(always)]
pub(super) fn unmap(
    function: u32,
    registers: Registers,
    (address, length): (usize, usize),
    real: impl FnOnce() -> usize,
) -> usize {
    by_address(function, registers, (address, length), true, real, tell)
}

/// Makes a call that brings what was written to the device.
#[inline(always)]
pub(super) fn synchronize(
    function: u32,
    registers: Registers,
    (address, length): (usize, usize),
    real: impl FnOnce() -> usize,
) -> usize {
    by_address(function, registers, (address, length), false, real, flushed)
}

/// Makes a call for addresses; `record` gets the handle of what is mapped there, if the call has succeeded.
#[inline(always)]
fn by_address(
    function: u32,
    registers: Registers,
    (address, length): (usize, usize),
    ends: bool,
    real: impl FnOnce() -> usize,
    record: impl FnOnce(&mut Access, u32),
) -> usize {
    if !super::is_on() || USED.load(Ordering::Relaxed) == 0 {
        return real();
    }
    let (begin, end) = range(address, length);
    let Some(handle) = find(begin, end) else { return real() };
    if ends {
        // Before the call: another thread may get the addresses as soon as they are free.
        cut(begin, end);
    }
    let Some(mut access) = Access::lock() else { return real() };
    access.enter(registers, function, now());
    let result = real();
    access.end_at(now());
    keeping_errno(|| {
        if result as i32 == 0 {
            record(&mut access, handle);
        }
        drop(access);
    });
    result
}

/// Says in the journal how many bytes of files were mapped.
pub(super) fn remark(process: &Process) {
    let bytes = BYTES.load(Ordering::Relaxed);
    if bytes > 0 {
        let text =
            format!("{bytes} bytes of files were mapped: how these are read and written is not recorded");
        process.append(&JournalRecord::Remark { text });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, PoisonError};

    use super::*;

    /// Runs a test that has the table to itself.
    fn alone(test: impl FnOnce()) {
        static TABLE: Mutex<()> = Mutex::new(());
        let _alone = TABLE.lock().unwrap_or_else(PoisonError::into_inner);
        test();
        assert_eq!(find(0, u64::MAX), None);
    }

    /// The handles at the first bytes of some ranges.
    fn at<const N: usize>(begins: [u64; N]) -> [Option<u32>; N] {
        begins.map(|begin| find(begin, begin + 1))
    }

    #[test]
    fn addresses_belong_to_mappings_until_they_are_cut_out() {
        alone(|| {
            insert(0x10_0000, 0x20_0000, 7);
            insert(0x20_0000, 0x21_0000, 8);
            assert_eq!((find(0x1f_f000, 0x1f_f001), find(0x20_0000, 0x30_0000)), (Some(7), Some(8)));
            assert_eq!((find(0, 0x10_0000), find(0x21_0000, u64::MAX)), (None, None));
            cut(0x14_0000, 0x15_0000);
            assert_eq!((find(0x14_0000, 0x15_0000), find(0x13_0000, 0x14_0000)), (None, Some(7)));
            assert_eq!(find(0x15_0000, 0x16_0000), Some(7));
            cut(0, 0x20_0000);
            assert_eq!((find(0, 0x20_0000), find(0x20_0000, 0x20_0001)), (None, Some(8)));
            cut(0x20_0000, u64::MAX);
        });
    }

    /// Moves a mapping as a call that returns `result` does; returns how many more bytes are mapped then.
    fn moved(
        (address, length): (usize, usize),
        (new_length, flags): (usize, i32),
        result: usize,
    ) -> Option<u64> {
        let before = BYTES.load(Ordering::Relaxed);
        let moving = Moving::take(address, length, flags)?;
        match result {
            usize::MAX => moving.put_back(),
            result => moving.put(range(result, new_length)),
        }
        Some(BYTES.load(Ordering::Relaxed) - before)
    }

    #[test]
    fn mapping_that_moves_has_its_new_addresses_alone() {
        alone(|| {
            insert(0x1_0000, 0x1_4000, 7);
            // The middle of it moves and grows; the ends stay.
            assert_eq!(moved((0x1_1000, 0x1000), (0x3000, libc::MREMAP_MAYMOVE), 0x5_0000), Some(0x2000));
            assert_eq!(at([0x1_0000, 0x1_1000, 0x1_2000]), [Some(7), None, Some(7)]);
            assert_eq!(at([0x5_0000, 0x5_2fff, 0x5_3000]), [Some(7), Some(7), None]);
            // It shrinks in its place.
            assert_eq!(moved((0x5_0000, 0x3000), (0x1000, 0), 0x5_0000), Some(0));
            assert_eq!(at([0x5_0fff, 0x5_1000]), [Some(7), None]);
            // The call fails.
            assert_eq!(moved((0x5_0000, 0x1000), (0x9000, 0), usize::MAX), Some(0));
            assert_eq!(at([0x5_0000, 0x5_1000]), [Some(7), None]);
            // Addresses of no file.
            assert_eq!(moved((0x9_0000, 0x1000), (0x9000, 0), 0x9_0000), None);
            cut(0, u64::MAX);
        });
    }

    #[test]
    fn mapping_that_stays_is_mapped_twice() {
        alone(|| {
            insert(0x1_0000, 0x1_4000, 7);
            assert_eq!(moved((0x1_0000, 0), (0x1000, libc::MREMAP_MAYMOVE), 0x5_0000), Some(0x1000));
            let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_DONTUNMAP;
            assert_eq!(moved((0x1_0000, 0x4000), (0x4000, flags), 0x6_0000), Some(0x4000));
            assert_eq!(at([0x1_0000, 0x1_3fff, 0x5_0fff, 0x6_3fff]), [Some(7); 4]);
            assert_eq!(moved((0x1_0000, 0), (0x1000, 0), usize::MAX), Some(0));
            cut(0, u64::MAX);
        });
    }
}
