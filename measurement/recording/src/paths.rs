//! The call paths of a location: a mapped file with one node for each, with the numbers that the events refer
//! to.
//!
//! The file is a [`PathsHeader`] and then [`PathNode`]s, all in the machine's byte order. A node's number is
//! its position; its parent has a smaller one.
//!
//! **Invariant:** the first [`PathsHeader::nodes`] nodes are complete at any moment.

/// The first eight bytes of the file.
pub const MAGIC: u64 = u64::from_ne_bytes(*b"RPLPTH01");

/// The parent of a path without one.
pub const NO_PARENT: u32 = u32::MAX;

/// The header of a file of call paths.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct PathsHeader {
    /// [`MAGIC`].
    pub magic: u64,
    /// Number of nodes.
    pub nodes: u64,
}

/// A call path: its last element, and the path that it was entered from.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Debug)]
#[repr(C)]
pub struct PathNode {
    /// The element; its meaning depends on the kind.
    pub target: u64,
    /// Number of the parent, or [`NO_PARENT`].
    pub parent: u32,
    /// One of the constants below.
    pub kind: u32,
}

/// `target` is a return address: the function that it lies in was active at the call before it.
pub const FRAME: u32 = 0;
/// `target` is an MPI function: its position in the table of [`mod@crate::functions`].
pub const MPI_FUNCTION: u32 = 1;
/// `target` is a region that the program named: its number in the journal.
pub const REGION: u32 = 2;
/// `target` is the address of an instrumented function (`-finstrument-functions`).
pub const FUNCTION: u32 = 3;
/// `target` is an address where a sample was taken: the instruction itself, not a return address.
pub const SAMPLE: u32 = 4;
/// `target` is a Python function that was active, and the line of the call in it: [`crate::python::target`].
pub const PYTHON: u32 = 5;
/// `target` is a function of the C library for files: its position in [`mod@crate::file_functions`].
pub const FILE_FUNCTION: u32 = 6;
/// This and those behind it: constructs and functions of OpenMP, of [`crate::openmp`].
pub const OPENMP: u32 = 16;
