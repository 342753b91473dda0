//! The allocator of large lists: lists that exceed the memory that the user allows lie in a file.
//!
//! Nearly all memory of an analysis is in lists that grow with the number of events. [`Allocator`] allocates
//! them by the C library, which moves no bytes when a list of many pages grows, until the existing ones fill
//! the memory that [`begin`] has set. From then on they lie in one file of the user's directory, which is
//! mapped as a whole: the system writes their pages to it when it needs the memory, and reads them again when
//! they are used. No list knows where it lies, so the report is the same.
//!
//! Small lists are allocated by jemalloc: each process of a trace has dozens of them, and with 65,536 processes
//! the C library takes a third of the time of an analysis to find room among those that were freed.
//!
//! The file has no name, and is gone with the process. Its places are never used again: each is allocated
//! once, and where no list exists any more, a hole is punched.
//!
//! A full disk must be detected when a place is allocated: if the system finds it out when it writes a page,
//! it ends the process. The system prepares pages in groups, aligned to their size, of up to 2 MiB, so room
//! is reserved, and holes are punched, in units of that size.
//!
//! With [`files`](otf2::FileBytes) and MPI this is one of three places with unsafe code, which an allocator
//! needs.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use memmap2::MmapRaw;
use rustix::fs::{FallocateFlags, fallocate, fdatasync, fstatfs, fstatvfs};
use rustix::io::{Errno, retry_on_intr};
use tikv_jemallocator::Jemalloc;

use crate::allocated;
use crate::error::Error;
use crate::int::to_usize;

/// Bytes from which on a list is large. Smaller ones would waste parts of pages, and cost system calls.
pub const LARGE: usize = 16 << 10;

/// The unit of places in the file.
const PAGE: u64 = 4 << 10;

/// The unit in which room is reserved and given back.
const UNIT: u64 = 2 << 20;

/// The largest size of the file: several times what 10^10 events of a process need. It has holes wherever no
/// list lies.
const LONGEST: u64 = 2 << 40;

/// The smallest size of the file. Places are allocated once, also for lists that grow and move.
const SHORTEST: u64 = 64 << 30;

/// The numbers that statfs returns for file systems in memory: tmpfs, ramfs.
const IN_MEMORY: [u64; 2] = [0x0102_1994, 0x8584_58f6];

static SCRATCH: OnceLock<Scratch> = OnceLock::new();

/// The file of large lists, and the memory that they may use.
#[derive(Debug)]
struct Scratch {
    directory: PathBuf,
    file: File,
    map: MmapRaw,
    /// Bytes of large lists that memory may hold, and bytes that it does hold.
    budget: u64,
    taken: AtomicU64,
    places: Mutex<FilePlaces>,
    /// Whether a list did not fit into the file, and so is in memory.
    is_full: AtomicBool,
}

/// The allocated parts of the file.
#[derive(Debug)]
struct FilePlaces {
    /// The end of the allocated part, and of the reserved part.
    next: u64,
    reserved: u64,
    /// By unit: the lists that lie in it, at most one for each page.
    lists: Vec<u16>,
}

/// Sets the bytes of memory that large lists may use together from now on; further ones go to a file in a
/// directory. The program's allocator has to be [`Allocator`].
///
/// # Errors
/// If such a file cannot be made, or would be in memory.
pub fn begin(directory: &Path, budget: u64) -> Result<(), Error> {
    let refuse = |cause: String| {
        Error::new(format!(
            "{}: what does not fit into memory cannot go there: {cause}; name a directory on a disk with --scratch",
            directory.display()
        ))
    };
    let scratch = Scratch::open(directory, budget).map_err(refuse)?;
    SCRATCH.set(scratch).map_err(|_| refuse("there is such a directory already".into()))
}

/// Returns the free bytes of the disk of a directory; `None` if they are not known.
pub fn room(directory: &Path) -> Option<u64> {
    let space = fstatvfs(File::open(directory).ok()?).ok()?;
    Some(space.f_bavail.saturating_mul(space.f_frsize))
}

/// Returns how many of these bytes of lists will be in memory.
pub fn in_memory(bytes: u64) -> u64 {
    match SCRATCH.get() {
        Some(scratch) => bytes.min(scratch.budget.saturating_sub(scratch.taken.load(Ordering::Relaxed))),
        None => bytes,
    }
}

/// Checks that every list that had to go to the file has gone there.
///
/// # Errors
/// If the file had no room.
pub fn check() -> Result<(), Error> {
    match SCRATCH.get().filter(|scratch| scratch.is_full.load(Ordering::Relaxed)) {
        Some(scratch) => Err(Error::new(format!(
            "{}: no room is left for what does not fit into memory; choose another directory with --scratch, or allow \
             more with --memory",
            scratch.directory.display()
        ))),
        None => Ok(()),
    }
}

/// Checks that the disk has stored what the system has written to it; to be called before a report relies on
/// that.
///
/// # Errors
/// If the disk has not stored it.
pub fn verify() -> Result<(), Error> {
    check()?;
    match SCRATCH.get().map(|scratch| (scratch, retry_on_intr(|| fdatasync(&scratch.file)))) {
        Some((scratch, Err(error))) => Err(Error::new(format!(
            "{}: what did not fit into memory cannot be written there: {error}; choose another directory with --scratch",
            scratch.directory.display()
        ))),
        _ => Ok(()),
    }
}

impl Scratch {
    fn open(directory: &Path, budget: u64) -> Result<Scratch, String> {
        let file = tempfile::tempfile_in(directory).map_err(|error| error.to_string())?;
        let kind = fstatfs(&file).map_err(|error| error.to_string())?.f_type.cast_unsigned();
        if IN_MEMORY.contains(&kind) {
            return Err("it is in memory itself".into());
        }
        // Without reserved room a full disk would end the process by a signal.
        fallocate(&file, FallocateFlags::KEEP_SIZE, 0, PAGE)
            .map_err(|error| format!("the file system cannot reserve room: {error}"))?;
        let map = map(&file)?;
        let lists = vec![0; map.len() / to_usize(UNIT)];
        Ok(Scratch {
            directory: directory.to_owned(),
            file,
            map,
            budget,
            taken: AtomicU64::new(0),
            places: Mutex::new(FilePlaces { next: 0, reserved: 0, lists }),
            is_full: AtomicBool::new(false),
        })
    }

    /// Takes memory for a list; returns whether there was enough.
    fn take(&self, bytes: u64) -> bool {
        let sum = |taken: u64| taken.checked_add(bytes).filter(|&sum| sum <= self.budget);
        self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum).is_ok()
    }

    /// Gives memory back; lists that are older than the limit took none.
    fn give_back(&self, bytes: u64) {
        let rest = |taken: u64| Some(taken.saturating_sub(bytes));
        let _ = self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, rest);
    }

    fn places(&self) -> MutexGuard<'_, FilePlaces> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a place in the file, all zeros; `None` if there is no room.
    fn place(&self, layout: Layout) -> Option<*mut u8> {
        let place = (layout.align() as u64 <= PAGE).then(|| self.reserve(layout.size() as u64)).flatten();
        self.is_full.fetch_or(place.is_none(), Ordering::Relaxed);
        place.map(|place| self.map.as_mut_ptr().wrapping_add(to_usize(place)))
    }

    fn reserve(&self, bytes: u64) -> Option<u64> {
        let mut places = self.places();
        let place = places.next;
        let end = place.checked_add(bytes)?.checked_next_multiple_of(PAGE)?;
        let needed = end.checked_next_multiple_of(UNIT).filter(|&needed| needed <= self.map.len() as u64)?;
        if needed > places.reserved {
            let more = needed - places.reserved;
            let keep = FallocateFlags::KEEP_SIZE;
            retry_on_intr(|| fallocate(&self.file, keep, places.reserved, more)).ok()?;
            places.reserved = needed;
        }
        places.next = end;
        places.lists[units(place, end)].iter_mut().for_each(|lists| *lists += 1);
        Some(place)
    }

    /// Frees the part of a list of `bytes` bytes after the first `kept`.
    fn clear(&self, list: *mut u8, kept: usize, bytes: usize) {
        let place = (list as usize - self.map.as_mut_ptr() as usize) as u64;
        let (from, to) = (place + kept as u64, (place + bytes as u64).next_multiple_of(PAGE));
        let mut places = self.places();
        let mut freed = units(from, to);
        if kept > 0 {
            // The part that is kept may lie in the first of these units, too.
            freed.start = to_usize(from.div_ceil(UNIT));
        }
        for unit in freed {
            places.lists[unit] -= 1;
            let begin = unit as u64 * UNIT;
            // The last unit is kept, as further places will be allocated in it.
            if places.lists[unit] == 0 && begin + UNIT <= places.next {
                let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
                // If this fails, the room on the disk is only freed later.
                let _ = retry_on_intr(|| fallocate(&self.file, hole, begin, UNIT));
            }
        }
    }

    /// Whether a list lies in the file.
    fn holds(&self, list: *mut u8) -> bool {
        let first = self.map.as_mut_ptr() as usize;
        (first..first + self.map.len()).contains(&(list as usize))
    }
}

/// Returns the units that a part of the file lies in.
fn units(from: u64, to: u64) -> Range<usize> {
    to_usize(from / UNIT)..to_usize(to.div_ceil(UNIT))
}

/// Maps the file with the largest length that the file system allows.
fn map(file: &File) -> Result<MmapRaw, String> {
    let mut length = LONGEST;
    loop {
        let error = match file.set_len(length).and_then(|()| MmapRaw::map_raw(file)) {
            Ok(map) => return Ok(map),
            Err(error) => error,
        };
        if length > SHORTEST {
            length /= 2;
            continue;
        }
        return Err(match error.raw_os_error().map(Errno::from_raw_os_error) {
            Some(Errno::NOMEM) => "address space is limited (raise ulimit -v)".into(),
            Some(Errno::FBIG) => "files cannot be that long (raise ulimit -f)".into(),
            _ => error.to_string(),
        });
    }
}

/// The allocator: memory from jemalloc, or for large lists from the C library or from the file of [`begin`].
#[derive(Clone, Copy, Debug)]
pub struct Allocator;

/// Options of jemalloc: freed pages go back to the system after half a second, as the next step of an analysis has
/// lists of other sizes. After the usual ten seconds most analyses have ended.
#[used]
#[unsafe(export_name = "_rjem_malloc_conf")]
static OPTIONS: &u8 = &c"dirty_decay_ms:500".to_bytes_with_nul()[0];

#[inline]
fn is_small(size: usize) -> bool {
    size < LARGE
}

impl Allocator {
    /// Returns the file, if a list of this size may lie there.
    #[inline]
    fn scratch(size: usize) -> Option<&'static Scratch> {
        if size < LARGE { None } else { SCRATCH.get() }
    }

    /// Returns a place in the file for a list, all zeros, if memory has no room for it.
    #[inline]
    fn place(layout: Layout) -> Option<*mut u8> {
        let scratch = Allocator::scratch(layout.size())?;
        if scratch.take(layout.size() as u64) { None } else { scratch.place(layout) }
    }

    /// Whether a large list lies in memory and may stay there with another size, which it takes then.
    fn keeps_in_memory(list: *mut u8, before: u64, after: u64) -> bool {
        let Some(scratch) = SCRATCH.get() else { return true };
        let keeps = !scratch.holds(list) && scratch.take(after.saturating_sub(before));
        if keeps {
            scratch.give_back(before.saturating_sub(after));
        }
        keeps
    }
}

// SAFETY: memory is that of jemalloc or of `System`, which keep the promises, or a place in the file: mapped for writing as
// long as the process lives, aligned to pages, allocated once, so that it overlaps with no other. The file is
// known to this process only: no other shortens it or writes to it, and room is reserved before a place is
// allocated; a hole is punched where no list is and none will be. The address of a list shows which of the
// two it has; nothing here panics or allocates.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        allocated::count(0, layout.size());
        // SAFETY: the caller's promise.
        Allocator::place(layout).unwrap_or_else(|| unsafe {
            if is_small(layout.size()) { Jemalloc.alloc(layout) } else { System.alloc(layout) }
        })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        allocated::count(0, layout.size());
        // SAFETY: the caller's promise.
        Allocator::place(layout).unwrap_or_else(|| unsafe {
            if is_small(layout.size()) { Jemalloc.alloc_zeroed(layout) } else { System.alloc_zeroed(layout) }
        })
    }

    unsafe fn dealloc(&self, list: *mut u8, layout: Layout) {
        allocated::count(layout.size(), 0);
        if let Some(scratch) = Allocator::scratch(layout.size()) {
            if scratch.holds(list) {
                return scratch.clear(list, 0, layout.size());
            }
            scratch.give_back(layout.size() as u64);
        }
        // SAFETY: the list is not in the file, so that it came from the allocator of its size.
        unsafe {
            if is_small(layout.size()) {
                Jemalloc.dealloc(list, layout)
            } else {
                System.dealloc(list, layout)
            }
        }
    }

    unsafe fn realloc(&self, list: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let (before, after) = (layout.size(), size);
        if is_small(before.max(after)) {
            allocated::count(before, after);
            // SAFETY: the caller's promise; a small list is not in the file.
            return unsafe { Jemalloc.realloc(list, layout, size) };
        }
        if !is_small(before.min(after)) {
            if let Some(scratch) = SCRATCH.get().filter(|scratch| scratch.holds(list) && after <= before) {
                scratch.clear(list, after, before);
                allocated::count(before, after);
                return list;
            }
            if Allocator::keeps_in_memory(list, before as u64, after as u64) {
                allocated::count(before, after);
                // SAFETY: the caller's promise; the list is not in the file.
                return unsafe { System.realloc(list, layout, size) };
            }
        }
        // SAFETY: the caller's promise holds for what this is made of: the new size is not 0 and no more than
        // an address, the list has at least as many bytes as are copied, and a new one overlaps with no
        // other.
        unsafe {
            let moved = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !moved.is_null() {
                ptr::copy_nonoverlapping(list, moved, layout.size().min(size));
                self.dealloc(list, layout);
            }
            moved
        }
    }
}

#[cfg(test)]
mod tests {
    use rustix::fs::fstat;

    use super::*;

    /// `None` where temporary files are in memory.
    fn scratch(budget: u64) -> Option<Scratch> {
        match Scratch::open(&std::env::temp_dir(), budget) {
            Ok(scratch) => Some(scratch),
            Err(reason) => {
                skip::skip(skip::Need::System, reason);
                None
            }
        }
    }

    #[test]
    fn places_are_zeros_of_their_own_also_after_others_were_freed() {
        let Some(scratch) = scratch(0) else { return };
        let layout = Layout::from_size_align(5 << 20 | 1, 8).unwrap();
        let last = layout.size() - 1;
        let lists: Vec<*mut u8> = (1..=3)
            .map(|mark| {
                let list = scratch.place(layout).unwrap();
                assert!(scratch.holds(list) && (list as usize).is_multiple_of(PAGE as usize));
                // SAFETY: the place has as many bytes, and no other code uses it.
                let bytes = unsafe { std::slice::from_raw_parts_mut(list, layout.size()) };
                assert!(bytes.iter().all(|&byte| byte == 0));
                bytes.fill(mark);
                list
            })
            .collect();
        let on_disk = || fstat(&scratch.file).unwrap().st_blocks as u64 * 512;
        let all = on_disk();
        scratch.clear(lists[1], 0, layout.size());
        scratch.clear(lists[2], 10, layout.size());
        // SAFETY: as above.
        let byte = |list: usize, at: usize| unsafe { *lists[list].add(at) };
        assert_eq!([byte(0, 0), byte(0, last), byte(2, 0), byte(2, 9)], [1, 1, 3, 3]);
        assert!(on_disk() + 2 * UNIT <= all, "{} of {all} bytes are on disk still", on_disk());
        scratch.clear(lists[2], 0, 10);
        scratch.clear(lists[0], 0, layout.size());
        assert!(scratch.places().lists.iter().all(|&lists| lists == 0));
        assert!(on_disk() <= UNIT + PAGE, "{} bytes are on disk still", on_disk());
        assert!(!scratch.holds(ptr::null_mut()) && !scratch.is_full.load(Ordering::Relaxed));
    }

    #[test]
    fn what_no_file_can_hold_is_told_and_leaves_room_for_others() {
        let Some(scratch) = scratch(0) else { return };
        let huge = Layout::from_size_align(isize::MAX as usize - 4095, 8).unwrap();
        assert_eq!(scratch.place(huge), None);
        assert!(scratch.is_full.load(Ordering::Relaxed));
        assert!(scratch.place(Layout::from_size_align(LARGE, 8).unwrap()).is_some());
    }

    #[test]
    fn memory_is_taken_up_to_the_budget_and_given_back() {
        let Some(scratch) = scratch(100) else { return };
        assert!(scratch.take(60) && !scratch.take(41) && scratch.take(40) && !scratch.take(1));
        scratch.give_back(60);
        assert!(scratch.take(60) && !scratch.take(u64::MAX));
        scratch.give_back(1000);
        assert!(scratch.take(100));
    }
}
