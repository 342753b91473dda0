//! Opening, closing and deleting files, and other operations on them (MPI 4.0, 14.2, 14.3, and 14.6).

use std::ffi::{CStr, c_char};

use recording::attributes::{
    ACCESS_MODE, FILE_SIZE, HANDLE, HINTS, IO_HANDLE, STRING, UINT32, UINT64, VIEW, VIEW_ETYPE, VIEW_EXTENT,
    VIEW_PIECES, VIEW_SIZE, VIEW_TYPE,
};

use crate::call::Call;
use crate::files::{File, OpenedFile, absolute, file_at};
use crate::hooks::transfers::{COLLECTIVE, FLUSH, UNKNOWN};
use crate::record;
use crate::wrappers::Arguments;

/// The reference of MPI-IO among the paradigms of the archive.
const MPI_IO: u8 = 0;

/// `MPI_MODE_*`, the same in all libraries: they all have ROMIO's.
mod mode {
    pub(super) const CREATE: usize = 1;
    pub(super) const RDONLY: usize = 2;
    pub(super) const WRONLY: usize = 4;
    pub(super) const DELETE_ON_CLOSE: usize = 16;
    pub(super) const UNIQUE_OPEN: usize = 32;
    pub(super) const EXCL: usize = 64;
    pub(super) const APPEND: usize = 128;
    pub(super) const SEQUENTIAL: usize = 256;
}

/// OTF2's `IoCreationFlag` for bits of the access mode.
const CREATION: [(usize, u64); 4] =
    [(mode::CREATE, 1), (mode::EXCL, 8), (mode::SEQUENTIAL, 512), (mode::UNIQUE_OPEN, 1024)];

/// OTF2's `IoStatusFlag` for bits of the access mode.
const STATUS: [(usize, u64); 2] = [(mode::APPEND, 2), (mode::DELETE_ON_CLOSE, 256)];

/// An attribute of an event: number, type, value.
type Attribute = (u32, u8, u64);

/// `MPI_SEEK_SET`, `MPI_SEEK_CUR`, `MPI_SEEK_END`: ROMIO's as well. OTF2 counts them from 0.
const WHENCE: [usize; 3] = [600, 602, 604];

/// `MPI_File_open`: (communicator, path, mode, info, file).
pub(crate) fn open(
    call: &mut Call,
    arguments: Arguments<5>,
    real: impl FnOnce([usize; 5]) -> usize,
) -> usize {
    let process = call.thread.process;
    let [parent, path, mode, info, place] = arguments.values;
    // Members number their creations alike only if they count those that fail as well.
    let origin = process.communicators.next_child(parent);
    let number = process.files.next_handle();
    call.thread.opening = has_inner_calls().then_some((number, path as *const c_char));
    let result = real(arguments.values);
    call.thread.opening = None;
    let time = call.end();
    let Some((communicator, key)) = origin.filter(|_| result as i32 == 0) else { return result };
    // SAFETY: the call has succeeded, so it has set the handle.
    let handle = unsafe { file_at(place) };
    // SAFETY: the path is a string, which MPI has read.
    let path = unsafe { CStr::from_ptr(path as *const c_char) };
    let opened = OpenedFile {
        path: canonical(path),
        is_deleted_on_close: mode & mode::DELETE_ON_CLOSE != 0,
        identity: identity(path),
    };
    process.files.insert(process, (handle, number), (communicator, key), opened);
    let access = match mode {
        mode if mode & mode::RDONLY != 0 => 0,
        mode if mode & mode::WRONLY != 0 => 1,
        _ => 2,
    };
    let flags = |table: &[(usize, u64)]| {
        table.iter().filter(|(bit, _)| mode & bit != 0).fold(0, |flags, (_, flag)| flags | flag)
    };
    let mut list = vec![(ACCESS_MODE, UINT32, mode as u32 as u64)];
    list.extend(hints(call, handle, info));
    if mode & mode::APPEND != 0 {
        list.extend(size(call, handle));
    }
    let events = &mut call.thread.events;
    events.attributes(time, &list);
    record::io_create_handle(events, time, number.into(), access, flags(&CREATION), flags(&STATUS));
    result
}

/// `MPI_File_close`: (file).
pub(crate) fn close(
    call: &mut Call,
    arguments: Arguments<1>,
    real: impl FnOnce([usize; 1]) -> usize,
) -> usize {
    // SAFETY: the program passes the address of its handle.
    let handle = unsafe { file_at(arguments.values[0]) };
    // Before the call: another thread may get the handle for a new file as soon as it is free.
    let closed = call.thread.process.files.remove(handle);
    let result = real(arguments.values);
    let time = call.end();
    if let Some((number, deleted)) = closed {
        let events = &mut call.thread.events;
        record::io_destroy_handle(events, time, number.into());
        if let Some(file) = deleted.filter(|_| result as i32 == 0) {
            record::io_delete_file(events, time, MPI_IO, file.into());
        }
    }
    result
}

/// `MPI_File_delete`: (path, info).
pub(crate) fn delete(
    call: &mut Call,
    arguments: Arguments<2>,
    real: impl FnOnce([usize; 2]) -> usize,
) -> usize {
    let process = call.thread.process;
    let result = real(arguments.values);
    let time = call.end();
    if result as i32 == 0 {
        // SAFETY: the path is a string, which MPI has read.
        let path = unsafe { CStr::from_ptr(arguments.values[0] as *const c_char) };
        let file = process.files.insert_deleted(process, absolute(path));
        record::io_delete_file(&mut call.thread.events, time, MPI_IO, file.into());
    }
    result
}

/// `MPI_File_seek`: (file, offset, whence).
pub(crate) fn seek(
    call: &mut Call,
    arguments: Arguments<3>,
    real: impl FnOnce([usize; 3]) -> usize,
) -> usize {
    let result = real(arguments.values);
    call.end();
    let files = &call.thread.process.files;
    record_seek(call, &arguments, result, || files.position(arguments.values[0]));
    result
}

/// `MPI_File_seek_shared`: parameters as for `MPI_File_seek`. The new position of the pointer is known if it
/// is relative to the start of the file; otherwise it is not recorded, as getting it is not a local
/// operation.
pub(crate) fn seek_shared(
    call: &mut Call,
    arguments: Arguments<3>,
    real: impl FnOnce([usize; 3]) -> usize,
) -> usize {
    let result = real(arguments.values);
    call.end();
    let [_, offset, whence] = arguments.values;
    record_seek(call, &arguments, result, || (whence == WHENCE[0]).then_some(offset as u64));
    result
}

/// `MPI_File_set_view`: (file, displacement, etype, filetype, representation, info). There is no record of
/// views: they are attributes of the leave record, which comes next.
pub(crate) fn set_view(
    call: &mut Call,
    arguments: Arguments<6>,
    real: impl FnOnce([usize; 6]) -> usize,
) -> usize {
    let [file, displacement, etype, filetype, _, info] = arguments.values;
    describe(call, arguments, real, |call, list| {
        list.push((VIEW, UINT64, displacement as u64));
        view_types(call, etype, filetype, list);
        list.extend(hints(call, file, info));
    })
}

/// `MPI_File_set_size`: (file, size).
pub(crate) fn set_size(
    call: &mut Call,
    arguments: Arguments<2>,
    real: impl FnOnce([usize; 2]) -> usize,
) -> usize {
    let [_, size] = arguments.values;
    describe(call, arguments, real, |_, list| list.push((FILE_SIZE, UINT64, size as u64)))
}

/// `MPI_File_preallocate`: (file, size). A file that is larger already stays so.
pub(crate) fn preallocate(
    call: &mut Call,
    arguments: Arguments<2>,
    real: impl FnOnce([usize; 2]) -> usize,
) -> usize {
    let [file, _] = arguments.values;
    describe(call, arguments, real, |call, list| list.extend(size(call, file)))
}

/// `MPI_File_set_info`: (file, info).
pub(crate) fn set_info(
    call: &mut Call,
    arguments: Arguments<2>,
    real: impl FnOnce([usize; 2]) -> usize,
) -> usize {
    let [file, info] = arguments.values;
    describe(call, arguments, real, |call, list| list.extend(hints(call, file, info)))
}

/// `MPI_File_set_atomicity`: (file, flag).
pub(crate) fn set_atomicity(
    call: &mut Call,
    arguments: Arguments<2>,
    real: impl FnOnce([usize; 2]) -> usize,
) -> usize {
    describe(call, arguments, real, |_, _| ())
}

/// Whether calls of the C library that MPI makes for a file are recorded.
#[inline]
pub(crate) fn has_inner_calls() -> bool {
    #[cfg(posix)]
    return crate::posix::is_on();
    #[cfg(not(posix))]
    false
}

/// Returns the path of a file that MPI has opened: the one that the C library's files have, if these are recorded,
/// so that both are one file.
fn canonical(path: &CStr) -> String {
    let path = absolute(path);
    let links = if has_inner_calls() { std::fs::canonicalize(&path).ok() } else { None };
    links.map_or(path, |path| path.to_string_lossy().into_owned())
}

/// Returns device and number of a file that MPI has opened, if anybody asks for them.
fn identity(path: &CStr) -> Option<(u64, u64)> {
    #[cfg(posix)]
    return if has_inner_calls() { crate::posix::inner::identity(path) } else { None };
    #[cfg(not(posix))]
    {
        let _ = path;
        None
    }
}

/// Makes a collective call on a file, the first argument, that has no record of its own: the file is an
/// attribute of the leave, and `more` adds others if the call has succeeded.
fn describe<const N: usize>(
    call: &mut Call,
    arguments: Arguments<N>,
    real: impl FnOnce([usize; N]) -> usize,
    more: impl FnOnce(&Call, &mut Vec<Attribute>),
) -> usize {
    let known = call.thread.process.files.find(arguments.values[0]).map(File::number);
    let result = real(arguments.values);
    let time = call.end();
    if let Some(file) = known
        && !call.thread.events.is_muted()
    {
        let mut list = vec![(HANDLE, IO_HANDLE, file.into())];
        if result as i32 == 0 {
            more(call, &mut list);
        }
        call.thread.events.attributes(time, &list);
    }
    result
}

/// Adds the types of a view that has been set.
fn view_types(call: &Call, etype: usize, filetype: usize, list: &mut Vec<Attribute>) {
    let process = call.thread.process;
    let Some(datatypes) = &process.files.datatypes else { return };
    let (_, extent) = datatypes.bounds(filetype);
    let mut add = |attribute, value| list.push((attribute, UINT64, value));
    add(VIEW_ETYPE, process.mpi.bytes(1, etype));
    add(VIEW_SIZE, process.mpi.bytes(1, filetype));
    add(VIEW_EXTENT, extent as u64);
    let Some(shape) = datatypes.shape(&process.mpi, filetype) else { return };
    if let Some(layout) = shape.layout() {
        add(VIEW_PIECES, layout.pieces as u64);
    }
    if let Some(string) = process.texts.number(process, &shape.to_string()) {
        list.push((VIEW_TYPE, STRING, string.into()));
    }
}

/// Returns the hints of an open file as an attribute, if the call has got an `info` with some.
fn hints(call: &Call, file: usize, info: usize) -> Option<Attribute> {
    let process = call.thread.process;
    let text = process.files.hints.as_ref()?.text(file, info)?;
    Some((HINTS, STRING, process.texts.number(process, &text)?.into()))
}

/// Returns the size of an open file as an attribute.
fn size(call: &Call, file: usize) -> Option<Attribute> {
    Some((FILE_SIZE, UINT64, call.thread.process.files.size(file)?))
}

/// `MPI_File_sync`: (file).
pub(crate) fn sync(
    call: &mut Call,
    arguments: Arguments<1>,
    real: impl FnOnce([usize; 1]) -> usize,
) -> usize {
    let known = call.thread.process.files.find(arguments.values[0]).map(|file| u64::from(file.number()));
    let Some(file) = known else { return real(arguments.values) };
    let number = call.thread.next_request();
    let begin = call.begin();
    record::io_begin(&mut call.thread.events, begin, file, FLUSH, COLLECTIVE, UNKNOWN, number);
    let result = real(arguments.values);
    let time = call.end();
    record::io_complete(&mut call.thread.events, time, file, UNKNOWN, number);
    result
}

/// Records that a file pointer has been moved.
fn record_seek(
    call: &mut Call,
    arguments: &Arguments<3>,
    result: usize,
    position: impl FnOnce() -> Option<u64>,
) {
    let [file, offset, whence] = arguments.values;
    let known = call.thread.process.files.find(file).map(|file| u64::from(file.number()));
    let option = WHENCE.iter().position(|&known| known == whence);
    if let (Some(file), Some(option), 0) = (known, option, result as i32) {
        let time = call.end();
        let position = position().unwrap_or(UNKNOWN);
        let is_from_end = whence == WHENCE[2];
        let size = if is_from_end { size(call, arguments.values[0]) } else { None };
        let events = &mut call.thread.events;
        if let Some(size) = size {
            events.attributes(time, &[size]);
        }
        record::io_seek(events, time, file, offset as u64, option as u8, position);
    }
}
