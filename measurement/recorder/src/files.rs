//! Files that MPI has opened. Their keys are made as those of communicators.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use recording::journal::{self, JournalRecord};

use crate::communicators::Communicator;
use crate::handles::Handles;
use crate::levels::Zeroed;
use crate::next::symbol;
use crate::process::Process;

/// A file that is open. Several threads may use one at the same time.
pub(crate) struct File {
    number: AtomicU32,
    /// Matching number of the split collective operation that is under way, or 0, which none has; there may
    /// be one on a handle (MPI 4.0, 14.4.5).
    split: AtomicU64,
}

// SAFETY: atomic integers; zero is a value of each.
unsafe impl Zeroed for File {}

impl File {
    /// Returns the number of the handle in the process.
    #[inline]
    pub(crate) fn number(&self) -> u32 {
        self.number.load(Ordering::Relaxed)
    }

    /// Notes that a split collective operation starts, with that matching number.
    pub(crate) fn begin_split(&self, number: u64) {
        self.split.store(number, Ordering::Relaxed);
    }

    /// Notes that the split collective operation ends; returns its number, if one is under way.
    pub(crate) fn end_split(&self) -> Option<u64> {
        Some(self.split.swap(0, Ordering::Relaxed)).filter(|&number| number != 0)
    }
}

/// All files of the process.
pub(crate) struct Files {
    known: Handles<File>,
    next: AtomicU32,
    next_deleted: AtomicU32,
    /// Address of `PMPI_File_get_position`. An MPI library without MPI-IO lacks it, which must not prevent
    /// recording.
    get_position: Option<usize>,
}

impl Files {
    pub(crate) fn new() -> Files {
        Files {
            known: Handles::new(),
            next: AtomicU32::new(0),
            next_deleted: AtomicU32::new(0),
            get_position: symbol(c"PMPI_File_get_position"),
        }
    }

    /// Returns an open file.
    #[inline]
    pub(crate) fn find(&self, handle: usize) -> Option<&File> {
        self.known.find(handle)
    }

    /// Adds a file that has been opened on a communicator, of which it is a child with that key. Returns the
    /// number of the handle.
    pub(crate) fn insert(
        &self,
        process: &Process,
        handle: usize,
        (communicator, key): (&Communicator, u64),
        path: String,
    ) -> u32 {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.known.insert(handle, |file| {
            file.number.store(number, Ordering::Relaxed);
            file.split.store(0, Ordering::Relaxed);
        });
        process.append(&JournalRecord::File(journal::File {
            handle: number,
            key,
            path,
            communicator: communicator.number(),
        }));
        number
    }

    /// Removes a file that is about to be closed; returns the number of the handle.
    pub(crate) fn remove(&self, handle: usize) -> Option<u32> {
        self.known.remove(handle, File::number)
    }

    /// Adds a file that has been deleted. Returns its number, which no handle has.
    pub(crate) fn insert_deleted(&self, process: &Process, path: String) -> u32 {
        let file = self.next_deleted.fetch_add(1, Ordering::Relaxed);
        process.append(&JournalRecord::DeletedFile { file, path });
        file
    }

    /// Returns the individual file pointer, in units of the view; a local operation of MPI (MPI 4.0, 14.4.3).
    pub(crate) fn position(&self, handle: usize) -> Option<u64> {
        let mut position: i64 = -1;
        // SAFETY: the symbol is the function of that name, which has this signature; the file is open, and
        // `position` is writable.
        let failed = unsafe {
            let get_position: unsafe extern "C" fn(usize, *mut i64) -> i32 =
                std::mem::transmute::<usize, _>(self.get_position?);
            get_position(handle, &mut position)
        };
        if failed == 0 { u64::try_from(position).ok() } else { None }
    }
}

/// Returns the handle of a file at an address. It is a pointer in every MPI library: those of MPICH's family,
/// in which other handles are `int`, have ROMIO's files.
///
/// # Safety
/// A handle of a file is at the address.
pub(crate) unsafe fn file_at(place: usize) -> usize {
    // SAFETY: the caller guarantees it.
    unsafe { *(place as *const usize) }
}
