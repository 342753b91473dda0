//! Reading, writing and what belongs to it.
//!
//! Only calls for descriptors that are in the table are looked at. A call holds the lock of the thread's data while
//! the system is at work: nothing else that is recorded can happen in the thread.

use call_paths::Registers;
use recording::attributes::{FILE_SIZE, HANDLE, IO_HANDLE, OFFSET, UINT64};

use super::access::{Access, by_descriptor};
use super::descriptors::{self, OpenFile};
use super::keeping_errno;
use crate::clock::now;
use crate::hooks::transfers::{FLUSH, READ, UNKNOWN, WRITE};
use crate::record;
use crate::thread::Thread;

/// A transfer by a descriptor.
#[derive(Clone, Copy)]
pub(super) struct Transfer {
    pub(super) descriptor: i32,
    /// `READ` or `WRITE`.
    pub(super) mode: u8,
    /// The offset that the program passes, in bytes; the file's own pointer stays then.
    pub(super) offset: Option<u64>,
    pub(super) bytes: Bytes,
}

/// The bytes that a transfer asks for.
#[derive(Clone, Copy)]
pub(super) enum Bytes {
    /// So many.
    Plain(usize),
    /// The sum of an array of `iovec`, at an address and so long.
    Vector(usize, usize),
}

impl Bytes {
    /// Returns their number.
    ///
    /// # Safety
    /// The system has accepted the array.
    unsafe fn count(self) -> u64 {
        match self {
            Bytes::Plain(bytes) => bytes as u64,
            Bytes::Vector(address, length) => (0..length).fold(0, |sum, at| {
                // SAFETY: the caller guarantees it: the array has such an element.
                sum + unsafe { (*(address as *const libc::iovec).add(at)).iov_len } as u64
            }),
        }
    }
}

/// Makes a call that transfers bytes.
#[inline(always)]
pub(super) fn transfer(
    function: u32,
    registers: Registers,
    transfer: Transfer,
    real: impl FnOnce() -> usize,
) -> usize {
    by_descriptor(function, registers, transfer.descriptor, real, |access, file, result| {
        transferred(access, file, transfer, result as isize);
    })
}

/// Records a transfer that has succeeded.
fn transferred(access: &mut Access, file: OpenFile, transfer: Transfer, result: isize) {
    let Ok(moved) = u64::try_from(result) else { return };
    let Transfer { descriptor, mode, mut offset, bytes } = transfer;
    if mode == WRITE && file.appends && offset.is_none() {
        // SAFETY: the descriptor is open; the pointer stays where it is.
        let end = unsafe { libc::lseek(descriptor, 0, libc::SEEK_CUR) };
        offset = u64::try_from(end).ok().and_then(|end| end.checked_sub(moved));
    }
    // SAFETY: the call has succeeded.
    let requested = unsafe { bytes.count() };
    let times = access.times();
    operation(access.thread(), times, file.handle, (mode, offset), (requested, moved));
}

/// Records an operation that took place between two times.
fn operation(
    thread: &mut Thread,
    (begin, end): (u64, u64),
    handle: u32,
    (mode, offset): (u8, Option<u64>),
    (requested, moved): (u64, u64),
) {
    let (number, handle) = (thread.next_request(), handle.into());
    let events = &mut thread.events;
    if let Some(offset) = offset {
        events.attributes(begin, &[(OFFSET, UINT64, offset)]);
    }
    record::io_begin(events, begin, handle, mode, 0, requested, number);
    record::io_complete(events, end, handle, moved, number);
}

/// Makes a call that moves bytes from one descriptor to another: a read and a write, of those that are recorded.
/// Offsets are addresses of offsets, or null.
#[inline(always)]
pub(super) fn between(
    function: u32,
    registers: Registers,
    [(from, from_offset), (to, to_offset)]: [(i32, usize); 2],
    bytes: usize,
    real: impl FnOnce() -> usize,
) -> usize {
    let ends = [(descriptors::find(from), READ, from_offset), (descriptors::find(to), WRITE, to_offset)];
    if ends.iter().all(|(file, ..)| file.is_none()) {
        return real();
    }
    let Some(mut access) = Access::lock() else { return real() };
    access.enter(registers, function, now());
    let result = real();
    access.end_at(now());
    keeping_errno(|| {
        let Ok(moved) = u64::try_from(result as isize) else { return drop(access) };
        let times = access.times();
        for (file, mode, place) in ends {
            let Some(file) = file else { continue };
            // SAFETY: the call has succeeded, so there is an offset, which it has moved behind the bytes.
            let behind = (place != 0).then(|| unsafe { *(place as *const i64) } as u64);
            let offset = behind.and_then(|behind| behind.checked_sub(moved));
            operation(access.thread(), times, file.handle, (mode, offset), (bytes as u64, moved));
        }
        drop(access);
    });
    result
}

/// Makes a call that moves the pointer of a file.
#[inline(always)]
pub(super) fn seek(
    function: u32,
    registers: Registers,
    (descriptor, offset, whence): (i32, i64, i32),
    real: impl FnOnce() -> usize,
) -> usize {
    by_descriptor(function, registers, descriptor, real, |access, file, result| {
        let (_, end) = access.times();
        // The five ways of moving it have OTF2's numbers.
        if let (Ok(position), 0..=4) = (u64::try_from(result as i64), whence) {
            let events = &mut access.thread().events;
            if whence == libc::SEEK_END {
                events.attributes(end, &[(FILE_SIZE, UINT64, position.wrapping_sub(offset as u64))]);
            }
            record::io_seek(events, end, file.handle.into(), offset as u64, whence as u8, position);
        }
    })
}

/// Makes a call that brings what was written to the device.
#[inline(always)]
pub(super) fn flush(
    function: u32,
    registers: Registers,
    descriptor: i32,
    real: impl FnOnce() -> usize,
) -> usize {
    by_descriptor(function, registers, descriptor, real, |access, file, result| {
        if result as i32 == 0 {
            flushed(access, file.handle);
        }
    })
}

/// Makes a call that brings what was written to all files to their devices; it cannot fail, and has no result. In calls of
/// MPI it is none for their file (io.md, 2.7, F3).
#[inline(always)]
pub(super) fn flush_all(function: u32, registers: Registers, (): (), real: impl FnOnce() -> usize) -> usize {
    let Some(mut access) = Access::lock().filter(|access| !access.is_inner) else { return real() };
    let process = access.process();
    access.enter(registers, function, now());
    let result = real();
    access.end_at(now());
    keeping_errno(|| {
        if let Some(handle) = process.posix.all(process) {
            flushed(&mut access, handle);
        }
        drop(access);
    });
    result
}

/// Records a flush that has succeeded.
pub(super) fn flushed(access: &mut Access, handle: u32) {
    let times = access.times();
    operation(access.thread(), times, handle, (FLUSH, None), (UNKNOWN, UNKNOWN));
}

/// Makes a call that sets the size of a file; `size` is what it has at least then, or exactly. There is no record of
/// that: which file and size are attributes of the leave.
#[inline(always)]
pub(super) fn resize(
    function: u32,
    registers: Registers,
    (descriptor, size, is_exact): (i32, u64, bool),
    real: impl FnOnce() -> usize,
) -> usize {
    by_descriptor(function, registers, descriptor, real, |access, file, result| {
        let (_, end) = access.times();
        let handle = (HANDLE, IO_HANDLE, file.handle.into());
        let size = match result as i32 {
            0 if is_exact => Some(size),
            0 => super::choice::FileState::of_descriptor(descriptor).map(|state| state.size),
            _ => None,
        };
        let events = &mut access.thread().events;
        match size {
            Some(size) => events.attributes(end, &[handle, (FILE_SIZE, UINT64, size)]),
            None => events.attributes(end, &[handle]),
        }
    })
}
