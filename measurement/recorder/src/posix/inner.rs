//! Calls that MPI makes inside of a call for a file: what becomes of that. They are recorded only if they are for
//! this file (io.md, 2.7, F3).

use std::ffi::CStr;

use super::choice::FileState;
use crate::files;
use crate::inside::Guarded;
use crate::thread;

/// The file that a call of MPI is for.
#[derive(Clone, Copy)]
pub(crate) struct MpiFile {
    /// The number of its handle.
    pub(crate) handle: u32,
    /// Device and number.
    pub(crate) identity: Option<(u64, u64)>,
}

/// Marks that MPI is at work on a file, in the calling thread, for which the caller has the lock.
pub(crate) struct AtWork(Option<&'static Guarded>);

impl AtWork {
    /// Lets the calls that MPI makes be recorded, until this is dropped, for the file with that handle; any other
    /// number stands for the one that is being opened.
    #[inline]
    pub(crate) fn begin(file: usize) -> AtWork {
        let guarded = if super::is_on() { thread::current() } else { None };
        if let Some(guarded) = guarded {
            guarded.admit_inner(file);
        }
        AtWork(guarded)
    }
}

impl Drop for AtWork {
    #[inline]
    fn drop(&mut self) {
        if let Some(guarded) = self.0 {
            guarded.refuse_inner();
        }
    }
}

/// Returns what identifies the file of a path that MPI gets, if it exists.
pub(crate) fn identity(path: &CStr) -> Option<(u64, u64)> {
    let bytes = path.to_bytes_with_nul();
    let prefix = path.count_bytes() - files::without_prefix(path.to_bytes()).len();
    let path = CStr::from_bytes_with_nul(&bytes[prefix..]).ok()?;
    super::keeping_errno(|| Some(FileState::of_path(path)?.identity))
}
