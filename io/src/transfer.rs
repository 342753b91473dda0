//! A transfer: an operation, and where in the file it moves bytes.

use crate::access::Kind;
use crate::numbers::hull;
use crate::operation::Caller;
use crate::view::Pieces;

/// An operation and the pieces of the file that it moved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transfer {
    /// The rank.
    pub rank: u32,
    /// Number of the opening of the file by the rank.
    pub opening: u64,
    /// Whether it reads or writes.
    pub kind: Kind,
    /// When it began, in ticks of the clock.
    pub begin: u64,
    /// When it was complete.
    pub end: u64,
    /// Bytes moved.
    pub size: u64,
    /// Who asked for it.
    pub caller: Caller,
    /// Whether it went through a buffer of the C library, and it is not known which requests of that have reached
    /// the system.
    pub is_buffered: bool,
    /// None if their places are unknown.
    pub pieces: Pieces,
}

impl Transfer {
    /// The first byte in the file, and what is behind the last one, if it is known where it lies.
    pub(crate) fn bounds(&self) -> Option<(u64, u64)> {
        let bounds = self.pieces.iter().map(|&(at, length)| (at, at.saturating_add(length)));
        bounds.reduce(hull)
    }
}
