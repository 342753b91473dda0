//! The functions that `libreplay_io.so` jumps to, but for those with variable arguments (`variadic`). Integers and
//! pointers travel in the same registers, as for [`posix`](crate::posix).

use std::ffi::{CStr, c_char};

use call_paths::Registers;
use recording::file_functions::number;

use super::layout::Look;
use super::opening::{Source, close, flags, input, open, output, reopen};
use super::positions::{Target, flush, seek};
use super::reading::{read, scan};
use super::writing::{print, write};
use crate::posix::exports::exports;

/// Bytes of a string at an address.
#[inline(always)]
fn length(string: usize) -> u64 {
    // SAFETY: the program passes it to a function that writes the string.
    unsafe { CStr::from_ptr(string as *const c_char) }.count_bytes() as u64
}

/// How many bytes a call has written that returns a byte, or -1: the one, or none.
#[inline(always)]
fn one(result: usize) -> u64 {
    u64::from(result as i32 != -1)
}

/// The same for a string and something behind it.
#[inline(always)]
fn all(bytes: u64) -> impl FnOnce(usize) -> u64 {
    move |result| if result as i32 == -1 { 0 } else { bytes }
}

/// The same for a call that returns the number of items.
#[inline(always)]
fn items(size: usize) -> impl FnOnce(usize) -> u64 {
    move |result| result.wrapping_mul(size) as u64
}

/// Bytes of some items; of no call that succeeds there are more than fit in memory.
#[inline(always)]
fn product(size: usize, count: usize) -> u64 {
    size.saturating_mul(count) as u64
}

/// Bytes of a line that was read to an address, which the function returns.
fn line(result: usize, before: &Look, after: &Look) -> u64 {
    if before.was_filled(after) && result != 0 { length(result) } else { before.taken(after) }
}

/// The same of a function that returns their number, or -1.
fn counted(result: usize, before: &Look, after: &Look) -> u64 {
    u64::try_from(result as isize).unwrap_or_else(|_| before.taken(after))
}

/// What a function has read that returns neither.
fn taken(_: usize, before: &Look, after: &Look) -> u64 {
    before.taken(after)
}

/// Writes a string and so many bytes behind it; its length is looked at only once the stream is found.
#[inline(always)]
fn put<const LOCKS: bool>(
    function: u32,
    registers: Registers,
    (string, more): (usize, u64),
    stream: usize,
    real: impl FnOnce(bool) -> usize,
) -> usize {
    let bytes = std::cell::Cell::new(0);
    let asked = || {
        bytes.set(length(string) + more);
        bytes.get()
    };
    write::<LOCKS>(function, registers, stream, asked, real, |result| all(bytes.get())(result))
}

/// Writes some items.
#[inline(always)]
fn put_items<const LOCKS: bool>(
    function: u32,
    registers: Registers,
    (size, count): (usize, usize),
    stream: usize,
    real: impl FnOnce(bool) -> usize,
) -> usize {
    write::<LOCKS>(function, registers, stream, || product(size, count), real, items(size))
}

/// Writes a byte.
#[inline(always)]
fn put_byte<const LOCKS: bool>(
    function: u32,
    registers: Registers,
    stream: usize,
    real: impl FnOnce(bool) -> usize,
) -> usize {
    write::<LOCKS>(function, registers, stream, || 1, real, one)
}

/// Reads some items.
#[inline(always)]
fn get_items<const LOCKS: bool>(
    function: u32,
    registers: Registers,
    (size, count): (usize, usize),
    stream: usize,
    real: impl FnOnce(bool) -> usize,
) -> usize {
    read::<LOCKS>(function, registers, stream, product(size, count), real, items(size))
}

/// Reads a byte.
#[inline(always)]
fn get_byte<const LOCKS: bool>(
    function: u32,
    registers: Registers,
    stream: usize,
    real: impl FnOnce(bool) -> usize,
) -> usize {
    read::<LOCKS>(function, registers, stream, 1, real, one)
}

/// Reads a line of less than `room` bytes.
#[inline(always)]
fn get_line<const LOCKS: bool>(
    function: u32,
    registers: Registers,
    room: usize,
    stream: usize,
    real: impl FnOnce(bool) -> usize,
) -> usize {
    let most = u64::try_from(room as i32 - 1).unwrap_or(0);
    scan::<LOCKS>(function, registers, (stream, most), real, line)
}

/// Reads up to a byte.
#[inline(always)]
fn get_any(function: u32, registers: Registers, stream: usize, real: impl FnOnce() -> usize) -> usize {
    scan::<true>(function, registers, (stream, u64::MAX), |_| real(), counted)
}

/// Reads by a format.
#[inline(always)]
fn get_format(function: u32, registers: Registers, stream: usize, real: impl FnOnce() -> usize) -> usize {
    scan::<true>(function, registers, (stream, u64::MAX), |_| real(), taken)
}

/// Flags of a file without a name.
const TEMPORARY: i32 = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_TMPFILE;

/// What `mode` stands for.
#[inline(always)]
fn by(mode: usize) -> impl FnOnce() -> i32 {
    // SAFETY: the program passes a string.
    move || unsafe { flags(mode) }
}

exports! {
    "fopen" (path, mode): open((Source::Path(path), by(mode)));
    "fopen64" (path, mode): open((Source::Path(path), by(mode)));
    "fdopen" (descriptor, mode): open((Source::Descriptor, by(mode)));
    "freopen" (path, mode, stream): reopen((path, mode, stream));
    "freopen64" (path, mode, stream): reopen((path, mode, stream));
    "tmpfile" (): open((Source::Nothing, || TEMPORARY));
    "tmpfile64" (): open((Source::Nothing, || TEMPORARY));
    "fclose" (stream): close(stream);
    "fseek" (stream, offset, whence): seek((stream, Target::Offset(offset as i64, whence as i32)));
    "fseeko" (stream, offset, whence): seek((stream, Target::Offset(offset as i64, whence as i32)));
    "fseeko64" (stream, offset, whence): seek((stream, Target::Offset(offset as i64, whence as i32)));
    "fsetpos" (stream, place): seek((stream, Target::Kept));
    "fsetpos64" (stream, place): seek((stream, Target::Kept));
    "rewind" (stream): seek((stream, Target::Begin));
    "fflush" (stream): flush::<true>(stream);
    "fflush_unlocked" (stream): flush::<false>(stream);
    "fwrite" or "fwrite_unlocked" (bytes, size, count, stream): put_items::<true>((size, count), stream);
    "fwrite_unlocked" or "fwrite_unlocked" (bytes, size, count, stream): put_items::<false>((size, count), stream);
    "fputs" or "fputs_unlocked" (string, stream): put::<true>((string, 0), stream);
    "fputs_unlocked" or "fputs_unlocked" (string, stream): put::<false>((string, 0), stream);
    "puts" or "puts" (string): put::<true>((string, 1), output());
    "fputc" or "fputc_unlocked" (byte, stream): put_byte::<true>(stream);
    "putc" or "putc_unlocked" (byte, stream): put_byte::<true>(stream);
    "_IO_putc" or "putc_unlocked" (byte, stream): put_byte::<true>(stream);
    "fputc_unlocked" or "fputc_unlocked" (byte, stream): put_byte::<false>(stream);
    "putc_unlocked" or "putc_unlocked" (byte, stream): put_byte::<false>(stream);
    "__overflow" or "__overflow" (stream, byte): put_byte::<false>(stream);
    "putchar" or "putchar_unlocked" (byte): put_byte::<true>(output());
    "putchar_unlocked" or "putchar_unlocked" (byte): put_byte::<false>(output());
    "vfprintf" (stream, format, list): print(stream);
    "vprintf" (format, list): print(output());
    "__vfprintf_chk" (stream, strictness, format, list): print(stream);
    "__vprintf_chk" (strictness, format, list): print(output());
    "fread" or "fread_unlocked" (bytes, size, count, stream): get_items::<true>((size, count), stream);
    "fread_unlocked" or "fread_unlocked" (bytes, size, count, stream): get_items::<false>((size, count), stream);
    "__fread_chk" or "__fread_unlocked_chk" (bytes, room, size, count, stream): get_items::<true>((size, count), stream);
    "__fread_unlocked_chk" or "__fread_unlocked_chk" (bytes, room, size, count, stream): get_items::<false>((size, count), stream);
    "fgets" or "fgets_unlocked" (line, room, stream): get_line::<true>(room, stream);
    "fgets_unlocked" or "fgets_unlocked" (line, room, stream): get_line::<false>(room, stream);
    "__fgets_chk" or "__fgets_unlocked_chk" (line, size, room, stream): get_line::<true>(room, stream);
    "__fgets_unlocked_chk" or "__fgets_unlocked_chk" (line, size, room, stream): get_line::<false>(room, stream);
    "fgetc" or "fgetc_unlocked" (stream): get_byte::<true>(stream);
    "getc" or "getc_unlocked" (stream): get_byte::<true>(stream);
    "_IO_getc" or "getc_unlocked" (stream): get_byte::<true>(stream);
    "fgetc_unlocked" or "fgetc_unlocked" (stream): get_byte::<false>(stream);
    "getc_unlocked" or "getc_unlocked" (stream): get_byte::<false>(stream);
    "__uflow" or "__uflow" (stream): get_byte::<false>(stream);
    "getchar" or "getchar_unlocked" (): get_byte::<true>(input());
    "getchar_unlocked" or "getchar_unlocked" (): get_byte::<false>(input());
    "getline" (line, room, stream): get_any(stream);
    "getdelim" (line, room, last, stream): get_any(stream);
    "__getdelim" (line, room, last, stream): get_any(stream);
    "vfscanf" (stream, format, list): get_format(stream);
    "vscanf" (format, list): get_format(input());
    "__isoc99_vfscanf" (stream, format, list): get_format(stream);
    "__isoc99_vscanf" (format, list): get_format(input());
    "__isoc23_vfscanf" (stream, format, list): get_format(stream);
    "__isoc23_vscanf" (format, list): get_format(input());
}
