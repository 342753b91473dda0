//! Made-up operations for unit tests, and what is found of them.

use std::collections::BTreeMap;

use crate::access::{Access, Kind, Layer, Pointer};
use crate::inefficiency::Inefficiency;
use crate::operation::{Caller, Operation};
use crate::transfer::Transfer;
use crate::transfers::Transfers;

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
    Transfer { rank, opening: 1, kind, begin, end, size, caller, is_buffered: false, pieces }
}

/// The operation that a transfer is.
pub(crate) fn operation(transfer: &Transfer) -> Operation {
    let Transfer { opening, kind, begin, end, size, caller, .. } = *transfer;
    Operation { access: access(kind), opening, end, caller, ..write(begin, 0, size) }
}

/// Transfers of ranks, each in its list.
pub(crate) fn lists(transfers: &[Transfer]) -> Vec<Transfers> {
    let mut ranks: BTreeMap<u32, Transfers> = BTreeMap::new();
    for it in transfers {
        let list = ranks.entry(it.rank).or_insert_with(|| Transfers::new(it.rank, u64::MAX));
        list.push(&operation(it), &it.pieces, it.is_buffered);
    }
    ranks.into_values().collect()
}
