//! Moving the pointers of streams, and writing out their buffers.
//!
//! Each move is recorded that succeeds, also within the buffer: without it, places of later transfers would be wrong.

use call_paths::Registers;
use recording::attributes::{FILE_SIZE, UINT64};

use super::layout::File;
use super::operations::{offset_of_appended, operation};
use super::streams::{self, Counted, Stream};
use crate::clock::now;
use crate::hooks::transfers::WRITE;
use crate::posix::access::Access;
use crate::posix::keeping_errno;
use crate::record;

/// Where a call moves a pointer to.
#[derive(Clone, Copy)]
pub(super) enum Target {
    /// To an offset, from a place (`whence`).
    Offset(i64, i32),
    /// To a place that the program has got before.
    Kept,
    /// To the beginning; the function has no result.
    Begin,
}

/// Makes a call that moves the pointer of a stream.
#[inline(always)]
pub(super) fn seek(
    function: u32,
    registers: Registers,
    (stream, target): (usize, Target),
    real: impl FnOnce() -> usize,
) -> usize {
    let Some((known, file)) = streams::opened(stream) else { return real() };
    let _lock = file.lock();
    let before = file.look();
    let begin = now();
    let result = real();
    let has_moved = matches!(target, Target::Begin) || result as i32 == 0;
    keeping_errno(|| {
        let end = now();
        let Some(position) = file.position().filter(|_| has_moved) else { return };
        // Nothing has been transferred since the last operation, and it stays there.
        let Some(mut access) = Access::lock() else { return };
        let counted = known.take_with(before.pending, before.left);
        settled(&mut access, (function, registers), (begin, end), (known, file), counted);
        let (_, end) = access.times();
        let handle = known.kept().handle.into();
        let events = &mut access.thread().events;
        match target {
            Target::Offset(offset, whence @ 0..=4) => {
                if whence == libc::SEEK_END {
                    events.attributes(end, &[(FILE_SIZE, UINT64, position.wrapping_sub(offset as u64))]);
                }
                record::io_seek(events, end, handle, offset as u64, whence as u8, position);
            }
            _ => record::io_seek(events, end, handle, position, 0, position),
        }
        drop(access);
    });
    result
}

/// Makes a call that writes out a stream, or all of them if there is none.
#[inline(always)]
pub(super) fn flush<const LOCKS: bool>(
    function: u32,
    registers: Registers,
    stream: usize,
    real: impl FnOnce() -> usize,
) -> usize {
    if stream == 0 {
        return flush_all(function, registers, real);
    }
    let Some((known, file)) = streams::opened(stream) else { return real() };
    let _lock = LOCKS.then(|| file.lock());
    let before = file.look();
    let begin = now();
    let result = real();
    keeping_errno(|| {
        let end = now();
        let Some(mut access) = Access::lock() else { return };
        let counted = known.take_with(before.pending, before.left);
        if !counted.is_none() {
            settled(&mut access, (function, registers), (begin, end), (known, file), counted);
        } else if before.pending > 0 {
            // All of it is in an operation already.
            access.enter(registers, function, begin);
            access.end_at(end);
            let after = file.look();
            known.settle(counted.mode, after.pending, after.left);
        }
        drop(access);
    });
    result
}

/// Enters the function, and records what was counted of the stream.
fn settled(
    access: &mut Access,
    (function, registers): (u32, Registers),
    (begin, end): (u64, u64),
    (stream, file): (&'static Stream, File),
    counted: Counted,
) {
    access.enter(registers, function, begin);
    access.end_at(end);
    let times = access.times();
    let kept = stream.kept();
    let after = file.look();
    let is_appended = kept.appends && counted.mode == WRITE && !counted.is_none();
    let offset = if is_appended { offset_of_appended(file, &after, counted.bytes) } else { None };
    operation(access.thread(), times, kept.handle, offset, (counted, 0));
    stream.settle(counted.mode, after.pending, after.left);
}

/// Records what was counted of all streams that were written to. The streams themselves are left alone, as other threads
/// may close them: bytes that these write meanwhile may be counted in the next operation or not at all.
#[cold]
fn flush_all(function: u32, registers: Registers, real: impl FnOnce() -> usize) -> usize {
    let begin = now();
    let result = real();
    keeping_errno(|| {
        let end = now();
        let mut has_some = false;
        streams::each(|stream| has_some |= stream.has_written());
        let Some(mut access) = Some(()).filter(|()| has_some).and_then(|()| Access::lock()) else { return };
        access.enter(registers, function, begin);
        access.end_at(end);
        let times = access.times();
        streams::each(|stream| {
            if stream.has_written() {
                let (kept, counted) = (stream.kept(), stream.take());
                operation(access.thread(), times, kept.handle, None, (counted, 0));
                stream.settle(WRITE, 0, 0);
            }
        });
        drop(access);
    });
    result
}
