//! The next functions where the recorder is linked into the program: the MPI library's `PMPI_X`.
//!
//! Functions that not every library has are weak references here. The program calls them by members of the
//! recorder's archive, one for each, which `build.rs` makes; those refer to the functions so that linkers
//! find them.

use std::ffi::CStr;

use crate::wrappers::{COUNT, NAMES};

/// The name by which a function was called, which makes no difference here.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layer {
    /// `MPI_X`.
    Mpi = 0,
}

include!(concat!(env!("OUT_DIR"), "/addresses.rs"));

// The objects of Open MPI, none of which MPICH has.
std::arch::global_asm!(
    ".section .data.rel.ro.replay_objects,\"aw\"",
    ".balign 8",
    ".globl replay_objects",
    ".hidden replay_objects",
    "replay_objects:",
    ".weak ompi_mpi_comm_world",
    ".quad ompi_mpi_comm_world",
    ".weak ompi_mpi_comm_self",
    ".quad ompi_mpi_comm_self",
    ".weak ompi_mpi_comm_null",
    ".quad ompi_mpi_comm_null",
    ".weak ompi_request_empty",
    ".quad ompi_request_empty",
    ".weak ompi_message_no_proc",
    ".quad ompi_message_no_proc",
    ".weak ompi_mpi_byte",
    ".quad ompi_mpi_byte",
    ".weak ompi_mpi_int",
    ".quad ompi_mpi_int",
    ".weak ompi_mpi_op_min",
    ".quad ompi_mpi_op_min",
    ".weak ompi_mpi_op_no_op",
    ".quad ompi_mpi_op_no_op",
    ".weak ompi_mpi_info_null",
    ".quad ompi_mpi_info_null",
    ".weak ompi_mpi_errors_return",
    ".quad ompi_mpi_errors_return",
    ".weak ompi_mpi_long_long_int",
    ".quad ompi_mpi_long_long_int",
    ".weak ompi_mpi_op_max",
    ".quad ompi_mpi_op_max",
    ".previous",
);

/// Names of these, in the order of the addresses above.
const OBJECTS: [&CStr; 13] = [
    c"ompi_mpi_comm_world",
    c"ompi_mpi_comm_self",
    c"ompi_mpi_comm_null",
    c"ompi_request_empty",
    c"ompi_message_no_proc",
    c"ompi_mpi_byte",
    c"ompi_mpi_int",
    c"ompi_mpi_op_min",
    c"ompi_mpi_op_no_op",
    c"ompi_mpi_info_null",
    c"ompi_mpi_errors_return",
    c"ompi_mpi_long_long_int",
    c"ompi_mpi_op_max",
];

unsafe extern "C" {
    static replay_functions: [usize; COUNT];
    static replay_objects: [usize; OBJECTS.len()];
    // The linker defines these for any section with such a name.
    #[link_name = "__start_replay_wrappers"]
    static FIRST_WRAPPER: u8;
    #[link_name = "__stop_replay_wrappers"]
    static BEHIND_WRAPPERS: u8;
}

/// Returns the address of the function of that number, which the program has called: so it exists.
#[inline]
pub(crate) fn next(_: Layer, number: u32) -> usize {
    // SAFETY: the linker has filled in the array, which never changes.
    unsafe { replay_functions[number as usize] }
}

/// Returns the address of a function of the MPI library by its `PMPI_` name.
pub(crate) fn symbol(name: &CStr) -> Option<usize> {
    let number = NAMES.iter().position(|(_, profiling)| *profiling == name)?;
    // SAFETY: the linker has filled in the array, which never changes.
    Some(unsafe { replay_functions[number] }).filter(|&address| address != 0)
}

/// Returns the address of a variable of the MPI library.
pub(crate) fn variable(name: &CStr) -> Option<usize> {
    let number = OBJECTS.iter().position(|object| *object == name)?;
    // SAFETY: the linker has filled in the array, which never changes.
    Some(unsafe { replay_objects[number] }).filter(|&address| address != 0)
}

/// Reports the addresses of the wrappers, which are no part of call paths. Returns whether the program is to
/// be recorded: it always has the recorder in it, so the user has to ask for that.
pub(crate) fn prepare() -> bool {
    let (first, behind) = (&raw const FIRST_WRAPPER as u64, &raw const BEHIND_WRAPPERS as u64);
    call_paths::set_linked_recorder(first..behind);
    // SAFETY: the program calls MPI_Init; another thread is not expected to read the environment at this
    // moment.
    unsafe { std::env::set_var(recording::layout::LINKED_VARIABLE, std::process::id().to_string()) };
    [recording::layout::NOTE_VARIABLE, "REPLAY_OUTPUT"].iter().any(|name| std::env::var_os(name).is_some())
}
