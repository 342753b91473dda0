//! Calls that name files by their paths: what is recorded of them is the region, and which file, as an attribute of the
//! leave; a deletion has a record of its own (io.md, 2.5).
//!
//! Such calls come from everywhere, and most of a program's are for files that are not recorded: whether one is, is found
//! out before anything is locked or made. They are recorded behind the call, as nothing else can be recorded in them.

use std::ffi::{CStr, c_char};
use std::sync::atomic::Ordering;

use call_paths::Registers;
use recording::attributes::{FILE, FILE_SIZE, HANDLE, IO_FILE, IO_HANDLE, UINT64};

use super::access::{Access, by_descriptor};
use super::choice::FileState;
use super::handles::Kind;
use super::opening::{is_foreign, read};
use super::paths::PathRoom;
use super::{keeping_errno, recorded_behind};
use crate::clock::now;
use crate::inside::Guarded;
use crate::{process, record, thread};

/// The reference of POSIX among the paradigms of the archive.
const POSIX: u8 = 1;

/// A path that a call gets, at an address, relative to an open folder or with `AT_FDCWD` to the working directory.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) folder: i32,
    pub(super) path: usize,
}

/// What a call does with the file at a path.
#[derive(Clone, Copy)]
pub(super) enum Deed {
    /// It leaves it there, or at another place.
    Finds(Place),
    /// It sets its size.
    Resizes(u64),
    /// It reads, makes or removes a directory.
    Folder,
    /// It makes a link.
    Links,
    Deletes,
}

/// A call of a function, with the registers of its export.
#[derive(Clone, Copy)]
struct Made {
    function: u32,
    registers: Registers,
    begin: u64,
}

/// Makes a call that names a file and returns 0 if it succeeds.
#[inline(always)]
pub(super) fn name(
    function: u32,
    registers: Registers,
    place: Place,
    deed: Deed,
    real: impl FnOnce() -> usize,
) -> usize {
    recorded_behind(real, |begin, result| {
        let made = Made { function, registers, begin };
        // SAFETY: the function has returned right now, and has read the path or found nothing at its address.
        unsafe { named(made, place, deed, result as i32 == 0) };
    })
}

/// Makes a call that finds a file.
#[inline(always)]
pub(super) fn find(function: u32, registers: Registers, place: Place, real: impl FnOnce() -> usize) -> usize {
    name(function, registers, place, Deed::Finds(place), real)
}

/// The same with flags, with which the open folder may be meant itself.
#[inline(always)]
pub(super) fn find_with(
    function: u32,
    registers: Registers,
    place: Place,
    flags: i32,
    real: impl FnOnce() -> usize,
) -> usize {
    match flags & libc::AT_EMPTY_PATH {
        0 => find(function, registers, place, real),
        _ => inspect(function, registers, place.folder, real),
    }
}

/// Makes a call that tells something of an open file.
#[inline(always)]
pub(super) fn inspect(
    function: u32,
    registers: Registers,
    descriptor: i32,
    real: impl FnOnce() -> usize,
) -> usize {
    by_descriptor(function, registers, descriptor, real, |access, file, result| {
        if result as i32 == 0 {
            let (_, end) = access.times();
            let handle = (HANDLE, IO_HANDLE, file.handle.into());
            access.thread().events.attributes(end, &[handle]);
        }
    })
}

/// Makes a call that opens a directory, to read it.
#[inline(always)]
pub(super) fn open_folder(
    function: u32,
    registers: Registers,
    path: usize,
    real: impl FnOnce() -> usize,
) -> usize {
    let place = Place { folder: libc::AT_FDCWD, path };
    recorded_behind(real, |begin, stream| {
        let made = Made { function, registers, begin };
        // SAFETY: as for `name`.
        let folder = unsafe { named(made, place, Deed::Folder, stream != 0) };
        if let (Some(folder), Some(process)) = (folder, process::current()) {
            process.posix.folders.insert(stream, |number| number.store(folder, Ordering::Relaxed));
        }
    })
}

/// Makes a call that closes a directory.
#[inline(always)]
pub(super) fn close_folder(
    function: u32,
    registers: Registers,
    stream: usize,
    real: impl FnOnce() -> usize,
) -> usize {
    // Before the call: another thread may get the address as soon as it is free.
    let Some(folder) = take_folder(stream) else { return real() };
    let Some(mut access) = Access::lock() else { return real() };
    access.enter(registers, function, now());
    let result = real();
    keeping_errno(|| {
        let end = access.end_at(now());
        access.thread().events.attributes(end, &[(FILE, IO_FILE, folder.into())]);
        drop(access);
    });
    result
}

/// Returns the number of a directory that is about to be closed, if it is recorded.
#[inline]
fn take_folder(stream: usize) -> Option<u32> {
    let process = if super::is_on() { process::current()? } else { return None };
    process.posix.folders.find(stream).filter(|_| !is_foreign())?;
    process.posix.folders.remove(stream, |number| number.load(Ordering::Relaxed))
}

/// Records a call that has named a file; returns the number of that, if it is recorded and the call has succeeded.
///
/// # Safety
/// As for [`read`].
#[inline(never)]
unsafe fn named(made: Made, place: Place, deed: Deed, is_done: bool) -> Option<u32> {
    let end = now();
    let path = match is_done {
        // SAFETY: the function has succeeded, so it has got a string.
        true => unsafe { CStr::from_ptr(place.path as *const c_char) },
        // SAFETY: the caller guarantees it.
        false => unsafe { read(place.path)? },
    };
    let process = process::current()?;
    let mut room = PathRoom::new();
    let absolute = room.named(place.folder, path.to_bytes())?;
    let is_admitted = process.posix.choice.admits(absolute);
    // That is the end of most calls; a thread gets no location for them.
    let may_be_of_mpi = || thread::current().is_some_and(Guarded::admits_inner);
    if !(is_admitted || may_be_of_mpi()) || is_foreign() {
        return None;
    }
    let mut access = Access::lock()?;
    let is_recorded = if access.is_inner { is_of_mpi(&access, path, deed) } else { is_admitted };
    if !is_recorded {
        return None;
    }
    let kind = match deed {
        Deed::Finds(place) if is_done => {
            // SAFETY: the function has succeeded, so it has got a string here, too.
            Kind::At(place.folder, unsafe { CStr::from_ptr(place.path as *const c_char) })
        }
        Deed::Folder => Kind::Folder,
        _ => Kind::Plain,
    };
    let file = if is_done { Some(process.posix.named(process, absolute, &kind)?) } else { None };
    access.enter(made.registers, made.function, made.begin);
    let end = access.end_at(end);
    let events = &mut access.thread().events;
    // Of a call that has failed the region is left only (F11).
    let file = file?;
    let attribute = (FILE, IO_FILE, file.into());
    match deed {
        Deed::Deletes => record::io_delete_file(events, end, POSIX, file.into()),
        Deed::Resizes(size) => events.attributes(end, &[attribute, (FILE_SIZE, UINT64, size)]),
        Deed::Finds(_) | Deed::Folder | Deed::Links => events.attributes(end, &[attribute]),
    }
    Some(file)
}

/// Whether a path is that of the file for which MPI makes the call (F3). What MPI deletes has a record of MPI.
fn is_of_mpi(access: &Access, path: &CStr, deed: Deed) -> bool {
    let of_call = access.mpi_file().and_then(|file| file.identity);
    let is_there = || FileState::of_path(path).map(|state| state.identity);
    !matches!(deed, Deed::Deletes) && of_call.is_some() && of_call == is_there()
}
