//! An operation of a rank on a file (io.md 3.1).

use serde::{Deserialize, Serialize};

use crate::access::Access;

/// Which call of its rank asks for an operation.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Caller {
    /// Number of the thread in the rank.
    pub thread: u32,
    /// Number of the call path.
    pub call_path: u32,
    /// Whether the call has asked for another operation of the same kind before: where calls are counted, that one stands for the call.
    pub is_repeated: bool,
}

/// A transfer, of which it is known how it ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operation {
    /// What was asked for.
    pub access: Access,
    /// Number of the opening of the file by the rank, from 1 on.
    pub opening: u64,
    /// Where it begins in what the rank sees of the file, in bytes; `None` if nobody knows, or from 2^63 on.
    pub offset: Option<u64>,
    /// First byte in the file; `None` like `offset`.
    pub first: Option<u64>,
    /// Bytes from the first one to the last one in the file: more than `size` if there are holes.
    pub length: u64,
    /// Bytes moved.
    pub size: u64,
    /// Communication calls that the rank had completed at the begin (io.md 4.1).
    pub tick: u64,
    /// Blocking collective operations on all ranks that were completed at the begin (io.md 4.1).
    pub epoch: u64,
    /// When it began, in ticks of the clock.
    pub begin: u64,
    /// When it was complete, in ticks of the clock; not before the begin.
    pub end: u64,
    /// Who asked for it.
    pub caller: Caller,
}
