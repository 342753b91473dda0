//! Opening and closing streams.
//!
//! A stream that is opened by a path has a descriptor, which the program may use as well, as C++'s standard library does:
//! that is a handle of POSIX below the stream's. One that is made of a descriptor is below none (io.md, 2.1).

use std::ffi::{CStr, c_char};

use call_paths::Registers;
use recording::attributes::{FILE_SIZE, UINT64};

use super::layout::File;
use super::operations::operation;
use super::streams::{self, Counted, Kept};
use crate::clock::now;
use crate::hooks::transfers::WRITE;
use crate::posix::access::Access;
use crate::posix::choice::FileState;
use crate::posix::descriptors::{self, OpenFile};
use crate::posix::handles::Opening;
use crate::posix::paths::PathRoom;
use crate::posix::{is_on, keeping_errno, opening, recorded_behind};
use crate::process;
use crate::record;

/// What a stream is made of.
#[derive(Clone, Copy)]
pub(super) enum Source {
    /// A path, at that address.
    Path(usize),
    /// A descriptor that is open.
    Descriptor,
    /// A file without a name.
    Nothing,
}

/// Returns the flags of `open` that a mode of `fopen` stands for.
///
/// # Safety
/// There is a string at the address, or it is 0.
pub(super) unsafe fn flags(mode: usize) -> i32 {
    if mode == 0 {
        return 0;
    }
    // SAFETY: the caller guarantees the string.
    let mode = unsafe { CStr::from_ptr(mode as *const c_char) }.to_bytes();
    // What follows a comma names an encoding.
    let letters = mode.split(|&letter| letter == b',').next().unwrap_or_default();
    let has = |letter, flag| if letters.contains(&letter) { flag } else { 0 };
    let (one_way, flags) = match letters.first() {
        Some(b'w') => (libc::O_WRONLY, libc::O_CREAT | libc::O_TRUNC),
        Some(b'a') => (libc::O_WRONLY, libc::O_CREAT | libc::O_APPEND),
        _ => (libc::O_RDONLY, 0),
    };
    let way = if letters.contains(&b'+') { libc::O_RDWR } else { one_way };
    way | flags | has(b'x', libc::O_EXCL) | has(b'e', libc::O_CLOEXEC)
}

/// Makes a call that opens a stream, with these flags.
#[inline(always)]
pub(super) fn open(
    function: u32,
    registers: Registers,
    (source, flags): (Source, impl FnOnce() -> i32),
    real: impl FnOnce() -> usize,
) -> usize {
    recorded_behind(real, |begin, result| {
        // SAFETY: the function has read its path and its mode.
        unsafe { opened((function, registers), begin, (source, flags()), result, None) }
    })
}

/// A stream that was closed by the call that opens it again.
pub(super) struct Closed {
    kept: Kept,
    counted: Counted,
    /// Where that goes, if it is appended.
    offset: Option<u64>,
    /// What else is known by its descriptor.
    file: Option<OpenFile>,
}

/// Takes a stream out of the table, with what was counted of it, and its descriptor: whoever opens something may get
/// either as soon as it is closed. `None` if it is not recorded.
fn remove(stream: usize) -> Option<Closed> {
    let (known, file) = streams::opened(stream)?;
    let _lock = file.lock();
    let (look, kept) = (file.look(), known.kept());
    let counted = known.take_with(look.pending, look.left);
    streams::remove(stream);
    let descriptor = file.descriptor();
    // Of several that append to a file, the others may still be ahead.
    let end = (kept.appends && counted.mode == WRITE).then(|| FileState::of_descriptor(descriptor)).flatten();
    let offset = end.and_then(|state| (state.size + look.pending).checked_sub(counted.bytes));
    Some(Closed { kept, counted, offset, file: descriptors::set(descriptor, None).flatten() })
}

/// Records that a stream was opened, or could not be, and before that that it was closed.
///
/// # Safety
/// The function has returned, and what is named is a string.
#[inline(never)]
unsafe fn opened(
    (function, registers): (u32, Registers),
    begin: u64,
    (source, flags): (Source, i32),
    stream: usize,
    closed: Option<Closed>,
) {
    let end = now();
    let Some(mut access) = Access::lock() else {
        // Another stream may have been there, which was closed unseen.
        return streams::remove(stream);
    };
    let path = match source {
        // SAFETY: the caller guarantees it.
        Source::Path(path) => unsafe { opening::read(path) },
        _ => None,
    };
    if stream == 0 {
        let is_admitted = |path: &CStr| access.process().posix.choice.admits(path.to_bytes());
        if closed.is_some() || (!access.is_inner && path.is_some_and(is_admitted)) {
            access.enter(registers, function, begin);
            access.end_at(end);
            closed.into_iter().for_each(|closed| gone(&mut access, &closed));
        }
        return;
    }
    // SAFETY: it was opened right now.
    let file = unsafe { File::at(stream) };
    let descriptor = file.descriptor();
    let before = streams::find(stream).map(|known| known.kept().handle);
    streams::remove(stream);
    let appends = flags & libc::O_APPEND != 0;
    let state = FileState::of_descriptor(descriptor);
    let kept = state.and_then(|state| {
        let handle = handle(&access, path, descriptor, state)?;
        let kept = Kept { handle, appends };
        streams::insert(stream, kept, 0).then_some((kept, state))
    });
    // The descriptor of a stream that is made of one is known, or not, as it is.
    let below = match (kept, source) {
        (_, Source::Descriptor) => None,
        (kept, _) => {
            let file = kept.and_then(|(kept, _)| below(&access, kept, descriptor));
            Some((file, descriptors::set(descriptor, file).flatten()))
        }
    };
    if closed.is_none() && kept.is_none() && before.is_none() {
        return below.and_then(|(_, before)| before).into_iter().for_each(|before| {
            opening::destroyed(&mut access, end.max(begin), before);
        });
    }
    access.enter(registers, function, begin);
    let end = access.end_at(end);
    closed.into_iter().for_each(|closed| gone(&mut access, &closed));
    if let Some((_, Some(before))) = below {
        opening::destroyed(&mut access, end, before);
    }
    let events = &mut access.thread().events;
    // That was closed unseen (F12).
    before.into_iter().for_each(|before| record::io_destroy_handle(events, end, before.into()));
    let Some((kept, state)) = kept else { return };
    let handles = [Some(kept.handle), below.and_then(|(file, _)| file).map(|file| file.handle)];
    for handle in handles.into_iter().flatten() {
        if appends {
            events.attributes(end, &[(FILE_SIZE, UINT64, state.size)]);
        }
        let (mode, status) = (opening::mode(flags), opening::status(flags));
        record::io_create_handle(events, end, handle.into(), mode, opening::creation(flags), status);
    }
    if matches!(source, Source::Descriptor) && !appends {
        // SAFETY: the descriptor is open; the pointer stays where it is.
        let position = unsafe { libc::lseek(descriptor, 0, libc::SEEK_CUR) } as u64;
        if position > 0 {
            record::io_seek(events, end, kept.handle.into(), position, 0, position);
        }
    }
}

/// Returns the number of the handle of a stream with that descriptor, by the path that was passed, or none.
fn handle(access: &Access, passed: Option<&CStr>, descriptor: i32, state: FileState) -> Option<u32> {
    if let Some(passed) = passed {
        return opening::handle(access, passed, (descriptor, true), state);
    }
    let process = access.process();
    let mut room = PathRoom::new();
    let path = room.of_descriptor(descriptor)?;
    if access.is_inner || !process.posix.choice.admits(path) {
        return None;
    }
    let is_directory = state.is_directory;
    let opening = Opening { path, descriptor, parent: None, is_directory, is_stream: true, was_open: None };
    process.posix.handle(process, opening)
}

/// Returns the file of the descriptor below a stream.
fn below(access: &Access, kept: Kept, descriptor: i32) -> Option<OpenFile> {
    let process = access.process();
    let mut room = PathRoom::new();
    let path = room.of_descriptor(descriptor)?;
    let parent = Some(kept.handle);
    let is_directory = FileState::of_descriptor(descriptor)?.is_directory;
    let opening = Opening { path, descriptor, parent, is_directory, is_stream: false, was_open: None };
    let handle = process.posix.handle(process, opening)?;
    Some(OpenFile { handle, appends: kept.appends, shares: false })
}

/// Records that a stream is closed.
fn gone(access: &mut Access, closed: &Closed) {
    let Closed { kept, counted, offset, file } = closed;
    let (begin, end) = access.times();
    operation(access.thread(), (begin, end), kept.handle, *offset, (*counted, 0));
    let events = &mut access.thread().events;
    for handle in file.iter().map(|file| file.handle).chain([kept.handle]) {
        record::io_destroy_handle(events, end, handle.into());
    }
}

/// Makes a call that closes a stream.
#[inline(always)]
pub(super) fn close(
    function: u32,
    registers: Registers,
    stream: usize,
    real: impl FnOnce() -> usize,
) -> usize {
    if streams::find(stream).is_none() || process::is_forked() {
        return real();
    }
    closing(function, registers, stream, real)
}

fn closing(function: u32, registers: Registers, stream: usize, real: impl FnOnce() -> usize) -> usize {
    let (Some(closed), Some(mut access)) = (remove(stream), Access::lock()) else { return real() };
    access.enter(registers, function, now());
    let result = real();
    access.end_at(now());
    keeping_errno(|| {
        gone(&mut access, &closed);
        drop(access);
    });
    result
}

/// Makes a call that closes a stream and opens it again, with another path or with the same one.
#[inline(always)]
pub(super) fn reopen(
    function: u32,
    registers: Registers,
    (path, mode, stream): (usize, usize, usize),
    real: impl FnOnce() -> usize,
) -> usize {
    if !is_on() {
        return real();
    }
    let closed = remove(stream);
    let begin = now();
    let result = real();
    let source = if path == 0 { Source::Nothing } else { Source::Path(path) };
    keeping_errno(|| {
        // SAFETY: the function has read its path and its mode.
        unsafe { opened((function, registers), begin, (source, flags(mode)), result, closed) }
    });
    result
}

unsafe extern "C" {
    static stdin: usize;
    static stdout: usize;
}

/// The stream that functions without one write to.
#[inline(always)]
pub(super) fn output() -> usize {
    // SAFETY: the program may set it to another stream, in no other thread than those that use it then.
    unsafe { (&raw const stdout).read_volatile() }
}

/// The stream that functions without one read from.
#[inline(always)]
pub(super) fn input() -> usize {
    // SAFETY: as above.
    unsafe { (&raw const stdin).read_volatile() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_of_streams_have_their_flags() {
        // SAFETY: all are strings.
        let of = |mode: &CStr| unsafe { flags(mode.as_ptr() as usize) };
        assert_eq!(of(c"r"), libc::O_RDONLY);
        assert_eq!(of(c"rb+"), libc::O_RDWR);
        assert_eq!(of(c"w"), libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC);
        assert_eq!(of(c"wx"), libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC | libc::O_EXCL);
        assert_eq!(of(c"a+e"), libc::O_RDWR | libc::O_CREAT | libc::O_APPEND | libc::O_CLOEXEC);
        assert_eq!(of(c"r,ccs=UTF-8+"), libc::O_RDONLY);
    }
}
