//! Opening, closing and deleting files, and other operations on them (MPI 4.0, 14.2, 14.3, and 14.6).

use recording::attributes::{ACCESS_MODE, FILE, IO_HANDLE, UINT32, UINT64, VIEW};

use crate::call::Call;
use crate::files::{File, file_at};
use crate::hooks::transfers::{COLLECTIVE, FLUSH, UNKNOWN};
use crate::mpi::text_at;
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

/// `MPI_SEEK_SET`, `MPI_SEEK_CUR`, `MPI_SEEK_END`: ROMIO's as well. OTF2 counts them from 0.
const WHENCE: [usize; 3] = [600, 602, 604];

/// `MPI_File_open`: (communicator, path, mode, info, file).
pub(crate) fn open(
    call: &mut Call,
    arguments: Arguments<5>,
    real: impl FnOnce([usize; 5]) -> usize,
) -> usize {
    let process = call.thread.process;
    let [parent, path, mode, _, place] = arguments.values;
    // Members number their creations alike only if they count those that fail as well.
    let origin = process.communicators.next_child(parent);
    let result = real(arguments.values);
    let time = call.end();
    let Some((communicator, key)) = origin.filter(|_| result as i32 == 0) else { return result };
    // SAFETY: the call has succeeded, so it has set the handle.
    let handle = unsafe { file_at(place) };
    // SAFETY: the path is a string, which MPI has read.
    let path = unsafe { text_at(path) };
    let number = process.files.insert(process, handle, (communicator, key), path);
    let access = match mode {
        mode if mode & mode::RDONLY != 0 => 0,
        mode if mode & mode::WRONLY != 0 => 1,
        _ => 2,
    };
    let flags = |table: &[(usize, u64)]| {
        table.iter().filter(|(bit, _)| mode & bit != 0).fold(0, |flags, (_, flag)| flags | flag)
    };
    let events = &mut call.thread.events;
    events.attributes(time, &[(ACCESS_MODE, UINT32, mode as u32 as u64)]);
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
    if let Some(number) = closed {
        record::io_destroy_handle(&mut call.thread.events, time, number.into());
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
        let path = unsafe { text_at(arguments.values[0]) };
        let file = process.files.insert_deleted(process, path);
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

/// `MPI_File_set_view`: (file, displacement, type, type, representation, info). There is no record of views:
/// the displacement is an attribute of the leave record, which comes next.
pub(crate) fn set_view(
    call: &mut Call,
    arguments: Arguments<6>,
    real: impl FnOnce([usize; 6]) -> usize,
) -> usize {
    let known = call.thread.process.files.find(arguments.values[0]).map(File::number);
    let result = real(arguments.values);
    let time = call.end();
    if let Some(file) = known {
        let list = [(FILE, IO_HANDLE, file.into()), (VIEW, UINT64, arguments.values[1] as u64)];
        let length = if result as i32 == 0 { 2 } else { 1 };
        call.thread.events.attributes(time, &list[..length]);
    }
    result
}

/// `MPI_File_set_size`, `MPI_File_preallocate`: (file, size). All processes that have opened the file take
/// part; which one it is, is an attribute of the leave record.
pub(crate) fn set_size(
    call: &mut Call,
    arguments: Arguments<2>,
    real: impl FnOnce([usize; 2]) -> usize,
) -> usize {
    let known = call.thread.process.files.find(arguments.values[0]).map(File::number);
    let result = real(arguments.values);
    let time = call.end();
    if let Some(file) = known {
        call.thread.events.attributes(time, &[(FILE, IO_HANDLE, file.into())]);
    }
    result
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
        record::io_seek(&mut call.thread.events, time, file, offset as u64, option as u8, position);
    }
}
