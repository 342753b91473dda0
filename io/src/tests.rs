//! Made-up operations for unit tests, and what is found of them.

use crate::access::{Access, Kind, Layer, Pointer};
use crate::bytes::Transfer;
use crate::inefficiency::Inefficiency;
use crate::operation::{Caller, Operation};

/// An independent, blocking access of MPI-IO with explicit offsets.
pub(crate) fn access(kind: Kind) -> Access {
    Access { kind, layer: Layer::Mpi, collective: false, non_blocking: false, pointer: Pointer::Explicit }
}

/// Writes so many bytes at an offset, in one tick of the clock from `begin` on.
pub(crate) fn write(begin: u64, first: u64, size: u64) -> Operation {
    Operation {
        access: access(Kind::Write),
        opening: 1,
        offset: Some(first),
        first: Some(first),
        length: size,
        size,
        tick: 0,
        epoch: 0,
        begin,
        end: begin + 1,
        caller: Caller::default(),
    }
}

/// What is concerned, and of how many.
pub(crate) fn numbers(found: Option<Inefficiency>) -> Option<(u64, u64)> {
    found.map(|it| (it.concerned, it.of))
}

/// A transfer of a rank that moves these pieces in this time.
pub(crate) fn transfer(rank: u32, kind: Kind, (begin, end): (u64, u64), pieces: &[(u64, u64)]) -> Transfer {
    let size = pieces.iter().map(|(_, length)| *length).sum();
    let (caller, pieces) = (Caller::default(), pieces.into());
    Transfer { rank, opening: 1, kind, begin, end, size, caller, pieces }
}
