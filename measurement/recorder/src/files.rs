//! Files that MPI has opened. Their keys are made as those of communicators.

use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use recording::journal::{self, JournalRecord};

use crate::communicators::Communicator;
use crate::datatypes::Datatypes;
use crate::handles::Handles;
use crate::hints::Hints;
use crate::levels::Zeroed;
use crate::next::symbol;
use crate::process::Process;
use crate::storage;

/// A file that is open. Several threads may use one at the same time.
pub(crate) struct File {
    number: AtomicU32,
    /// Matching number of the split collective operation that is under way, or 0, which none has; there may
    /// be one on a handle (MPI 4.0, 14.4.5).
    split: AtomicU64,
    /// Number that it has without a handle, if closing it deletes it; or [`KEPT`].
    deleted: AtomicU32,
    /// Its device and its number there; both 0 if they are not known.
    identity: [AtomicU64; 2],
}

/// Of files that are still there when they are closed.
const KEPT: u32 = u32::MAX;

// SAFETY: atomic integers; zero is a value of each.
unsafe impl Zeroed for File {}

impl File {
    /// Returns the number of the handle in the process.
    #[inline]
    pub(crate) fn number(&self) -> u32 {
        self.number.load(Ordering::Relaxed)
    }

    /// Returns its device and its number there, if they are known.
    #[cfg(posix)]
    pub(crate) fn identity(&self) -> Option<(u64, u64)> {
        let [device, number] = &self.identity;
        let identity = (device.load(Ordering::Relaxed), number.load(Ordering::Relaxed));
        Some(identity).filter(|&identity| identity != (0, 0))
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

/// A file that MPI has opened.
pub(crate) struct OpenedFile {
    pub(crate) path: String,
    pub(crate) is_deleted_on_close: bool,
    /// Its device and its number there.
    pub(crate) identity: Option<(u64, u64)>,
}

/// All files of the process.
pub(crate) struct Files {
    known: Handles<File>,
    next: AtomicU32,
    next_named: AtomicU32,
    /// Address of `PMPI_File_get_position`. An MPI library without MPI-IO lacks it, which must not prevent
    /// recording.
    get_position: Option<usize>,
    /// Likewise of `PMPI_File_get_size`.
    get_size: Option<usize>,
    pub(crate) datatypes: Option<Datatypes>,
    pub(crate) hints: Option<Hints>,
}

impl Files {
    pub(crate) fn new() -> Files {
        Files {
            known: Handles::new(),
            next: AtomicU32::new(0),
            next_named: AtomicU32::new(0),
            get_position: symbol(c"PMPI_File_get_position"),
            get_size: symbol(c"PMPI_File_get_size"),
            datatypes: Datatypes::find(),
            hints: Hints::find(),
        }
    }

    /// Returns an open file.
    #[inline]
    pub(crate) fn find(&self, handle: usize) -> Option<&File> {
        self.known.find(handle)
    }

    /// Returns the number of a handle that is about to be opened.
    pub(crate) fn next_handle(&self) -> u32 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Adds a file that has been opened on a communicator, of which it is a child with that key; its handle has that
    /// number.
    pub(crate) fn insert(
        &self,
        process: &Process,
        (handle, number): (usize, u32),
        (communicator, key): (&Communicator, u64),
        opened: OpenedFile,
    ) {
        let OpenedFile { path, is_deleted_on_close, identity } = opened;
        // Whoever else has opened it has the same file.
        let storage = (communicator.rank() == 0).then(|| storage::of_path(path.as_bytes())).flatten();
        let deleted = if is_deleted_on_close { self.insert_deleted(process, path.clone()) } else { KEPT };
        self.known.insert(handle, |file| {
            file.number.store(number, Ordering::Relaxed);
            file.split.store(0, Ordering::Relaxed);
            file.deleted.store(deleted, Ordering::Relaxed);
            let (device, number) = identity.unwrap_or((0, 0));
            file.identity[0].store(device, Ordering::Relaxed);
            file.identity[1].store(number, Ordering::Relaxed);
        });
        process.append(&JournalRecord::File(journal::File {
            handle: number,
            key,
            path,
            communicator: communicator.number(),
            storage,
        }));
    }

    /// Removes a file that is about to be closed; returns the number of the handle, and the one that it has
    /// without a handle if that deletes it.
    pub(crate) fn remove(&self, handle: usize) -> Option<(u32, Option<u32>)> {
        let deleted =
            |file: &File| Some(file.deleted.load(Ordering::Relaxed)).filter(|&number| number != KEPT);
        self.known.remove(handle, |file| (file.number(), deleted(file)))
    }

    /// Returns a number for a file that events name without a handle.
    pub(crate) fn next_named(&self) -> u32 {
        self.next_named.fetch_add(1, Ordering::Relaxed)
    }

    /// Adds a file that MPI has deleted, or will delete. Returns its number, which no handle has.
    pub(crate) fn insert_deleted(&self, process: &Process, path: String) -> u32 {
        let file = self.next_named();
        let named = journal::NamedFile { file, path, is_posix: false, is_directory: false, storage: None };
        process.append(&JournalRecord::NamedFile(named));
        file
    }

    /// Returns the individual file pointer, in units of the view; a local operation of MPI (MPI 4.0, 14.4.3).
    pub(crate) fn position(&self, handle: usize) -> Option<u64> {
        // SAFETY: the symbol is the function of that name.
        unsafe { ask(self.get_position?, handle) }
    }

    /// Returns the size of an open file in bytes; a local operation of MPI (MPI 4.0, 14.2.6).
    pub(crate) fn size(&self, handle: usize) -> Option<u64> {
        // SAFETY: the symbol is the function of that name.
        unsafe { ask(self.get_size?, handle) }
    }
}

/// Returns a path, which MPI gets, as an absolute one, without a prefix of ROMIO such as `ufs:`.
pub(crate) fn absolute(path: &CStr) -> String {
    let path = Path::new(OsStr::from_bytes(without_prefix(path.to_bytes())));
    let folder = std::env::current_dir().unwrap_or_default();
    let mut whole = PathBuf::new();
    // Without steps back, as the folder may be a link.
    folder.join(path).components().for_each(|part| whole.push(part));
    whole.to_string_lossy().into_owned()
}

/// Returns the path that the system knows of one that MPI gets.
pub(crate) fn without_prefix(path: &[u8]) -> &[u8] {
    let length = path.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    // One letter may be a drive, or anything.
    if length >= 2 && path.get(length) == Some(&b':') { &path[length + 1..] } else { path }
}

/// Returns what a function tells of an open file.
///
/// # Safety
/// At the address is a function that sets an `MPI_Offset` of a file, such as `PMPI_File_get_size`.
unsafe fn ask(function: usize, handle: usize) -> Option<u64> {
    let mut answer: i64 = -1;
    // SAFETY: the caller guarantees the signature; the file is open, and `answer` is writable.
    let failed = unsafe {
        let function: unsafe extern "C" fn(usize, *mut i64) -> i32 =
            std::mem::transmute::<usize, _>(function);
        function(handle, &mut answer)
    };
    if failed == 0 { u64::try_from(answer).ok() } else { None }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_absolute_and_prefixes_of_romio_are_no_part_of_them() {
        let here = |name: &str| std::env::current_dir().unwrap().join(name).to_string_lossy().into_owned();
        assert_eq!(absolute(c"ufs:/scratch/a"), "/scratch/a");
        assert_eq!(absolute(c"pvfs2:b"), here("b"));
        assert_eq!(absolute(c"./dir//c"), here("dir/c"));
        assert_eq!(absolute(c"/scratch/a:b"), "/scratch/a:b");
        assert_eq!(absolute(c"c:x"), here("c:x"));
    }
}
