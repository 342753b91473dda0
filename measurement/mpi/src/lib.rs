//! The binary interfaces of MPI libraries: numbers and layouts of their `mpi.h`, and tables of their functions.
//!
//! There are two families: Open MPI's (handles are pointers) and MPICH's (handles are `int`; also Intel MPI,
//! MVAPICH and Cray MPI). Programs in Fortran call through the library's own conversion, with the constants of C.
//! Handles are `usize` here: callees that take an `int` read the lower half of a register, and one that a callee
//! writes as an `int` is complete if it was 0 before (both on x86-64 and AArch64).

use std::ffi::{CStr, c_char, c_int};

/// A family of MPI libraries with one binary interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// Open MPI, versions 2 to 5.
    OpenMpi,
    /// MPICH from 3.1 on, and what has agreed on its interface.
    Mpich,
}

impl Family {
    /// The family of a library, of which `variable` finds the variables: what it is decide its symbols, not its name.
    pub fn of(variable: impl Fn(&CStr) -> Option<usize>) -> Family {
        if variable(WORLD.symbol).is_some() { Family::OpenMpi } else { Family::Mpich }
    }

    /// `MPI_STATUS_IGNORE` and `MPI_STATUSES_IGNORE`.
    #[inline]
    pub const fn status_ignore(self) -> usize {
        match self {
            Family::OpenMpi => 0,
            Family::Mpich => 1,
        }
    }

    /// `MPI_ANY_SOURCE`.
    pub const fn any_source(self) -> i32 {
        match self {
            Family::OpenMpi => -1,
            Family::Mpich => -2,
        }
    }
}

/// `MPI_THREAD_FUNNELED`.
pub const THREAD_FUNNELED: i32 = 1;

/// Upper bound of `MPI_MAX_LIBRARY_VERSION_STRING`.
const VERSION_BYTES: usize = 8192;

/// What a library says of itself, as `get` writes it, which is its `MPI_Get_library_version`. That can be asked before MPI is started
/// (MPI 4.1, 9.1.1).
pub fn library_version(get: impl FnOnce(*mut c_char, *mut c_int)) -> String {
    let (mut text, mut length) = (vec![0_u8; VERSION_BYTES], 0);
    get(text.as_mut_ptr().cast(), &raw mut length);
    text.truncate(usize::try_from(length).unwrap_or(0));
    String::from_utf8_lossy(&text).trim_end_matches('\0').to_owned()
}

/// Upper bound of the size of an `MPI_Status` in bytes: 24 in Open MPI, 20 in MPICH.
pub const STATUS_BYTES: usize = 24;

/// The contents of a status.
#[derive(Clone, Copy, Debug)]
pub struct Status {
    /// Rank of the sender.
    pub source: i32,
    /// Tag of the message.
    pub tag: i32,
    /// Length of the message in bytes.
    pub bytes: u64,
    /// Whether the operation was cancelled.
    pub is_cancelled: bool,
}

impl Status {
    /// The status of an operation that has none.
    pub const UNKNOWN: Status = Status { source: 0, tag: 0, bytes: 0, is_cancelled: false };

    /// Reads the status at position `at` of an array.
    ///
    /// # Safety
    /// The array has such an element, which an MPI library of this family has filled in.
    #[inline]
    pub unsafe fn at(family: Family, array: usize, at: usize) -> Status {
        // SAFETY: the caller guarantees the element; the layouts are those of the libraries' mpi.h. A status of
        // Fortran consists of `INTEGER`s, so its 8 bytes may be at a multiple of 4.
        unsafe {
            match family {
                Family::OpenMpi => {
                    let status = (array + at * 24) as *const i32;
                    Status {
                        source: *status,
                        tag: *status.add(1),
                        is_cancelled: *status.add(3) != 0,
                        bytes: status.add(4).cast::<u64>().read_unaligned(),
                    }
                }
                // The count is split over two words; the lowest bit of the second one is the cancelled flag.
                Family::Mpich => {
                    let status = (array + at * 20) as *const i32;
                    let (low, high) = ((*status).cast_unsigned(), (*status.add(1)).cast_unsigned());
                    Status {
                        source: *status.add(2),
                        tag: *status.add(3),
                        is_cancelled: high & 1 != 0,
                        bytes: u64::from(high >> 1) << 32 | u64::from(low),
                    }
                }
            }
        }
    }
}

/// A predefined handle: a variable of Open MPI, a number in MPICH.
#[derive(Clone, Copy, Debug)]
pub struct Handle {
    /// Name of Open MPI's variable, of which the handle is the address.
    pub symbol: &'static CStr,
    /// The number in MPICH.
    pub number: usize,
}

impl Handle {
    const fn new(symbol: &'static CStr, number: usize) -> Handle {
        Handle { symbol, number }
    }

    /// The handle in a library of this family, of which `variable` finds the variables.
    pub fn find(&self, family: Family, variable: impl Fn(&CStr) -> Option<usize>) -> Option<usize> {
        match family {
            Family::OpenMpi => variable(self.symbol),
            Family::Mpich => Some(self.number),
        }
    }
}

/// `MPI_COMM_WORLD`.
pub const WORLD: Handle = Handle::new(c"ompi_mpi_comm_world", 0x4400_0000);
/// `MPI_COMM_SELF`.
pub const MYSELF: Handle = Handle::new(c"ompi_mpi_comm_self", 0x4400_0001);
/// `MPI_COMM_NULL`.
pub const COMM_NULL: Handle = Handle::new(c"ompi_mpi_comm_null", 0x0400_0000);
/// Open MPI's request of all operations that are complete as soon as they have been started; 0 in MPICH.
pub const REQUEST_EMPTY: Handle = Handle::new(c"ompi_request_empty", 0);
/// `MPI_MESSAGE_NO_PROC`.
pub const MESSAGE_NO_PROC: Handle = Handle::new(c"ompi_message_no_proc", 0x6c00_0000);
/// `MPI_BYTE`.
pub const BYTE: Handle = Handle::new(c"ompi_mpi_byte", 0x4c00_010d);
/// `MPI_INT`.
pub const INT: Handle = Handle::new(c"ompi_mpi_int", 0x4c00_0405);
/// `MPI_LONG_LONG`.
pub const LONG_LONG: Handle = Handle::new(c"ompi_mpi_long_long_int", 0x4c00_0809);
/// `MPI_UINT64_T`.
pub const UINT64: Handle = Handle::new(c"ompi_mpi_uint64_t", 0x4c00_083e);
/// `MPI_MIN`.
pub const MIN: Handle = Handle::new(c"ompi_mpi_op_min", 0x5800_0002);
/// `MPI_MAX`.
pub const MAX: Handle = Handle::new(c"ompi_mpi_op_max", 0x5800_0001);
/// `MPI_NO_OP`.
pub const NO_OP: Handle = Handle::new(c"ompi_mpi_op_no_op", 0x5800_000e);
/// `MPI_ERRORS_RETURN`.
pub const ERRORS_RETURN: Handle = Handle::new(c"ompi_mpi_errors_return", 0x5400_0001);

/// Declares a table of functions and predefined handles of an MPI library, with `find` to fill it in.
#[macro_export]
macro_rules! table {
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $table:ident;
        handles { $($handle:ident: $predefined:ident;)* }
        functions { $($function:ident: $name:literal ($($parameter:ty),*);)* }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug)]
        $visibility struct $table {
            /// What the library is.
            $visibility family: $crate::Family,
            $($visibility $handle: usize,)*
            $($visibility $function: unsafe extern "C" fn($($parameter),*) -> ::std::ffi::c_int,)*
        }

        impl $table {
            /// Fills in the table with the addresses that `symbol` returns for functions, and `variable` for
            /// variables, both of the same MPI library. Fails with the name of the first that it lacks.
            ///
            /// # Safety
            /// At each address that `symbol` returns is the function of that name.
            $visibility unsafe fn find(
                symbol: impl Fn(&::std::ffi::CStr) -> Option<usize>,
                variable: impl Fn(&::std::ffi::CStr) -> Option<usize>,
            ) -> Result<$table, &'static ::std::ffi::CStr> {
                let family = $crate::Family::of(&variable);
                Ok($table {
                    family,
                    $($handle: $crate::$predefined.find(family, &variable).ok_or($crate::$predefined.symbol)?,)*
                    $($function: {
                        let address = symbol($name).ok_or($name)?;
                        // SAFETY: it is the function of that name, with parameters that the MPI standard fixes.
                        unsafe {
                            ::std::mem::transmute::<usize, unsafe extern "C" fn($($parameter),*) -> ::std::ffi::c_int>(
                                address,
                            )
                        }
                    },)*
                })
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    table! {
        /// A table of one function.
        struct Table;
        handles { world: WORLD; uint64: UINT64; }
        functions { comm_rank: c"PMPI_Comm_rank" (usize, *mut i32); }
    }

    extern "C" fn comm_rank(communicator: usize, rank: *mut i32) -> i32 {
        // SAFETY: the test passes an integer.
        unsafe { *rank = i32::from(communicator == 4096) };
        0
    }

    fn symbol(name: &CStr) -> Option<usize> {
        (name == c"PMPI_Comm_rank").then_some(comm_rank as *const () as usize)
    }

    #[test]
    fn family_follows_from_the_variables() {
        // SAFETY: `symbol` returns a function with these parameters.
        let open_mpi = unsafe { Table::find(symbol, |_| Some(4096)) }.unwrap();
        assert_eq!((open_mpi.family, open_mpi.world, open_mpi.uint64), (Family::OpenMpi, 4096, 4096));
        let mut rank = 0;
        // SAFETY: as above.
        unsafe { (open_mpi.comm_rank)(open_mpi.world, &raw mut rank) };
        assert_eq!(rank, 1);
        // SAFETY: as above.
        let mpich = unsafe { Table::find(symbol, |_| None) }.unwrap();
        assert_eq!((mpich.family, mpich.world, mpich.uint64), (Family::Mpich, 0x4400_0000, 0x4c00_083e));
    }

    #[test]
    fn first_name_that_is_missing_is_reported() {
        // SAFETY: there is no function.
        let missing = unsafe { Table::find(|_| None, |_| None) };
        assert_eq!(missing.unwrap_err(), c"PMPI_Comm_rank");
        let world_alone = |name: &CStr| (name == WORLD.symbol).then_some(8);
        // SAFETY: as above.
        let missing = unsafe { Table::find(symbol, world_alone) };
        assert_eq!(missing.unwrap_err(), UINT64.symbol);
    }

    #[test]
    fn statuses_are_read_in_both_layouts() {
        // Source, tag, error, cancelled, bytes in two halves; and two of MPICH: count, count and flag, source, tag, error.
        let open_mpi = [3, 7, 0, 0, 16, 1];
        // SAFETY: an array of one status.
        let status = unsafe { Status::at(Family::OpenMpi, (&raw const open_mpi) as usize, 0) };
        assert_eq!(
            (status.source, status.tag, status.bytes, status.is_cancelled),
            (3, 7, 16 + (1 << 32), false)
        );
        let mpich = [0, 0, 0, 0, 0, 16, 3, 5, 9, 0];
        // SAFETY: an array of two statuses.
        let status = unsafe { Status::at(Family::Mpich, (&raw const mpich) as usize, 1) };
        assert_eq!(
            (status.source, status.tag, status.bytes, status.is_cancelled),
            (5, 9, 16 + (1 << 32), true)
        );
    }
}
