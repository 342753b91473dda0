//! A transfer without its pieces, and what is the matter with it because of others.

use crate::access::Kind;
use crate::operation::Caller;
use crate::transfer::Transfer;

/// A transfer as it is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Outline {
    /// The rank.
    pub(crate) rank: u32,
    /// Which of the lists of ranks it is of.
    pub(crate) list: usize,
    /// Whether it reads or writes.
    pub(crate) kind: Kind,
    /// When it began, in ticks of the clock.
    pub(crate) begin: u64,
    /// When it was complete.
    pub(crate) end: u64,
    /// Bytes moved.
    pub(crate) size: u64,
    /// The first byte in the file, if it is known where it lies.
    pub(crate) first: Option<u64>,
    /// Who asked for it.
    pub(crate) caller: Caller,
    /// See [`Transfer::is_buffered`].
    pub(crate) is_buffered: bool,
    /// See [`Order`](crate::order::Order).
    pub(crate) is_unordered: bool,
    /// See [`Contention`](crate::contention::Contention).
    pub(crate) is_contended: bool,
}

impl Outline {
    /// Of a transfer that is not contended, with its first byte in the file, if that is known.
    pub(crate) fn new(transfer: &Transfer, list: usize, first: Option<u64>, is_unordered: bool) -> Outline {
        let Transfer { rank, kind, begin, end, size, caller, is_buffered, .. } = *transfer;
        Outline {
            rank,
            list,
            kind,
            begin,
            end,
            size,
            first,
            caller,
            is_buffered,
            is_unordered,
            is_contended: false,
        }
    }

    /// How long it took, in ticks of the clock.
    pub(crate) fn duration(&self) -> u64 {
        self.end.saturating_sub(self.begin)
    }
}

/// From how many bytes on requests of a file are as they should be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sizes {
    /// They begin at multiples of this one.
    pub(crate) block: u64,
    /// With fewer they are small.
    pub(crate) small: u64,
}

impl Sizes {
    /// Whether a transfer begins inside of a block; not if it is unknown where that of the system did.
    pub(crate) fn are_missed(self, outline: &Outline) -> bool {
        !outline.is_buffered && outline.first.is_some_and(|at| !at.is_multiple_of(self.block))
    }
}
