//! The carrier on an MPI library that is opened at run time: one program for all MPIs (site 3.1). Its only unsafe code
//! besides that of `rsmpi.rs`.
#![expect(unsafe_code, reason = "calls functions of a C library that is found at run time")]

use std::ffi::{CStr, c_char, c_int};
use std::ops::Range;
use std::path::Path;
use std::ptr::null_mut;
use std::sync::Arc;

use launched::Library;
use mpi_abi::{STATUS_BYTES, Status, THREAD_FUNNELED, library_version};
use mpi_library::{in_process, path_of};

use super::carrier::{ABORTED, Carrier, Tag, int, number, without_threads};
use crate::error::Error;
use crate::exchange::Batch;
use crate::int::to_usize;

mpi_abi::table! {
    /// The functions that are called, and handles for them.
    pub(super) struct Mpi;
    handles {
        world: WORLD;
        uint64: UINT64;
    }
    functions {
        abort: c"PMPI_Abort" (usize, c_int);
        comm_rank: c"PMPI_Comm_rank" (usize, *mut c_int);
        comm_size: c"PMPI_Comm_size" (usize, *mut c_int);
        finalize: c"PMPI_Finalize" ();
        get_library_version: c"PMPI_Get_library_version" (*mut c_char, *mut c_int);
        iallgather: c"PMPI_Iallgather" (*const u64, c_int, usize, *mut u64, c_int, usize, usize, *mut usize);
        improbe: c"PMPI_Improbe" (c_int, c_int, usize, *mut c_int, *mut usize, *mut StatusBytes);
        imrecv: c"PMPI_Imrecv" (*mut u64, c_int, usize, *mut usize, *mut usize);
        init_thread: c"PMPI_Init_thread" (*mut c_int, *mut *mut *mut c_char, c_int, *mut c_int);
        isend: c"PMPI_Isend" (*const u64, c_int, usize, c_int, c_int, usize, *mut usize);
        test: c"PMPI_Test" (*mut usize, *mut c_int, usize);
    }
}

/// Room for a status of any MPI.
type StatusBytes = [u64; STATUS_BYTES / size_of::<u64>()];

/// Opens a library by its path, or by a name that the loader looks for. Fails with the reason.
pub(super) fn open(name: &Path) -> Result<(Mpi, Library), String> {
    let library = mpi_library::Library::open(name)?;
    let symbol = |name: &CStr| library.symbol(name);
    // SAFETY: in a library that has all these names they are MPI's.
    let found = unsafe { Mpi::find(symbol, symbol) };
    let usable =
        found.map_err(|missing| format!("it has no {}", missing.to_string_lossy())).and_then(|mpi| {
            let path = path_of(mpi.init_thread as *const () as usize);
            beside_linked(&path)?;
            // SAFETY: there is room for any version.
            let version = library_version(|text, length| unsafe {
                (mpi.get_library_version)(text, length);
            });
            Ok((mpi, Library { version, path: Some(path) }))
        });
    if usable.is_err() {
        // SAFETY: nothing of the library is used any more.
        unsafe { library.close() };
    }
    usable
}

/// Fails if this program is linked with another MPI library: functions of the opened one would call each other there.
fn beside_linked(path: &Path) -> Result<(), String> {
    if !cfg!(feature = "mpi") {
        return Ok(());
    }
    let linked = in_process(c"PMPI_Init_thread").map(path_of).unwrap_or_default();
    if linked == path {
        return Ok(());
    }
    Err(format!(
        "this replay-analyze is linked with {}, and two MPIs do not fit into one process; take one that is linked with none",
        linked.display()
    ))
}

/// The processes that were started together.
pub(super) struct Opened {
    mpi: Mpi,
}

/// Starts MPI.
pub(super) fn start(mpi: Mpi) -> Result<Opened, Error> {
    let mut level = 0;
    // SAFETY: MPI takes no arguments of the program if there are null pointers in their place.
    unsafe { (mpi.init_thread)(null_mut(), null_mut(), THREAD_FUNNELED, &raw mut level) };
    let opened = Opened { mpi };
    if level < THREAD_FUNNELED { Err(without_threads()) } else { Ok(opened) }
}

impl Drop for Opened {
    fn drop(&mut self) {
        // SAFETY: MPI was started, and nobody uses it any more.
        unsafe { (self.mpi.finalize)() };
    }
}

/// A message that MPI is sending.
pub(super) struct Sent {
    /// MPI reads a part of them until the request is complete; shared words do not change.
    _words: Arc<Batch>,
    request: usize,
}

impl Carrier for Opened {
    type Sent = Sent;

    fn rank_and_size(&self) -> (usize, usize) {
        let (mut rank, mut size) = (0, 0);
        // SAFETY: MPI writes an integer each.
        unsafe {
            (self.mpi.comm_rank)(self.mpi.world, &raw mut rank);
            (self.mpi.comm_size)(self.mpi.world, &raw mut size);
        }
        (number(rank), number(size))
    }

    fn send(&self, to: usize, tag: Tag, words: &Arc<Batch>, part: Range<usize>) -> Sent {
        let Mpi { world, uint64, isend, .. } = self.mpi;
        let part = &words[part];
        let mut request = 0;
        // SAFETY: the buffer has as many words; it is kept, unchanged, until the request is complete, as the
        // caller does not drop it before `is_sent` says so. The receiver is a rank of the communicator.
        unsafe { isend(part.as_ptr(), int(part.len()), uint64, int(to), tag, world, &raw mut request) };
        Sent { _words: words.clone(), request }
    }

    fn is_sent(&self, sent: &mut Sent) -> bool {
        self.is_complete(&mut sent.request)
    }

    fn receive(&self, from: Option<usize>, tag: Tag, rest: impl Fn()) -> Option<(usize, Batch)> {
        let Mpi { family, world, uint64, improbe, imrecv, .. } = self.mpi;
        let from = from.map_or(family.any_source(), int);
        let (mut has_arrived, mut message, mut status): (_, _, StatusBytes) = (0, 0, Default::default());
        // SAFETY: MPI writes to these, and there is room for any status.
        unsafe { improbe(from, tag, world, &raw mut has_arrived, &raw mut message, &raw mut status) };
        if has_arrived == 0 {
            return None;
        }
        // SAFETY: MPI has filled in this status.
        let status = unsafe { Status::at(family, (&raw const status) as usize, 0) };
        let mut words = vec![0; to_usize(status.bytes) / size_of::<u64>()];
        let mut request = 0;
        // SAFETY: the message that has arrived has as many words as there is room for, and they stay where they are
        // until it is complete.
        unsafe { imrecv(words.as_mut_ptr(), int(words.len()), uint64, &raw mut message, &raw mut request) };
        self.complete(request, rest);
        Some((number(status.source), words))
    }

    fn all_gather(&self, words: &[u64], rest: impl Fn()) -> Vec<u64> {
        let Mpi { world, uint64, iallgather, .. } = self.mpi;
        let (count, mut request) = (int(words.len()), 0);
        let mut all = vec![0; words.len() * self.rank_and_size().1];
        // SAFETY: each process gives as many words, and there is room for those of all; both stay where they are until
        // it is complete.
        unsafe {
            iallgather(
                words.as_ptr(),
                count,
                uint64,
                all.as_mut_ptr(),
                count,
                uint64,
                world,
                &raw mut request,
            );
        }
        self.complete(request, rest);
        all
    }

    fn aborter(&self) -> Box<dyn Fn() + Send + Sync> {
        let Mpi { abort, world, .. } = self.mpi;
        Box::new(move || {
            // SAFETY: the library is never closed.
            unsafe { abort(world, ABORTED) };
        })
    }
}

impl Opened {
    /// Whether a request is complete. Once it is, MPI makes it null, which may be tested again.
    fn is_complete(&self, request: &mut usize) -> bool {
        let mut is_complete = 0;
        // SAFETY: the request is one of MPI's, and no status is wanted.
        unsafe { (self.mpi.test)(request, &raw mut is_complete, self.mpi.family.status_ignore()) };
        is_complete != 0
    }

    /// Tests a request until it is complete.
    fn complete(&self, mut request: usize, rest: impl Fn()) {
        while !self.is_complete(&mut request) {
            rest();
        }
    }
}
