//! The functions that `libreplay_io.so` jumps to. Integers and pointers travel in the same registers, so a function
//! need not know more of its parameters than their number. A mode that `open` gets only with some flags is in the
//! register of the third parameter, or something is that nobody reads (io.md, 2.7, F10); offsets have 64 bits with
//! all names on the supported processors.

use call_paths::Registers;
use recording::file_functions::number;

use super::locks::{lock_file, lock_rest};
use super::mappings::{map, remap, synchronize, unmap};
use super::metadata::{Deed, Place, close_folder, find, find_with, inspect, name, open_folder};
use super::opening::{close, close_range, control, duplicate, open};
use super::requests::{cancel, complete, issue, issue_all, suspend, test};
use super::transfers::{Bytes, Transfer, between, flush, flush_all, resize, seek, transfer};
use crate::hooks::transfers::{FLUSH, READ, WRITE};

/// Exports functions: `name(parameters): way(arguments)` for a function of a module that makes the call. The way gets
/// the number of the function, the registers of the export, and a closure that makes the call. If another function is
/// named behind `or`, which has the same parameters, the closure gets whether to call that one.
macro_rules! exports {
    ($($name:literal $(or $other:literal)? ($($a:ident),*): $way:ident$(::<$locks:literal>)?($($argument:expr),*);)*) => {
        $(const _: () = {
            #[unsafe(export_name = concat!("replay_io_", $name))]
            unsafe extern "C-unwind" fn exported($($a: usize),*) -> usize {
                const NUMBER: u32 = number($name);
                let registers = Registers::here();
                let real = exports!(@real NUMBER, $($other)?, ($($a),*));
                $way$(::<$locks>)?(NUMBER, registers, $($argument),*, real)
            }
        };)*
    };
    (@real $number:ident, , $arguments:tt) => {
        || exports!(@call $number, $arguments)
    };
    (@real $number:ident, $other:literal, $arguments:tt) => {
        |is_other: bool| {
            const OTHER: u32 = number($other);
            exports!(@call if is_other { OTHER } else { $number }, $arguments)
        }
    };
    (@call $number:expr, ($($a:ident),*)) => {{
        let address = $crate::posix::next::next($number);
        // SAFETY: the address is that of the function of this name, which has these parameters, all integers or
        // pointers, and an integer as result; the program's own call is passed on.
        unsafe {
            let real = std::mem::transmute::<
                usize,
                unsafe extern "C-unwind" fn($(exports!(@word $a)),*) -> usize,
            >(address);
            real($($a),*)
        }
    }};
    (@word $a:ident) => { usize };
}
pub(crate) use exports;

/// Flags of the functions that make a file with a new name.
const NEW: i32 = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL;
/// Flags of `creat`.
const CREATED: i32 = libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC;

/// Returns a transfer at the pointer of the file, or at an offset.
#[inline(always)]
fn plain(mode: u8, descriptor: usize, bytes: usize, offset: Option<usize>) -> Transfer {
    let offset = offset.map(|offset| offset as u64);
    Transfer { descriptor: descriptor as i32, mode, offset, bytes: Bytes::Plain(bytes) }
}

/// The same with an array of buffers. For `preadv2` and its like an offset of -1 means the pointer.
#[inline(always)]
fn vector(mode: u8, descriptor: usize, array: usize, length: usize, offset: Option<usize>) -> Transfer {
    let offset = offset.map(|offset| offset as u64).filter(|&offset| offset != u64::MAX);
    Transfer {
        descriptor: descriptor as i32,
        mode,
        offset,
        bytes: Bytes::Vector(array, length as u32 as usize),
    }
}

/// A path that is relative to an open folder.
#[inline(always)]
fn at(folder: usize, path: usize) -> Place {
    Place { folder: folder as i32, path }
}

/// A path that is relative to the working directory.
#[inline(always)]
fn here(path: usize) -> Place {
    Place { folder: libc::AT_FDCWD, path }
}

exports! {
    "open" (path, flags, mode): open(path, flags as i32);
    "open64" (path, flags, mode): open(path, flags as i32);
    "openat" (folder, path, flags, mode): open(path, flags as i32);
    "openat64" (folder, path, flags, mode): open(path, flags as i32);
    "creat" (path, mode): open(path, CREATED);
    "creat64" (path, mode): open(path, CREATED);
    "__open_2" (path, flags): open(path, flags as i32);
    "__open64_2" (path, flags): open(path, flags as i32);
    "__openat_2" (folder, path, flags): open(path, flags as i32);
    "__openat64_2" (folder, path, flags): open(path, flags as i32);
    "mkstemp" (template): open(template, NEW);
    "mkstemp64" (template): open(template, NEW);
    "mkostemp" (template, flags): open(template, NEW | flags as i32);
    "mkostemp64" (template, flags): open(template, NEW | flags as i32);
    "mkstemps" (template, length): open(template, NEW);
    "mkstemps64" (template, length): open(template, NEW);
    "mkostemps" (template, length, flags): open(template, NEW | flags as i32);
    "mkostemps64" (template, length, flags): open(template, NEW | flags as i32);
    "close" (descriptor): close(descriptor as i32);
    "close_range" (first, last, flags): close_range((first as u32, last as u32), flags as i32 == 0);
    "closefrom" (first): close_range((first as u32, u32::MAX), true);
    "dup" (descriptor): duplicate(descriptor as i32, 0);
    "dup2" (descriptor, copy): duplicate(descriptor as i32, 0);
    "dup3" (descriptor, copy, flags): duplicate(descriptor as i32, flags as i32);
    "fcntl" (descriptor, command, argument): control((descriptor as i32, command as i32, argument));
    "fcntl64" (descriptor, command, argument): control((descriptor as i32, command as i32, argument));
    "lseek" (descriptor, offset, whence): seek((descriptor as i32, offset as i64, whence as i32));
    "lseek64" (descriptor, offset, whence): seek((descriptor as i32, offset as i64, whence as i32));
    "ftruncate" (descriptor, size): resize((descriptor as i32, size as u64, true));
    "ftruncate64" (descriptor, size): resize((descriptor as i32, size as u64, true));
    "posix_fallocate" (descriptor, offset, length): resize((descriptor as i32, 0, false));
    "posix_fallocate64" (descriptor, offset, length): resize((descriptor as i32, 0, false));
    "fallocate" (descriptor, mode, offset, length): resize((descriptor as i32, 0, false));
    "fallocate64" (descriptor, mode, offset, length): resize((descriptor as i32, 0, false));
    "flock" (descriptor, operation): lock_file((descriptor as i32, operation as i32));
    "lockf" (descriptor, command, length): lock_rest((descriptor as i32, command as i32));
    "lockf64" (descriptor, command, length): lock_rest((descriptor as i32, command as i32));
    "unlink" (path): name(here(path), Deed::Deletes);
    "unlinkat" (folder, path, flags): name(at(folder, path), Deed::Deletes);
    "remove" (path): name(here(path), Deed::Deletes);
    "stat" (path, status): find(here(path));
    "stat64" (path, status): find(here(path));
    "lstat" (path, status): find(here(path));
    "lstat64" (path, status): find(here(path));
    "fstat" (descriptor, status): inspect(descriptor as i32);
    "fstat64" (descriptor, status): inspect(descriptor as i32);
    "fstatat" (folder, path, status, flags): find_with(at(folder, path), flags as i32);
    "fstatat64" (folder, path, status, flags): find_with(at(folder, path), flags as i32);
    "statx" (folder, path, flags, mask, status): find_with(at(folder, path), flags as i32);
    "__xstat" (version, path, status): find(here(path));
    "__xstat64" (version, path, status): find(here(path));
    "__lxstat" (version, path, status): find(here(path));
    "__lxstat64" (version, path, status): find(here(path));
    "__fxstat" (version, descriptor, status): inspect(descriptor as i32);
    "__fxstat64" (version, descriptor, status): inspect(descriptor as i32);
    "__fxstatat" (version, folder, path, status, flags): find_with(at(folder, path), flags as i32);
    "__fxstatat64" (version, folder, path, status, flags): find_with(at(folder, path), flags as i32);
    "access" (path, mode): find(here(path));
    "faccessat" (folder, path, mode, flags): find_with(at(folder, path), flags as i32);
    "statfs" (path, status): find(here(path));
    "statfs64" (path, status): find(here(path));
    "statvfs" (path, status): find(here(path));
    "statvfs64" (path, status): find(here(path));
    "rename" (from, to): name(here(from), Deed::Finds(here(to)));
    "renameat" (folder, from, other, to): name(at(folder, from), Deed::Finds(at(other, to)));
    "renameat2" (folder, from, other, to, flags): name(at(folder, from), Deed::Finds(at(other, to)));
    "mkdir" (path, mode): name(here(path), Deed::Folder);
    "mkdirat" (folder, path, mode): name(at(folder, path), Deed::Folder);
    "rmdir" (path): name(here(path), Deed::Folder);
    "link" (from, to): find(here(from));
    "symlink" (to, path): name(here(path), Deed::Links);
    "opendir" (path): open_folder(path);
    "closedir" (stream): close_folder(stream);
    "truncate" (path, size): name(here(path), Deed::Resizes(size as u64));
    "truncate64" (path, size): name(here(path), Deed::Resizes(size as u64));
    "read" (descriptor, buffer, bytes): transfer(plain(READ, descriptor, bytes, None));
    "write" (descriptor, buffer, bytes): transfer(plain(WRITE, descriptor, bytes, None));
    "pread" (descriptor, buffer, bytes, offset): transfer(plain(READ, descriptor, bytes, Some(offset)));
    "pread64" (descriptor, buffer, bytes, offset): transfer(plain(READ, descriptor, bytes, Some(offset)));
    "pwrite" (descriptor, buffer, bytes, offset): transfer(plain(WRITE, descriptor, bytes, Some(offset)));
    "pwrite64" (descriptor, buffer, bytes, offset): transfer(plain(WRITE, descriptor, bytes, Some(offset)));
    "readv" (descriptor, array, length): transfer(vector(READ, descriptor, array, length, None));
    "writev" (descriptor, array, length): transfer(vector(WRITE, descriptor, array, length, None));
    "preadv" (descriptor, array, length, offset): transfer(vector(READ, descriptor, array, length, Some(offset)));
    "preadv64" (descriptor, array, length, offset): transfer(vector(READ, descriptor, array, length, Some(offset)));
    "pwritev" (descriptor, array, length, offset): transfer(vector(WRITE, descriptor, array, length, Some(offset)));
    "pwritev64" (descriptor, array, length, offset): transfer(vector(WRITE, descriptor, array, length, Some(offset)));
    "preadv2" (descriptor, array, length, offset, flags): transfer(vector(READ, descriptor, array, length, Some(offset)));
    "preadv64v2" (descriptor, array, length, offset, flags): transfer(vector(READ, descriptor, array, length, Some(offset)));
    "pwritev2" (descriptor, array, length, offset, flags): transfer(vector(WRITE, descriptor, array, length, Some(offset)));
    "pwritev64v2" (descriptor, array, length, offset, flags): transfer(vector(WRITE, descriptor, array, length, Some(offset)));
    "__read_chk" (descriptor, buffer, bytes, room): transfer(plain(READ, descriptor, bytes, None));
    "__pread_chk" (descriptor, buffer, bytes, offset, room): transfer(plain(READ, descriptor, bytes, Some(offset)));
    "__pread64_chk" (descriptor, buffer, bytes, offset, room): transfer(plain(READ, descriptor, bytes, Some(offset)));
    "sendfile" (to, from, offset, bytes): between([(from as i32, offset), (to as i32, 0)], bytes);
    "sendfile64" (to, from, offset, bytes): between([(from as i32, offset), (to as i32, 0)], bytes);
    "copy_file_range" (from, offset, to, place, bytes, flags): between([(from as i32, offset), (to as i32, place)], bytes);
    "splice" (from, offset, to, place, bytes, flags): between([(from as i32, offset), (to as i32, place)], bytes);
    "fsync" (descriptor): flush(descriptor as i32);
    "fdatasync" (descriptor): flush(descriptor as i32);
    "syncfs" (descriptor): flush(descriptor as i32);
    "sync" (): flush_all(());
    "sync_file_range" (descriptor, offset, bytes, flags): flush(descriptor as i32);
    "msync" (address, length, flags): synchronize((address, length));
    "mmap" (address, length, access, flags, descriptor, offset): map((address, length, flags as i32, descriptor as i32));
    "mmap64" (address, length, access, flags, descriptor, offset): map((address, length, flags as i32, descriptor as i32));
    "mremap" (address, length, new, flags, place): remap((address, length), (new, flags as i32));
    "munmap" (address, length): unmap((address, length));
    "aio_read" (block): issue((block, READ));
    "aio_read64" (block): issue((block, READ));
    "aio_write" (block): issue((block, WRITE));
    "aio_write64" (block): issue((block, WRITE));
    "aio_fsync" (operation, block): issue((block, FLUSH));
    "aio_fsync64" (operation, block): issue((block, FLUSH));
    "lio_listio" (mode, list, count, notification): issue_all((mode as i32, list, count as i32));
    "lio_listio64" (mode, list, count, notification): issue_all((mode as i32, list, count as i32));
    "aio_error" (block): test(block);
    "aio_error64" (block): test(block);
    "aio_return" (block): complete(block);
    "aio_return64" (block): complete(block);
    "aio_cancel" (descriptor, block): cancel((descriptor as i32, block));
    "aio_cancel64" (descriptor, block): cancel((descriptor as i32, block));
    "aio_suspend" (list, count, time): suspend((list, count as i32));
    "aio_suspend64" (list, count, time): suspend((list, count as i32));
}
