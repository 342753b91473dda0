//! Files that MPI has opened: what the recorder knows of each. Keys are made as those of communicators.

use std::sync::atomic::{AtomicU32, Ordering};

use recording::journal::{self, Entry};

use crate::communicators::Communicator;
use crate::handles::Handles;
use crate::mpi::text_at;
use crate::next::symbol;
use crate::process::Process;

/// A file that is open.
#[derive(Clone, Copy)]
pub(crate) struct File {
    /// Number of the handle in the process.
    pub(crate) number: u32,
    /// Matching number of the split collective operation that is under way; there may be one on a handle (MPI 4.0,
    /// 14.4.5).
    pub(crate) split: Option<u64>,
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
    pub(crate) fn find(&self, handle: usize) -> Option<&mut File> {
        self.known.find(handle)
    }

    /// A file has been opened on a communicator, which it is a child of with that key. Answers the number of the handle.
    pub(crate) fn enter(
        &self,
        process: &Process,
        handle: usize,
        (communicator, key): (&Communicator, u64),
        path: usize,
    ) -> u32 {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.known.insert(handle, File { number, split: None });
        process.enter(&Entry::File(journal::File {
            handle: number,
            key,
            path: text_at(path),
            communicator: communicator.number,
        }));
        number
    }

    /// A file is about to be closed.
    pub(crate) fn remove(&self, handle: usize) -> Option<File> {
        self.known.remove(handle)
    }

    /// A file has been deleted. Answers its number, which is none of a handle.
    pub(crate) fn enter_deleted(&self, process: &Process, path: usize) -> u32 {
        let file = self.next_deleted.fetch_add(1, Ordering::Relaxed);
        process.enter(&Entry::DeletedFile { file, path: text_at(path) });
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
