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
}

/// The source file of their regions, as in Score-P's traces.
pub const SOURCE: &str = "POSIX I/O";

macro_rules! functions {
    ($($role:ident: $($name:literal)*;)*) => {
        /// All functions, by number.
        pub const FUNCTIONS: &[FileFunction] = &[
            $($(FileFunction { name: $name, role: RegionRole::$role },)*)*
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
    FILE_IO_METADATA:
        "open" "open64" "openat" "openat64" "creat" "creat64"
        "__open_2" "__open64_2" "__openat_2" "__openat64_2"
        "mkstemp" "mkstemp64" "mkostemp" "mkostemp64" "mkstemps" "mkstemps64" "mkostemps" "mkostemps64"
        "close" "close_range" "closefrom" "dup" "dup2" "dup3" "fcntl" "fcntl64" "lseek" "lseek64"
        "ftruncate" "ftruncate64" "posix_fallocate" "posix_fallocate64" "fallocate" "fallocate64"
        "unlink" "unlinkat" "remove" "flock" "lockf" "lockf64";
    FILE_IO:
        "read" "write" "pread" "pread64" "pwrite" "pwrite64" "readv" "writev"
        "preadv" "preadv64" "pwritev" "pwritev64" "preadv2" "preadv64v2" "pwritev2" "pwritev64v2"
        "__read_chk" "__pread_chk" "__pread64_chk"
        "sendfile" "sendfile64" "copy_file_range" "splice"
        "fsync" "fdatasync" "syncfs" "sync_file_range";
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
