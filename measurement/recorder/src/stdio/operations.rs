//! What is recorded of a call that reaches the system: an operation, which also stands for the calls before that were
//! only counted.
//!
//! An operation that writes has what has gone to the system with the call, not what the call has put into the buffer: so it begins
//! and ends where the C library's own writes do. One that reads has what the program has taken, as nobody knows how much of what is
//! in the buffer it will take.

use call_paths::Registers;
use recording::attributes::{CALLS, OFFSET, UINT64};

use super::layout::{File, Look};
use super::streams::{self, Counted, Stream};
use crate::clock::now;
use crate::hooks::transfers::WRITE;
use crate::posix::access::Access;
use crate::posix::choice::FileState;
use crate::posix::keeping_errno;
use crate::record;
use crate::thread::Thread;

/// A call that was made.
#[derive(Clone, Copy)]
pub(super) struct Made {
    pub(super) function: u32,
    /// Those of its export.
    pub(super) registers: Registers,
    pub(super) begin: u64,
}

/// What a call has moved.
#[derive(Clone, Copy)]
pub(super) struct Moved {
    /// `READ` or `WRITE`.
    pub(super) mode: u8,
    pub(super) requested: u64,
    pub(super) bytes: u64,
}

/// Records a call that has moved bytes and reached the system. `before` is what the buffer looked like in front of it.
#[inline(never)]
pub(super) fn record(made: Made, (stream, file): (&'static Stream, File), before: &Look, moved: Moved) {
    let end = now();
    keeping_errno(|| {
        let Some(mut access) = Access::lock() else {
            // The next one that is recorded stands for it.
            return stream.count_unrecorded(moved.mode, moved.bytes);
        };
        access.enter(made.registers, made.function, made.begin);
        let end = access.end_at(end);
        let (begin, _) = access.times();
        let kept = stream.kept();
        let mut counted = stream.take_with(before.pending, before.left);
        if counted.mode != moved.mode {
            // The other direction: that is over.
            operation(access.thread(), (begin, begin), kept.handle, None, (counted, 0));
            counted = Counted { mode: moved.mode, calls: 0, bytes: 0 };
        }
        let after = file.look();
        let is_written = moved.mode == WRITE;
        let (gone, held) = counted.split(moved.bytes, if is_written { after.pending } else { 0 });
        let offset = match kept.appends && is_written {
            true => offset_of_appended(file, &after, gone.bytes + held.bytes),
            false => None,
        };
        let missing = moved.requested.saturating_sub(moved.bytes);
        operation(access.thread(), (begin, end), kept.handle, offset, (gone, missing));
        match is_written {
            true => stream.settle_held(held, after.pending),
            false => stream.settle(moved.mode, after.pending, after.left),
        }
    });
}

/// Returns where bytes went that were appended: the last of them are in the buffer still.
pub(super) fn offset_of_appended(file: File, after: &Look, bytes: u64) -> Option<u64> {
    let descriptor = file.descriptor();
    if after.pending >= bytes {
        // Nothing of it has been written yet. Of several that append to a file, others may still be ahead.
        return (FileState::of_descriptor(descriptor)?.size + after.pending).checked_sub(bytes);
    }
    // SAFETY: the descriptor is open; the pointer stays where it is.
    let written = unsafe { libc::lseek(descriptor, 0, libc::SEEK_CUR) };
    (u64::try_from(written).ok()? + after.pending).checked_sub(bytes)
}

/// Records an operation of some calls between two times, if there are any. So many bytes are missing of those that
/// were asked for.
pub(super) fn operation(
    thread: &mut Thread,
    (begin, end): (u64, u64),
    handle: u32,
    offset: Option<u64>,
    (counted, missing): (Counted, u64),
) {
    if counted.is_none() {
        return;
    }
    let Counted { mode, calls, bytes } = counted;
    let number = thread.next_request();
    let events = &mut thread.events;
    let attributes = [(CALLS, UINT64, calls), (OFFSET, UINT64, offset.unwrap_or(0))];
    events.attributes(begin, &attributes[..if offset.is_some() { 2 } else { 1 }]);
    record::io_begin(events, begin, handle.into(), mode, 0, bytes + missing, number);
    record::io_complete(events, end, handle.into(), bytes, number);
}

/// Records what was counted of all streams, at the end of the recording: nothing more will be seen of it. The streams
/// themselves are left alone, as other threads may close them.
pub(super) fn settle_all(thread: &mut Thread) {
    if !crate::posix::is_on() {
        return;
    }
    let time = now();
    streams::each(|stream| {
        operation(thread, (time, time), stream.kept().handle, None, (stream.take(), 0));
    });
    streams::clear();
}
