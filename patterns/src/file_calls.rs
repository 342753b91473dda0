//! What calls for files do, by their names: calls of MPI (MPI 4.1, chapter 14), and functions of the C library, which recorders mark by
//! their role (io 2.5, 2.6).

use model::mpi::Class;
use model::{Region, RegionRole};

use crate::regions::mpi;

/// What a call for files does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FileCall {
    Read,
    Write,
    /// Reads from one file and writes to another one.
    Copy,
    Sync,
    Open,
    Close,
    Stat,
    Seek,
    Lock,
    Other,
}

/// Whether a region is a function of the C library for files.
pub(crate) fn is_of_library(region: &Region) -> bool {
    !mpi(region) && matches!(region.role, RegionRole::FILE_IO | RegionRole::FILE_IO_METADATA)
}

/// What a region does with files; `None` if it is no call for files.
pub(crate) fn file_call(region: &Region) -> Option<FileCall> {
    if is_of_library(region) {
        return Some(named(&region.name));
    }
    let class = if mpi(region) { model::mpi::class(&region.name) } else { Class::Other };
    let is_for_files = matches!(
        class,
        Class::FileRead
            | Class::FileWrite
            | Class::FileReadTogether
            | Class::FileWriteTogether
            | Class::FileAlone
            | Class::FileTogether
    );
    // Of an operation in two calls the first one counts.
    let name = model::mpi::plain(&region.name);
    is_for_files.then(|| if name.ends_with("_end") { FileCall::Other } else { named(&name) })
}

/// Parts of names. Where several fit, the first one says what the call does.
const PARTS: [(&str, FileCall); 34] = [
    ("dir", FileCall::Other),
    ("view", FileCall::Other),
    ("copy_file_range", FileCall::Copy),
    ("sendfile", FileCall::Copy),
    ("splice", FileCall::Copy),
    ("sync", FileCall::Sync),
    ("fflush", FileCall::Sync),
    ("readlink", FileCall::Other),
    ("read", FileCall::Read),
    ("gets", FileCall::Read),
    ("getc", FileCall::Read),
    ("getchar", FileCall::Read),
    ("getline", FileCall::Read),
    ("getdelim", FileCall::Read),
    ("scanf", FileCall::Read),
    ("uflow", FileCall::Read),
    ("write", FileCall::Write),
    ("puts", FileCall::Write),
    ("putc", FileCall::Write),
    ("putchar", FileCall::Write),
    ("printf", FileCall::Write),
    ("overflow", FileCall::Write),
    ("open", FileCall::Open),
    ("creat", FileCall::Open),
    ("mkstemp", FileCall::Open),
    ("mkostemp", FileCall::Open),
    ("tmpfile", FileCall::Open),
    ("close", FileCall::Close),
    ("stat", FileCall::Stat),
    ("access", FileCall::Stat),
    ("seek", FileCall::Seek),
    ("rewind", FileCall::Seek),
    ("setpos", FileCall::Seek),
    ("lock", FileCall::Lock),
];

fn named(name: &str) -> FileCall {
    PARTS.iter().find(|(part, _)| name.contains(part)).map_or(FileCall::Other, |&(_, call)| call)
}

#[cfg(test)]
mod tests {
    use model::Paradigm;

    use super::*;

    #[test]
    fn functions_of_the_library_do_what_their_names_say() {
        let of = |name: &str, role| file_call(&Region { name: name.into(), role, ..Region::default() });
        for (name, call) in [
            ("pread64", FileCall::Read),
            ("__fgets_chk", FileCall::Read),
            ("aio_fsync", FileCall::Sync),
            ("sync_file_range", FileCall::Sync),
            ("copy_file_range", FileCall::Copy),
            ("vfprintf", FileCall::Write),
            ("fputs_unlocked", FileCall::Write),
            ("aio_read64", FileCall::Read),
            ("aio_write", FileCall::Write),
            ("aio_return", FileCall::Other),
            ("lio_listio", FileCall::Other),
            ("msync", FileCall::Sync),
        ] {
            assert_eq!(of(name, RegionRole::FILE_IO), Some(call), "{name}");
        }
        for (name, call) in [
            ("__openat64_2", FileCall::Open),
            ("opendir", FileCall::Other),
            ("freopen", FileCall::Open),
            ("close_range", FileCall::Close),
            ("faccessat", FileCall::Stat),
            ("__fxstatat64", FileCall::Stat),
            ("statvfs", FileCall::Stat),
            ("closedir", FileCall::Other),
            ("renameat2", FileCall::Other),
            ("symlink", FileCall::Other),
            ("munmap", FileCall::Other),
            ("lseek64", FileCall::Seek),
            ("flock", FileCall::Lock),
            ("ftruncate", FileCall::Other),
        ] {
            assert_eq!(of(name, RegionRole::FILE_IO_METADATA), Some(call), "{name}");
        }
        assert_eq!(of("read_input", RegionRole::FUNCTION), None);
    }

    #[test]
    fn calls_of_mpi_do_what_their_names_say_and_operations_in_two_calls_count_once() {
        let of = |name: &str| {
            file_call(&Region { name: name.into(), paradigm: Paradigm::MPI, ..Region::default() })
        };
        assert_eq!(of("MPI_File_iwrite_at"), Some(FileCall::Write));
        assert_eq!(of("MPI_File_read_all_begin"), Some(FileCall::Read));
        assert_eq!(of("MPI_File_read_all_end"), Some(FileCall::Other));
        assert_eq!(of("MPI_File_open"), Some(FileCall::Open));
        assert_eq!(of("MPI_File_set_view"), Some(FileCall::Other));
        assert_eq!(of("MPI_File_seek_shared"), Some(FileCall::Seek));
        assert_eq!(of("MPI_Win_sync"), None);
        assert_eq!(of("MPI_Bcast"), None);
    }
}
