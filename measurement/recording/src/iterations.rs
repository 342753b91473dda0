//! When the iterations of a loop of a process began: a mapped file for each loop whose iterations are to be recorded, also of those
//! that are not.
//!
//! The file is an [`IterationsHeader`] and then a [`Moment`] for each iteration that is kept, all in the machine's byte
//! order: the first one is that of iteration `first`, the next that of iteration `first + stride`. Strides are powers of two,
//! and iterations that are kept are multiples of their stride, so that those of all processes have some in common.
//!
//! **Invariant:** the header and the first `count` moments are consistent at any time, also when the process dies.

/// The first eight bytes of the file.
pub const MAGIC: u64 = u64::from_ne_bytes(*b"RPLITR01");

/// Maximum number of iterations that are kept; every second one is dropped where there are more.
pub const MOST: u64 = 1_000_000;

/// The header of a file of iterations.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct IterationsHeader {
    /// [`MAGIC`].
    pub magic: u64,
    /// Call path at which iterations of the loop begin.
    pub path: u64,
    /// Number of moments that are kept.
    pub count: u64,
    /// The iteration of the first one.
    pub first: u64,
    /// Iterations from one to the next.
    pub stride: u64,
    /// The begin of iteration 1; all zero if the loop had been left and entered again before it was found.
    pub begin: Moment,
    /// The last iteration that is known to have ended, as the loop was left; 0 if there is none.
    pub ended: u64,
    /// When it ended.
    pub end: Moment,
}

/// The begin of an iteration, or the end of one.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Moment {
    /// In ticks of the process.
    pub time: u64,
    /// Ticks in MPI so far, without those outside of the loop since it was found.
    pub mpi: u64,
    /// Ticks outside of the loop so far, since it was found.
    pub outside: u64,
}
