//! OTF2's flags and modes of operations on files.

/// Flag of an operation that goes on when its call has returned.
pub(crate) const NON_BLOCKING: u32 = 1;
/// Flag of an operation of all that have opened the file together.
pub(crate) const COLLECTIVE: u32 = 2;

/// Mode of an operation that reads.
pub(crate) const READ: u8 = 0;
/// Mode of one that writes.
pub(crate) const WRITE: u8 = 1;
/// Mode of one that flushes.
pub(crate) const FLUSH: u8 = 2;
