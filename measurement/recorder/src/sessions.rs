//! The recorder's own session (MPI 4.0, 11.3), in programs that start MPI with one. What the recorder has of MPI must
//! not belong to a session of the program, which may end it at any time.

use std::ffi::{CStr, c_char, c_int};

use crate::mpi::{Mpi, is_open_mpi};
use crate::next::{symbol, variable};

/// The processes that were started together.
const EVERYBODY: &CStr = c"mpi://WORLD";
/// What tells the recorder's communicator from those that the program makes at the same time.
const TAG: &CStr = c"replay-record";

type Init = unsafe extern "C" fn(usize, usize, *mut usize) -> c_int;
type Finalize = unsafe extern "C" fn(*mut usize) -> c_int;
type GroupOfSet = unsafe extern "C" fn(usize, *const c_char, *mut usize) -> c_int;
type CreateFromGroup = unsafe extern "C" fn(usize, *const c_char, usize, usize, *mut usize) -> c_int;

/// A session that is open.
pub(crate) struct Session {
    handle: usize,
    finalize: Finalize,
    group_of_set: GroupOfSet,
    create_from_group: CreateFromGroup,
    no_info: usize,
    errors_return: usize,
}

impl Session {
    /// Opens a session; `None` if the MPI library refuses, or lacks something.
    pub(crate) fn open() -> Option<Session> {
        let object = |name, mpich| if is_open_mpi() { variable(name) } else { Some(mpich) };
        let (no_info, errors_return) =
            (object(c"ompi_mpi_info_null", 0x1c00_0000)?, object(c"ompi_mpi_errors_return", 0x5400_0001)?);
        let function = |name: &CStr| symbol(name);
        let mut handle = 0;
        // SAFETY: the symbols are the functions of these names, with the parameters that MPI 4.0 fixes; `handle` is
        // writable.
        unsafe {
            let init: Init = std::mem::transmute::<usize, Init>(function(c"PMPI_Session_init")?);
            let session = Session {
                handle: 0,
                finalize: std::mem::transmute::<usize, Finalize>(function(c"PMPI_Session_finalize")?),
                group_of_set: std::mem::transmute::<usize, GroupOfSet>(function(
                    c"PMPI_Group_from_session_pset",
                )?),
                create_from_group: std::mem::transmute::<usize, CreateFromGroup>(function(
                    c"PMPI_Comm_create_from_group",
                )?),
                no_info,
                errors_return,
            };
            (init(no_info, errors_return, &mut handle) == 0).then_some(Session { handle, ..session })
        }
    }

    /// Returns the group of all processes that were started together, and the rank of this one and their number.
    pub(crate) fn everybody(&self, mpi: &Mpi) -> Option<(usize, c_int, c_int)> {
        let (mut group, mut rank, mut size) = (0, -1, 0);
        // SAFETY: the session is open, the name ends with a NUL, and all results are writable.
        unsafe {
            if (self.group_of_set)(self.handle, EVERYBODY.as_ptr(), &mut group) != 0 {
                return None;
            }
            (mpi.group_rank)(group, &mut rank);
            (mpi.group_size)(group, &mut size);
        }
        (rank >= 0 && rank < size).then_some((group, rank, size))
    }

    /// Creates a communicator of a group, whose members all do so; the group is freed.
    pub(crate) fn communicator(&self, mpi: &Mpi, mut group: usize) -> Option<usize> {
        let mut communicator = 0;
        // SAFETY: the group exists, and is not used any more; the tag ends with a NUL, and the result is writable.
        let failed = unsafe {
            let tag = TAG.as_ptr();
            let failed =
                (self.create_from_group)(group, tag, self.no_info, self.errors_return, &mut communicator);
            (mpi.group_free)(&mut group);
            failed
        };
        (failed == 0).then_some(communicator)
    }

    /// Closes it.
    pub(crate) fn close(&self) {
        let mut handle = self.handle;
        // SAFETY: the session is open, and nothing of it is used any more.
        unsafe { (self.finalize)(&mut handle) };
    }
}
