//! Functions of the C library for files that the recorder records, if the user wants it (`REPLAY_IO`).
//!
//! A node of [`mod@crate::paths`] of the kind [`FILE_FUNCTION`](crate::paths::FILE_FUNCTION) has the position of a
//! function in [`FUNCTIONS`] as its target. `libreplay_io.so` exports all of these names.

use model::RegionRole;

/// A function of the C library.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileFunction {
    /// Its name.
    pub name: &'static str,
    /// Its role in OTF2 (`OTF2_RegionRole`).
    pub role: RegionRole,
    /// The source file of its region, as in Score-P's traces: [`POSIX`] or [`ISO_C`].
    pub source: &'static str,
}

/// The source file of functions of POSIX.
pub const POSIX: &str = "POSIX I/O";
/// The source file of functions of ISO C, which work on streams.
pub const ISO_C: &str = "ISO C I/O";

macro_rules! functions {
    ($($source:ident $role:ident: $($name:literal)*;)*) => {
        /// All functions, by number.
        pub const FUNCTIONS: &[FileFunction] = &[
            $($(FileFunction { name: $name, role: RegionRole::$role, source: $source },)*)*
        ];

        /// Their names, for lookup.
        pub const NAMES: &[&std::ffi::CStr] = &[
            $($(match std::ffi::CStr::from_bytes_with_nul(concat!($name, "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => panic!("a name with a NUL"),
            },)*)*
        ];
    };
}

functions! {
    POSIX FILE_IO_METADATA:
        "open" "open64" "openat" "openat64" "creat" "creat64"
        "__open_2" "__open64_2" "__openat_2" "__openat64_2"
        "mkstemp" "mkstemp64" "mkostemp" "mkostemp64" "mkstemps" "mkstemps64" "mkostemps" "mkostemps64"
        "close" "close_range" "closefrom" "dup" "dup2" "dup3" "fcntl" "fcntl64" "lseek" "lseek64"
        "ftruncate" "ftruncate64" "posix_fallocate" "posix_fallocate64" "fallocate" "fallocate64"
        "unlink" "unlinkat" "remove" "flock" "lockf" "lockf64"
        "stat" "stat64" "lstat" "lstat64" "fstat" "fstat64" "fstatat" "fstatat64" "statx"
        "__xstat" "__xstat64" "__lxstat" "__lxstat64" "__fxstat" "__fxstat64" "__fxstatat" "__fxstatat64"
        "access" "faccessat" "statfs" "statfs64" "statvfs" "statvfs64"
        "rename" "renameat" "renameat2" "mkdir" "mkdirat" "rmdir" "link" "symlink" "opendir" "closedir"
        "truncate" "truncate64" "mmap" "mmap64" "mremap" "munmap";
    POSIX FILE_IO:
        "read" "write" "pread" "pread64" "pwrite" "pwrite64" "readv" "writev"
        "preadv" "preadv64" "pwritev" "pwritev64" "preadv2" "preadv64v2" "pwritev2" "pwritev64v2"
        "__read_chk" "__pread_chk" "__pread64_chk"
        "sendfile" "sendfile64" "copy_file_range" "splice"
        "fsync" "fdatasync" "syncfs" "sync" "sync_file_range" "msync"
        "aio_read" "aio_read64" "aio_write" "aio_write64" "aio_fsync" "aio_fsync64" "lio_listio" "lio_listio64"
        "aio_error" "aio_error64" "aio_return" "aio_return64" "aio_cancel" "aio_cancel64" "aio_suspend" "aio_suspend64";
    ISO_C FILE_IO_METADATA:
        "fopen" "fopen64" "fdopen" "freopen" "freopen64" "tmpfile" "tmpfile64" "fclose"
        "fseek" "fseeko" "fseeko64" "fsetpos" "fsetpos64" "rewind";
    ISO_C FILE_IO:
        "fwrite" "fwrite_unlocked" "fputs" "fputs_unlocked" "puts"
        "fputc" "putc" "_IO_putc" "fputc_unlocked" "putc_unlocked" "putchar" "putchar_unlocked" "__overflow"
        "fprintf" "printf" "vfprintf" "vprintf"
        "__fprintf_chk" "__printf_chk" "__vfprintf_chk" "__vprintf_chk"
        "fread" "fread_unlocked" "__fread_chk" "__fread_unlocked_chk"
        "fgets" "fgets_unlocked" "__fgets_chk" "__fgets_unlocked_chk"
        "fgetc" "getc" "_IO_getc" "fgetc_unlocked" "getc_unlocked" "getchar" "getchar_unlocked" "__uflow"
        "getline" "getdelim" "__getdelim"
        "fscanf" "scanf" "vfscanf" "vscanf"
        "__isoc99_fscanf" "__isoc99_scanf" "__isoc99_vfscanf" "__isoc99_vscanf"
        "__isoc23_fscanf" "__isoc23_scanf" "__isoc23_vfscanf" "__isoc23_vscanf"
        "fflush" "fflush_unlocked";
}

/// Returns the number of the function of that name.
///
/// # Panics
/// If there is none.
pub const fn number(name: &str) -> u32 {
    let mut number = 0;
    while !are_equal(FUNCTIONS[number].name.as_bytes(), name.as_bytes()) {
        number += 1;
    }
    number as u32
}

const fn are_equal(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let mut at = 0;
    while at < one.len() {
        if one[at] != other[at] {
            return false;
        }
        at += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_by_their_names_and_have_each_once() {
        for (at, function) in FUNCTIONS.iter().enumerate() {
            assert_eq!(number(function.name) as usize, at);
            assert_eq!(NAMES[at].to_str(), Ok(function.name));
        }
    }
}
