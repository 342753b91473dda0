//! What is asked of a file: reading or writing, by which layer, and how (io.md 3.1).

use serde::{Deserialize, Serialize};

/// Whether bytes come from a file or go to it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// From the file.
    Read,
    /// To the file.
    Write,
}

impl Kind {
    /// `R` or `W`.
    pub fn letter(self) -> char {
        match self {
            Kind::Read => 'R',
            Kind::Write => 'W',
        }
    }
}

/// The library that was called.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// Streams of ISO C.
    Isoc,
    /// MPI-IO.
    Mpi,
    /// Descriptors of POSIX.
    Posix,
}

impl Layer {
    /// `isoc`, `mpi` or `posix`.
    pub fn name(self) -> &'static str {
        match self {
            Layer::Isoc => "isoc",
            Layer::Mpi => "mpi",
            Layer::Posix => "posix",
        }
    }
}

/// What says where an operation begins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pointer {
    /// The operation itself.
    Explicit,
    /// The pointer of the handle.
    Individual,
    /// The pointer that all members of the handle's communicator share.
    Shared,
}

impl Pointer {
    /// `explicit`, `individual` or `shared`.
    pub fn name(self) -> &'static str {
        match self {
            Pointer::Explicit => "explicit",
            Pointer::Individual => "individual",
            Pointer::Shared => "shared",
        }
    }
}

/// What two operations must agree in to be of one kind (io.md 4.3). The order is that of phases which begin at the same time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Access {
    /// Whether it reads or writes.
    pub kind: Kind,
    /// The library that was called.
    pub layer: Layer,
    /// Whether all members of the communicator call.
    pub collective: bool,
    /// Whether the call may return before the bytes have moved.
    pub non_blocking: bool,
    /// What says where it begins.
    pub pointer: Pointer,
}
