//! Files that MPI has opened: what the recorder knows of each. Keys are made as those of communicators.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use recording::journal::{self, JournalRecord};

use crate::communicators::Communicator;
use crate::handles::Handles;
use crate::levels::Zeroed;
use crate::next::symbol;
use crate::process::Process;

/// A file that is open. Threads may use one at the same time.
pub(crate) struct File {
    number: AtomicU32,
    /// Matching number of the split collective operation that is under way, or 0, which none has; there may be one on a
    /// handle (MPI 4.0, 14.4.5).
    split: AtomicU64,
}

// SAFETY: numbers, of which zero bytes are valid ones.
unsafe impl Zeroed for File {}

impl File {
    /// The number of the handle in the process.
    #[inline]
    pub(crate) fn number(&self) -> u32 {
        self.number.load(Ordering::Relaxed)
    }

    /// A split collective operation begins, with that matching number.
    pub(crate) fn begin_split(&self, number: u64) {
        self.split.store(number, Ordering::Relaxed);
    }

    /// It ends; returns its number, if one is under way.
    pub(crate) fn end_split(&self) -> Option<u64> {
        Some(self.split.swap(0, Ordering::Relaxed)).filter(|&number| number != 0)
    }
}

/// All files of the process.
pub(crate) struct Files {
    known: Handles<File>,
    next: AtomicU32,
    next_deleted: AtomicU32,
    /// `PMPI_File_get_position`. An MPI library may come without MPI-IO, which must not keep others from being recorded.
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

    /// What is known of a file.
    #[inline]
    pub(crate) fn find(&self, handle: usize) -> Option<&File> {
        self.known.find(handle)
    }

    /// A file has been opened on a communicator, which it is a child of with that key. Answers the number of the handle.
    pub(crate) fn enter(
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
        process.enter(&JournalRecord::File(journal::File {
            handle: number,
            key,
            path,
            communicator: communicator.number(),
        }));
        number
    }

    /// A file is about to be closed; returns the number of the handle.
    pub(crate) fn remove(&self, handle: usize) -> Option<u32> {
        self.known.remove(handle, File::number)
    }

    /// A file has been deleted. Answers its number, which is none of a handle.
    pub(crate) fn enter_deleted(&self, process: &Process, path: String) -> u32 {
        let file = self.next_deleted.fetch_add(1, Ordering::Relaxed);
        process.enter(&JournalRecord::DeletedFile { file, path });
        file
    }

    /// The individual file pointer, in units of the view; MPI answers that locally (MPI 4.0, 14.4.3).
    pub(crate) fn position(&self, handle: usize) -> Option<u64> {
        let mut position: i64 = -1;
        // SAFETY: the symbol is the function of that name, and the file is open.
        let failed = unsafe {
            let get_position: unsafe extern "C" fn(usize, *mut i64) -> i32 =
                std::mem::transmute::<usize, _>(self.get_position?);
            get_position(handle, &mut position)
        };
        if failed == 0 { u64::try_from(position).ok() } else { None }
    }
}

/// The handle of a file at a place. It is a pointer in every MPI library: also those of MPICH's family, whose other
/// handles are `int`, have ROMIO's files.
///
/// # Safety
/// There is one.
pub(crate) unsafe fn file_at(place: usize) -> usize {
    // SAFETY: by the caller.
    unsafe { *(place as *const usize) }
}
