//! Opening, duplicating and closing files.

use std::ffi::{CStr, c_char};

use call_paths::Registers;
use recording::attributes::{FILE_SIZE, UINT64};

use super::access::{Access, by_descriptor};
use super::choice::FileState;
use super::descriptors::{self, OpenFile};
use super::handles::Opening;
use super::locks::lock_range;
use super::paths::PathRoom;
use super::{keeping_errno, recorded_behind};
use crate::clock::now;
use crate::record;

/// OTF2's `IoCreationFlag` for flags of `open`.
const CREATION: [(i32, u64); 7] = [
    (libc::O_CREAT, 1),
    (libc::O_TRUNC, 2),
    (libc::O_DIRECTORY, 4),
    (libc::O_EXCL, 8),
    (libc::O_NOCTTY, 16),
    (libc::O_NOFOLLOW, 32),
    (libc::O_PATH, 64),
];
/// OTF2's flag for a file without a name. Its flag of `open` has that of directories in it.
const TEMPORARY: u64 = 128;

/// The bit that `O_SYNC` has besides `O_DSYNC`.
const SYNC_ONLY: i32 = libc::O_SYNC & !libc::O_DSYNC;

/// OTF2's `IoStatusFlag` for flags of `open`.
const STATUS: [(i32, u64); 8] = [
    (libc::O_CLOEXEC, 1),
    (libc::O_APPEND, 2),
    (libc::O_NONBLOCK, 4),
    (libc::O_ASYNC, 8),
    (SYNC_ONLY, 16),
    (libc::O_DSYNC, 32),
    (libc::O_DIRECT, 64),
    (libc::O_NOATIME, 128),
];

/// Returns OTF2's creation flags.
pub(crate) fn creation(flags: i32) -> u64 {
    let is_temporary = flags & libc::O_TMPFILE == libc::O_TMPFILE;
    let flags = if is_temporary { flags & !libc::O_DIRECTORY } else { flags };
    translated(&CREATION, flags) | if is_temporary { TEMPORARY } else { 0 }
}

/// Returns OTF2's status flags.
pub(crate) fn status(flags: i32) -> u64 {
    let is_sync = flags & SYNC_ONLY != 0;
    translated(&STATUS, if is_sync { flags & !libc::O_DSYNC } else { flags })
}

fn translated(table: &[(i32, u64)], flags: i32) -> u64 {
    table.iter().filter(|(flag, _)| flags & flag != 0).fold(0, |all, (_, flag)| all | flag)
}

/// Returns OTF2's mode of access.
pub(crate) fn mode(flags: i32) -> u8 {
    match flags & libc::O_ACCMODE {
        libc::O_RDONLY => 0,
        libc::O_WRONLY => 1,
        _ => 2,
    }
}

/// Makes a call that opens a file, with the flags of `open`.
#[inline(always)]
pub(super) fn open(
    function: u32,
    registers: Registers,
    path: usize,
    flags: i32,
    real: impl FnOnce() -> usize,
) -> usize {
    // SAFETY: the function has returned right now, and has read the path or found nothing at its address.
    recorded_behind(real, |begin, result| unsafe {
        opened((function, registers), begin, path, flags, result as i32);
    })
}

/// Returns the path that a function has got; `None` if it is at no address.
///
/// # Safety
/// The function has returned, `errno` is as it has left it, and unless that is `EFAULT` the path is a string.
pub(crate) unsafe fn read<'a>(path: usize) -> Option<&'a CStr> {
    // SAFETY: the C library has a place for each thread.
    let is_nowhere = path == 0 || unsafe { *libc::__errno_location() } == libc::EFAULT;
    // SAFETY: the caller guarantees it.
    if is_nowhere { None } else { Some(unsafe { CStr::from_ptr(path as *const c_char) }) }
}

/// Records that a file was opened, or could not be.
///
/// # Safety
/// As for [`read`].
#[inline(never)]
unsafe fn opened(
    (function, registers): (u32, Registers),
    begin: u64,
    path: usize,
    flags: i32,
    descriptor: i32,
) {
    let end = now();
    let Some(mut access) = Access::lock() else { return };
    let process = access.process();
    if descriptor < 0 {
        // Only the region is left of it (F11), if the file would have been recorded.
        // SAFETY: the caller guarantees the string.
        let path = unsafe { read(path) };
        if path.is_some_and(|path| !access.is_inner && process.posix.choice.admits(path.to_bytes())) {
            access.enter(registers, function, begin);
            access.end_at(end);
        }
        return;
    }
    // SAFETY: the function has succeeded, so it has got a string.
    let passed = unsafe { CStr::from_ptr(path as *const c_char) };
    let state = FileState::of_descriptor(descriptor);
    let recorded =
        state.and_then(|state| Some((handle(&access, passed, (descriptor, false), state)?, state.size)));
    let appends = flags & libc::O_APPEND != 0;
    let file = recorded.map(|(handle, _)| OpenFile { handle, appends, shares: false });
    let Some(before) = descriptors::set(descriptor, file) else { return };
    let Some((handle, size)) = recorded else {
        let time = end.max(begin);
        before.into_iter().for_each(|before| destroyed(&mut access, time, before));
        return;
    };
    access.enter(registers, function, begin);
    let end = access.end_at(end);
    before.into_iter().for_each(|before| destroyed(&mut access, end, before));
    let events = &mut access.thread().events;
    if appends {
        events.attributes(end, &[(FILE_SIZE, UINT64, size)]);
    }
    record::io_create_handle(events, end, handle.into(), mode(flags), creation(flags), status(flags));
}

/// Records that a file is not open any more, which was closed unseen (F12).
pub(crate) fn destroyed(access: &mut Access, time: u64, file: OpenFile) {
    record::io_destroy_handle(&mut access.thread().events, time, file.handle.into());
}

/// Returns the number of the handle of a file that has been opened by a path; `None` if it is not recorded.
/// For a stream it is the handle of that, which has the descriptor.
pub(crate) fn handle(
    access: &Access,
    passed: &CStr,
    (descriptor, is_stream): (i32, bool),
    state: FileState,
) -> Option<u32> {
    let parent = match access.is_inner.then(|| access.mpi_file()) {
        None => None,
        Some(Some(file)) if file.identity == Some(state.identity) => Some(file.handle),
        Some(_) => return None,
    };
    let process = access.process();
    process.posix.opening((passed.to_bytes(), state.identity), (descriptor, parent, is_stream), || {
        let mut room = PathRoom::new();
        let path = room.of_descriptor(descriptor)?;
        let is_recorded = parent.is_some() || process.posix.choice.admits(path);
        let is_directory = state.is_directory;
        let opening = Opening { path, descriptor, parent, is_directory, is_stream, was_open: None };
        if is_recorded { process.posix.handle(process, opening) } else { None }
    })
}

/// Makes a call of `close`.
#[inline(always)]
pub(super) fn close(
    function: u32,
    registers: Registers,
    descriptor: i32,
    real: impl FnOnce() -> usize,
) -> usize {
    if !super::is_on() || descriptors::find(descriptor).is_none() || is_foreign() {
        return real();
    }
    // Before the call: another thread may get the descriptor as soon as it is free.
    let closed = descriptors::set(descriptor, None).flatten();
    let (Some(closed), Some(mut access)) = (closed, Access::lock()) else { return real() };
    access.enter(registers, function, now());
    let result = real();
    let end = access.end_at(now());
    record::io_destroy_handle(&mut access.thread().events, end, closed.handle.into());
    keeping_errno(|| drop(access));
    result
}

/// Makes a call that closes all descriptors of a range; `false` for one that only marks them.
#[inline(always)]
pub(super) fn close_range(
    function: u32,
    registers: Registers,
    (first, last): (u32, u32),
    closes: bool,
    real: impl FnOnce() -> usize,
) -> usize {
    if !super::is_on() || !closes || is_foreign() {
        return real();
    }
    let Some(mut access) = Access::lock() else { return real() };
    access.enter(registers, function, now());
    // One that is refused has wrong arguments: there is nothing in such a range.
    let mut closed = Vec::new();
    descriptors::remove_all(first, last, |file| closed.push(file.handle));
    let result = real();
    let end = access.end_at(now());
    keeping_errno(|| {
        let events = &mut access.thread().events;
        closed.into_iter().for_each(|handle| record::io_destroy_handle(events, end, handle.into()));
        drop(access);
    });
    result
}

/// Makes a call that duplicates a descriptor, perhaps with `O_CLOEXEC`.
#[inline(always)]
pub(super) fn duplicate(
    function: u32,
    registers: Registers,
    descriptor: i32,
    flags: i32,
    real: impl FnOnce() -> usize,
) -> usize {
    recorded_behind(real, |begin, result| {
        duplicated((function, registers), begin, descriptor, flags, result as i32);
    })
}

/// Records that a descriptor was duplicated.
#[inline(never)]
fn duplicated((function, registers): (u32, Registers), begin: u64, from: i32, flags: i32, to: i32) {
    let end = now();
    // `dup2` may also have closed a file that is recorded, whatever takes its place.
    let (file, before) = (descriptors::find(from), descriptors::find(to));
    if to < 0 || to == from || (file.is_none() && before.is_none()) || is_foreign() {
        return;
    }
    let Some(mut access) = Access::lock() else { return };
    let process = access.process();
    let mut room = PathRoom::new();
    let path = file.and_then(|_| room.of_descriptor(to));
    let copy = file.zip(path).and_then(|(file, path)| {
        let is_directory = FileState::of_descriptor(to)?.is_directory;
        let opening =
            Opening { path, descriptor: to, parent: None, is_directory, is_stream: false, was_open: None };
        Some((file.handle, OpenFile { handle: process.posix.handle(process, opening)?, ..file }))
    });
    descriptors::set(to, copy.map(|(_, copy)| copy));
    access.enter(registers, function, begin);
    let end = access.end_at(end);
    let events = &mut access.thread().events;
    if let Some(before) = before {
        record::io_destroy_handle(events, end, before.handle.into());
    }
    if let Some((old, copy)) = copy {
        record::io_duplicate_handle(events, end, old.into(), copy.handle.into(), status(flags));
    }
}

/// Makes a call of `fcntl`. All commands pass; those that duplicate a descriptor, set its flags or lock
/// something are recorded.
#[inline(always)]
pub(super) fn control(
    function: u32,
    registers: Registers,
    (descriptor, command, argument): (i32, i32, usize),
    real: impl FnOnce() -> usize,
) -> usize {
    match command {
        libc::F_DUPFD => duplicate(function, registers, descriptor, 0, real),
        libc::F_DUPFD_CLOEXEC => duplicate(function, registers, descriptor, libc::O_CLOEXEC, real),
        libc::F_SETFL => by_descriptor(function, registers, descriptor, real, |access, file, result| {
            if result as i32 != 0 {
                return;
            }
            let flags = argument as i32;
            descriptors::set(descriptor, Some(OpenFile { appends: flags & libc::O_APPEND != 0, ..file }));
            let (_, end) = access.times();
            let events = &mut access.thread().events;
            record::io_change_status_flags(events, end, file.handle.into(), status(flags));
        }),
        libc::F_SETLK | libc::F_SETLKW | libc::F_OFD_SETLK | libc::F_OFD_SETLKW => {
            lock_range(function, registers, (descriptor, argument), real)
        }
        _ => real(),
    }
}

/// Whether this is a child that `vfork` has made: it shares the table with its parent, but not the descriptors
/// (io.md, 2.7, F6).
pub(super) fn is_foreign() -> bool {
    let own = crate::process::current().map(|process| process.id);
    own != Some(std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_of_open_have_their_numbers_in_otf2() {
        let flags =
            libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_SYNC | libc::O_CLOEXEC | libc::O_APPEND;
        assert_eq!((mode(flags), creation(flags), status(flags)), (2, 9, 1 | 2 | 16));
        assert_eq!((mode(libc::O_WRONLY), status(libc::O_DSYNC | libc::O_DIRECT)), (1, 32 | 64));
        assert_eq!((mode(0), creation(libc::O_TMPFILE), creation(libc::O_DIRECTORY)), (0, 128, 4));
    }
}
