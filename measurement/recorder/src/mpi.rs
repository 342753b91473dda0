//! The program's MPI library: what differs by its family, and the functions that the recorder itself calls.

use std::ffi::{CStr, c_char, c_int};
use std::sync::atomic::{AtomicBool, Ordering};

use mpi_abi::Family;
pub(crate) use mpi_abi::{STATUS_BYTES, Status};

use crate::next::{symbol, variable};

/// Whether handles are pointers.
static IS_OPEN_MPI: AtomicBool = AtomicBool::new(false);

/// Whether the program's MPI is Open MPI; meaningful once recording has begun.
#[inline]
pub(crate) fn is_open_mpi() -> bool {
    IS_OPEN_MPI.load(Ordering::Relaxed)
}

/// The family of the program's MPI; meaningful once recording has begun.
#[inline]
fn family() -> Family {
    if is_open_mpi() { Family::OpenMpi } else { Family::Mpich }
}

/// Returns a handle without the bits above an `int` in its register.
#[inline]
pub(crate) fn normal_handle(value: usize) -> usize {
    if is_open_mpi() { value } else { value as u32 as usize }
}

/// Returns the handle at position `at` of an array of handles.
///
/// # Safety
/// The array has such an element, or is null.
#[inline]
pub(crate) unsafe fn handle_at(array: usize, at: usize) -> usize {
    // A program that passes no array gets an error from MPI.
    if array == 0 {
        return 0;
    }
    // SAFETY: the caller guarantees the element; sizes are those of the library's handles.
    unsafe {
        if is_open_mpi() { *(array as *const usize).add(at) } else { *(array as *const u32).add(at) as usize }
    }
}

/// Returns a copy of the string at an address.
///
/// # Safety
/// A string that ends with a NUL is at the address.
pub(crate) unsafe fn text_at(address: usize) -> String {
    // SAFETY: the caller guarantees it.
    unsafe { CStr::from_ptr(address as *const c_char) }.to_string_lossy().into_owned()
}

/// `MPI_PROC_NULL`.
#[inline]
pub(crate) fn proc_null() -> i32 {
    if is_open_mpi() { -2 } else { -1 }
}

/// `MPI_ROOT`.
#[inline]
pub(crate) fn root() -> i32 {
    if is_open_mpi() { -4 } else { -3 }
}

/// `MPI_CART`.
pub(crate) fn cartesian() -> i32 {
    if is_open_mpi() { 1 } else { 2 }
}

/// `MPI_GRAPH`.
pub(crate) fn graph() -> i32 {
    if is_open_mpi() { 2 } else { 1 }
}

/// `MPI_DIST_GRAPH`.
pub(crate) const DIST_GRAPH: i32 = 3;

/// `MPI_UNDEFINED`.
pub(crate) const UNDEFINED: i32 = -32766;

/// `MPI_IN_PLACE`.
#[inline]
pub(crate) fn in_place() -> usize {
    if is_open_mpi() { 1 } else { usize::MAX }
}

/// Whether a type of locks is `MPI_LOCK_EXCLUSIVE`, not `MPI_LOCK_SHARED`.
pub(crate) fn is_exclusive(lock: usize) -> bool {
    lock == if is_open_mpi() { 1 } else { 234 }
}

/// Whether this is `MPI_STATUS_IGNORE` or `MPI_STATUSES_IGNORE`.
#[inline]
pub(crate) fn is_status_ignore(status: usize) -> bool {
    status == family().status_ignore()
}

/// Reads the status at position `at` of an array.
///
/// # Safety
/// The array has such an element, which the MPI library has filled in.
#[inline]
pub(crate) unsafe fn status_at(array: usize, at: usize) -> Status {
    // SAFETY: the caller guarantees the element; the family is that of the library.
    unsafe { Status::at(family(), array, at) }
}

/// A size that is not known.
const UNKNOWN: i64 = -1;

mpi_abi::table! {
    /// The functions of the MPI library that the recorder calls, by their `PMPI_` names, and handles for them.
    pub(crate) struct Mpi;
    handles {
        world: WORLD;
        myself: MYSELF;
        comm_null: COMM_NULL;
        request_empty: REQUEST_EMPTY;
        message_no_proc: MESSAGE_NO_PROC;
        byte: BYTE;
        int: INT;
        long_long: LONG_LONG;
        min: MIN;
        max: MAX;
        errors_return: ERRORS_RETURN;
        no_op: NO_OP;
    }
    functions {
        allreduce: c"PMPI_Allreduce" (*const c_int, *mut c_int, c_int, usize, usize, usize);
        bcast: c"PMPI_Bcast" (*mut u8, c_int, usize, c_int, usize);
        cart_get: c"PMPI_Cart_get" (usize, c_int, *mut c_int, *mut c_int, *mut c_int);
        cart_shift: c"PMPI_Cart_shift" (usize, c_int, c_int, *mut c_int, *mut c_int);
        cartdim_get: c"PMPI_Cartdim_get" (usize, *mut c_int);
        comm_dup: c"PMPI_Comm_dup" (usize, *mut usize);
        comm_free: c"PMPI_Comm_free" (*mut usize);
        comm_group: c"PMPI_Comm_group" (usize, *mut usize);
        comm_rank: c"PMPI_Comm_rank" (usize, *mut c_int);
        comm_set_errhandler: c"PMPI_Comm_set_errhandler" (usize, usize);
        comm_remote_group: c"PMPI_Comm_remote_group" (usize, *mut usize);
        comm_size: c"PMPI_Comm_size" (usize, *mut c_int);
        comm_test_inter: c"PMPI_Comm_test_inter" (usize, *mut c_int);
        dist_graph_neighbors: c"PMPI_Dist_graph_neighbors" (usize, c_int, *mut c_int, *mut c_int, c_int, *mut c_int, *mut c_int);
        dist_graph_neighbors_count: c"PMPI_Dist_graph_neighbors_count" (usize, *mut c_int, *mut c_int, *mut c_int);
        gather: c"PMPI_Gather" (*const u8, c_int, usize, *mut u8, c_int, usize, c_int, usize);
        get_library_version: c"PMPI_Get_library_version" (*mut c_char, *mut c_int);
        graph_neighbors: c"PMPI_Graph_neighbors" (usize, c_int, c_int, *mut c_int);
        graph_neighbors_count: c"PMPI_Graph_neighbors_count" (usize, c_int, *mut c_int);
        group_free: c"PMPI_Group_free" (*mut usize);
        group_rank: c"PMPI_Group_rank" (usize, *mut c_int);
        group_size: c"PMPI_Group_size" (usize, *mut c_int);
        group_translate_ranks: c"PMPI_Group_translate_ranks" (usize, c_int, *const c_int, usize, *mut c_int);
        iallreduce: c"PMPI_Iallreduce" (*const i64, *mut i64, c_int, usize, usize, usize, *mut usize);
        recv: c"PMPI_Recv" (*mut u8, c_int, usize, c_int, c_int, usize, usize);
        scatter: c"PMPI_Scatter" (*const u8, c_int, usize, *mut u8, c_int, usize, c_int, usize);
        send: c"PMPI_Send" (*const u8, c_int, usize, c_int, c_int, usize);
        test: c"PMPI_Test" (*mut usize, *mut c_int, usize);
        topo_test: c"PMPI_Topo_test" (usize, *mut c_int);
        type_size: c"PMPI_Type_size_x" (usize, *mut i64);
    }
}

impl Mpi {
    /// Finds the library and its family; `None` if it lacks something.
    pub(crate) fn of_program() -> Option<Mpi> {
        // SAFETY: behind this library in the order of lookup the names of MPI are the MPI library's.
        let mpi = unsafe { Mpi::find(symbol, variable) }.ok()?;
        IS_OPEN_MPI.store(mpi.family == Family::OpenMpi, Ordering::Relaxed);
        Some(mpi)
    }

    /// Returns the size of `count` elements of a type in bytes; 0 if it is not known.
    #[inline]
    pub(crate) fn bytes(&self, count: i64, datatype: usize) -> u64 {
        if count <= 0 {
            return 0;
        }
        let mut size = UNKNOWN;
        // SAFETY: the program passes the type to a call that it is making, and `size` is writable.
        unsafe { (self.type_size)(datatype, &mut size) };
        (count as u64).saturating_mul(size.max(0) as u64)
    }

    /// Whether this is the request that all operations share which are complete when they have been started.
    /// In MPICH such requests have handles of the kind "builtin" (`mpir_objects.h`: the upper two bits are
    /// 01).
    #[inline]
    pub(crate) fn is_shared_request(&self, request: usize) -> bool {
        if is_open_mpi() { request == self.request_empty } else { request >> 30 == 1 }
    }

    /// `MPI_STATUS_IGNORE`.
    pub(crate) fn status_ignore(&self) -> usize {
        self.family.status_ignore()
    }
}
