//! The MPI library: the differences between implementations, and the functions that the recorder itself
//! calls.
//!
//! There are two families of binary interfaces: Open MPI's (handles are pointers) and MPICH's (handles are
//! `int`; also Intel MPI, MVAPICH and Cray MPI). The constants are those of their `mpi.h`; Fortran programs
//! arrive here through the MPI library's own conversion, with the constants of C.

use std::ffi::{CStr, c_char, c_int};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::next::{symbol, variable};

/// Whether handles are pointers.
static IS_OPEN_MPI: AtomicBool = AtomicBool::new(false);

/// Whether the program's MPI is Open MPI; meaningful once recording has begun.
#[inline]
pub(crate) fn is_open_mpi() -> bool {
    IS_OPEN_MPI.load(Ordering::Relaxed)
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
    status == usize::from(!is_open_mpi())
}

/// Upper bound of the size of an `MPI_Status` in bytes: 24 in Open MPI, 20 in MPICH.
pub(crate) const STATUS_BYTES: usize = 24;

/// The contents of a status.
#[derive(Clone, Copy)]
pub(crate) struct Status {
    /// Rank of the sender.
    pub(crate) source: i32,
    /// Tag of the message.
    pub(crate) tag: i32,
    /// Length of the message in bytes.
    pub(crate) bytes: u64,
    /// Whether the operation was cancelled.
    pub(crate) is_cancelled: bool,
}

impl Status {
    /// The status of an operation that has none.
    pub(crate) const UNKNOWN: Status = Status { source: 0, tag: 0, bytes: 0, is_cancelled: false };
}

/// Reads the status at position `at` of an array.
///
/// # Safety
/// The array has such an element, which the MPI library has filled in.
#[inline]
pub(crate) unsafe fn status_at(array: usize, at: usize) -> Status {
    // SAFETY: the caller guarantees the element; the layouts are those of the libraries' mpi.h. A status of
    // Fortran consists of `INTEGER`s, so its 8 bytes may be at a multiple of 4.
    unsafe {
        if is_open_mpi() {
            let status = (array + at * 24) as *const i32;
            Status {
                source: *status,
                tag: *status.add(1),
                is_cancelled: *status.add(3) != 0,
                bytes: status.add(4).cast::<u64>().read_unaligned(),
            }
        } else {
            // The count is split over two words; the lowest bit of the second one is the cancelled flag.
            let status = (array + at * 20) as *const i32;
            let (low, high) = (*status as u32, *status.add(1) as u32);
            Status {
                source: *status.add(2),
                tag: *status.add(3),
                is_cancelled: high & 1 != 0,
                bytes: u64::from(high >> 1) << 32 | u64::from(low),
            }
        }
    }
}

/// A size that is not known.
const UNKNOWN: i64 = -1;

macro_rules! functions {
    ($($field:ident: $name:literal ($($parameter:ty),*);)*) => {
        /// The functions of the MPI library that the recorder calls, by their `PMPI_` names.
        #[derive(Clone)]
        pub(crate) struct Mpi {
            $(pub(crate) $field: unsafe extern "C" fn($($parameter),*) -> c_int,)*
            /// `MPI_COMM_WORLD`.
            pub(crate) world: usize,
            /// `MPI_COMM_SELF`.
            pub(crate) myself: usize,
            /// `MPI_COMM_NULL`.
            pub(crate) comm_null: usize,
            /// Open MPI's request of all operations that are complete as soon as they have been started; 0 in
            /// MPICH.
            request_empty: usize,
            /// `MPI_MESSAGE_NO_PROC`.
            pub(crate) message_no_proc: usize,
            /// `MPI_BYTE`.
            pub(crate) byte: usize,
            /// `MPI_INT`.
            pub(crate) int: usize,
            /// `MPI_LONG_LONG`.
            pub(crate) long_long: usize,
            /// `MPI_MIN`.
            pub(crate) min: usize,
            /// `MPI_MAX`.
            pub(crate) max: usize,
            /// `MPI_ERRORS_RETURN`.
            pub(crate) errors_return: usize,
            /// `MPI_NO_OP`.
            pub(crate) no_op: usize,
        }

        impl Mpi {
            /// Finds the library and its family; `None` if it lacks something.
            pub(crate) fn find() -> Option<Mpi> {
                let world = variable(c"ompi_mpi_comm_world");
                IS_OPEN_MPI.store(world.is_some(), Ordering::Relaxed);
                let object = |name: &CStr, mpich: usize| if world.is_some() { variable(name) } else { Some(mpich) };
                Some(Mpi {
                    // SAFETY: the symbol is the function of that name, with parameters that the MPI standard
                    // fixes.
                    $($field: unsafe { std::mem::transmute::<usize, unsafe extern "C" fn($($parameter),*) -> c_int>(symbol($name)?) },)*
                    world: object(c"ompi_mpi_comm_world", 0x4400_0000)?,
                    myself: object(c"ompi_mpi_comm_self", 0x4400_0001)?,
                    comm_null: object(c"ompi_mpi_comm_null", 0x0400_0000)?,
                    request_empty: object(c"ompi_request_empty", 0)?,
                    message_no_proc: object(c"ompi_message_no_proc", 0x6c00_0000)?,
                    byte: object(c"ompi_mpi_byte", 0x4c00_010d)?,
                    int: object(c"ompi_mpi_int", 0x4c00_0405)?,
                    long_long: object(c"ompi_mpi_long_long_int", 0x4c00_0809)?,
                    min: object(c"ompi_mpi_op_min", 0x5800_0002)?,
                    max: object(c"ompi_mpi_op_max", 0x5800_0001)?,
                    errors_return: object(c"ompi_mpi_errors_return", 0x5400_0001)?,
                    no_op: object(c"ompi_mpi_op_no_op", 0x5800_000e)?,
                })
            }
        }
    };
}

functions! {
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

impl Mpi {
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
        usize::from(!is_open_mpi())
    }
}
