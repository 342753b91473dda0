//! Reading from streams.
//!
//! A call reaches the system if more is wanted than is left in the buffer. If it is not known in advance how much is
//! wanted, as of lines, the buffer tells behind the call.

use call_paths::Registers;

use super::layout::Look;
use super::operations::{Made, Moved, record};
use super::streams;
use crate::clock::now;
use crate::hooks::transfers::READ;

/// Makes a call that reads exactly so many bytes, if there are as many. `real` gets whether the stream's lock is held. `moved` gets its result, and returns how many
/// it has read.
#[inline(always)]
pub(super) fn read<const LOCKS: bool>(
    function: u32,
    registers: Registers,
    stream: usize,
    requested: u64,
    real: impl FnOnce(bool) -> usize,
    moved: impl FnOnce(usize) -> u64,
) -> usize {
    let Some((known, file)) = streams::opened(stream) else { return real(false) };
    // Functions without a lock are for programs that have it already, or need none.
    let _lock = LOCKS.then(|| file.lock());
    if file.has(requested) && known.can_count(READ) {
        let result = real(true);
        known.count(READ, moved(result));
        return result;
    }
    let before = file.look();
    let made = Made { function, registers, begin: now() };
    let result = real(true);
    let bytes = moved(result);
    if requested <= before.left && known.can_count(READ) {
        // Some of it was given back, and is read again from another buffer.
        known.count(READ, bytes);
    } else {
        record(made, (known, file), &before, Moved { mode: READ, requested, bytes });
    }
    result
}

/// Makes a call that reads something, at most so many bytes. `moved` gets its result and the buffer before and behind
/// it, and returns how many it has read.
#[inline(always)]
pub(super) fn scan<const LOCKS: bool>(
    function: u32,
    registers: Registers,
    (stream, most): (usize, u64),
    real: impl FnOnce(bool) -> usize,
    moved: impl FnOnce(usize, &Look, &Look) -> u64,
) -> usize {
    let Some((known, file)) = streams::opened(stream) else { return real(false) };
    let _lock = LOCKS.then(|| file.lock());
    let before = file.look();
    if most <= before.left && known.can_count(READ) {
        let result = real(true);
        known.count(READ, moved(result, &before, &file.look()));
        return result;
    }
    let made = Made { function, registers, begin: now() };
    let result = real(true);
    let after = file.look();
    let bytes = moved(result, &before, &after);
    if before.was_filled(&after) || !known.can_count(READ) {
        record(made, (known, file), &before, Moved { mode: READ, requested: bytes, bytes });
    } else {
        known.count(READ, bytes);
    }
    result
}
