//! What the calls of a rank on a file do besides moving bytes, and how long that takes (io.md 5.3).

use serde::{Deserialize, Serialize};

/// What a call on a file is for. One that is for several things is for the last of them here: closing a stream that writes the rest
/// of its buffer is a transfer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Purpose {
    /// The pointer of the rank moves.
    Seeks,
    /// The view, the size, or something else of the file changes.
    Handles,
    /// The file is opened or closed.
    OpensOrCloses,
    /// What was written goes to the disk.
    Flushes,
    /// Bytes move.
    Transfers,
    /// Bytes of all ranks that have opened the file move, in a collective call that blocks.
    TransfersTogether,
}

/// A call on a file that has returned, and that the program itself has made.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// What it was for.
    pub purpose: Purpose,
    /// Number of the file.
    pub file: u32,
    /// The handle.
    pub handle: u64,
    /// Members of the communicator that opened it, if there is one.
    pub members: Option<u64>,
    /// Number of the opening of the file by the rank, from 1 on; 0 if it was open before.
    pub opening: u64,
    /// When it was entered, in ticks of the clock.
    pub begin: u64,
    /// When it was left, in ticks of the clock.
    pub end: u64,
}

/// What the calls of a rank on a file sum up to; those of ranks and files add up.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Calls {
    /// Calls that handle the file: that open or close it, seek, or change its view or size.
    pub handling: u64,
    /// Their time in ticks of the clock, with waiting for others.
    pub handling_time: u64,
    /// Time of calls that flush the file, in ticks of the clock, with waiting for others.
    pub flush_time: u64,
    /// Writes behind which the file was flushed before the next operation on it.
    pub flushed: u64,
    /// Those of them that more writes of the same opening follow: what a flush at the end would do as well.
    #[serde(default)]
    pub early_flushes: u64,
    /// Time of the calls that flush the file behind these writes, in ticks of the clock, with waiting for others.
    #[serde(default)]
    pub early_flush_time: u64,
    /// All writes.
    pub writes: u64,
    /// All operations that move bytes.
    pub transfers: u64,
    /// Bytes of those that are not collective.
    pub independent_bytes: u64,
    /// Time of those that are not collective, in ticks of the clock.
    pub independent_time: u64,
    /// Time of those on streams of ISO C, in ticks of the clock.
    pub stream_time: u64,
    /// Openings without any operation.
    pub unused: u64,
    /// Time of the calls that open and close these, in ticks of the clock.
    pub unused_time: u64,
    /// Time of non-blocking operations from their begin to their end, in ticks of the clock.
    pub non_blocking_time: u64,
    /// The part of that within the calls that complete them.
    pub awaited_time: u64,
    /// Time of the calls that complete them, once for all that one call completes.
    pub completing_time: u64,
}

impl Calls {
    /// Adds those of another rank or file.
    pub fn merge(&mut self, other: &Calls) {
        for (own, their) in [
            (&mut self.handling, other.handling),
            (&mut self.handling_time, other.handling_time),
            (&mut self.flush_time, other.flush_time),
            (&mut self.flushed, other.flushed),
            (&mut self.early_flushes, other.early_flushes),
            (&mut self.early_flush_time, other.early_flush_time),
            (&mut self.writes, other.writes),
            (&mut self.transfers, other.transfers),
            (&mut self.independent_bytes, other.independent_bytes),
            (&mut self.independent_time, other.independent_time),
            (&mut self.stream_time, other.stream_time),
            (&mut self.unused, other.unused),
            (&mut self.unused_time, other.unused_time),
            (&mut self.non_blocking_time, other.non_blocking_time),
            (&mut self.awaited_time, other.awaited_time),
            (&mut self.completing_time, other.completing_time),
        ] {
            *own = own.saturating_add(their);
        }
    }
}
