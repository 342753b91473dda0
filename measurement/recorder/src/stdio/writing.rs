//! Writing to streams.
//!
//! A call of which the length is known is looked at before it: it reaches the system if the buffer has no room for it.
//! Of one that formats, the length is known behind it, so the time is taken in any case.

use call_paths::Registers;

use super::layout::{File, Look};
use super::operations::{Made, Moved, record};
use super::streams::{self, Stream};
use crate::clock::now;
use crate::hooks::transfers::WRITE;

/// Makes a call that writes so many bytes. `real` gets whether the stream's lock is held. `moved` gets its result, and returns how many it has written.
#[inline(always)]
pub(super) fn write<const LOCKS: bool>(
    function: u32,
    registers: Registers,
    stream: usize,
    bytes: impl FnOnce() -> u64,
    real: impl FnOnce(bool) -> usize,
    moved: impl FnOnce(usize) -> u64,
) -> usize {
    let Some((known, file)) = streams::opened(stream) else { return real(false) };
    // Functions without a lock are for programs that have it already, or need none.
    let _lock = LOCKS.then(|| file.lock());
    let requested = bytes();
    if file.takes(requested) && known.can_count(WRITE) {
        let result = real(true);
        known.count(WRITE, moved(result));
        return result;
    }
    let before = file.look();
    let made = Made { function, registers, begin: now() };
    let result = real(true);
    wrote(made, (known, file), &before, Moved { mode: WRITE, requested, bytes: moved(result) });
    result
}

/// Makes a call that formats: its result is the number of bytes, or negative.
#[inline(always)]
pub(super) fn print(
    function: u32,
    registers: Registers,
    stream: usize,
    real: impl FnOnce() -> usize,
) -> usize {
    let Some((known, file)) = streams::opened(stream) else { return real() };
    let _lock = file.lock();
    let before = file.look();
    let made = Made { function, registers, begin: now() };
    let result = real();
    let bytes = u64::try_from(result as i32).unwrap_or(0);
    if !before.overflows(bytes) && !before.is_eager() && known.can_count(WRITE) {
        known.count(WRITE, bytes);
        return result;
    }
    wrote(made, (known, file), &before, Moved { mode: WRITE, requested: bytes, bytes });
    result
}

/// Records a call that has written, or counts it if all of it is found in the buffer: of a stream that is written out line by
/// line, or that had no buffer yet.
fn wrote(made: Made, (stream, file): (&'static Stream, File), before: &Look, moved: Moved) {
    let is_held = file.look().pending == before.pending + moved.bytes;
    if is_held && moved.bytes == moved.requested && stream.can_count(WRITE) {
        stream.count(WRITE, moved.bytes);
    } else {
        record(made, (stream, file), before, moved);
    }
}
