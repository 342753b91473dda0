//! Roles of modules on a call path, by the names of their files.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// The role of a module on a call path.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Role {
    /// Part of the program.
    #[default]
    Program,
    /// The program's main file, which holds the code that starts it.
    Main,
    /// The C library or the dynamic loader, which call `main` and the functions of threads.
    System,
    /// The MPI library: left out where it is innermost.
    Measured,
    /// The recorder: left out everywhere, as it passes on calls that call the program back.
    Recorder,
}

/// Addresses of the wrappers of a recorder that is linked into the program; both 0 if there is none.
static LINKED: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

/// Sets the addresses of the wrappers of a recorder that is linked into the program: they are no part of call
/// paths. To be called before the first path is asked for.
pub fn set_linked_recorder(wrappers: Range<u64>) {
    LINKED[0].store(wrappers.start, Ordering::Relaxed);
    LINKED[1].store(wrappers.end, Ordering::Relaxed);
}

/// Whether an address is in a wrapper of a linked recorder.
pub(crate) fn is_in_linked_recorder(address: u64) -> bool {
    (LINKED[0].load(Ordering::Relaxed)..LINKED[1].load(Ordering::Relaxed)).contains(&address)
}

/// Returns the role of a mapping of a file.
pub(crate) fn of(path: &str, mapping: Range<u64>) -> Role {
    let name = path.rsplit('/').next().unwrap_or(path);
    // The name of a main program may be anything. A program that the recorder is linked into is not the
    // recorder.
    if std::fs::read_link("/proc/self/exe").is_ok_and(|program| program.to_str() == Some(path)) {
        Role::Main
    } else if mapping.contains(&(of as fn(&str, Range<u64>) -> Role as usize as u64)) {
        Role::Recorder
    } else if is_mpi(name) {
        Role::Measured
    } else if is_system(name) {
        Role::System
    } else {
        Role::Program
    }
}

fn is_system(name: &str) -> bool {
    ["libc.so", "libc-", "libc.musl", "ld-linux", "ld-musl", "ld-2.", "ld.so", "ld64.so", "libpthread"]
        .iter()
        .any(|begin| name.starts_with(begin))
}

/// Whether a file of that name is part of an MPI library.
///
/// Programs have libraries with names that begin with `libmpi` too (`libmpir`, `libmpi_helpers`), so what
/// follows must be known.
fn is_mpi(name: &str) -> bool {
    /// Libraries below or beside the one with the MPI functions; components of Open MPI.
    const WHOLE: [&str; 10] = [
        "libpmpi",
        "libopen-pal",
        "libopen-rte",
        "libfmpich",
        "libmpich",
        "libmpichf",
        "libmpichcxx",
        "libmpl",
        "libxmpi",
        "mca_",
    ];
    /// Fortran and C++ bindings, and libraries that pass calls on to others.
    const BINDINGS: [&str; 10] =
        ["++", "fort", "cxx", "f77", "f90", "f08", "_mpifh", "_usempi", "_cxx", "_java"];
    /// Vendors' variants, distinguished by names such as `libmpi_gnu_91`.
    const VARIANTS: [&str; 17] = [
        "abi", "amd", "aocc", "cce", "cray", "dbg", "debug", "gnu", "ibm", "ifort", "intel", "mt", "nvidia",
        "opt", "pgi", "release", "thread",
    ];
    let begins = |name: &str, begins: &[&str]| begins.iter().any(|begin| name.starts_with(begin));
    if begins(name, &WHOLE) {
        return name.contains(".so");
    }
    let Some(rest) = name.strip_prefix("libmpi") else { return false };
    let Some((rest, _)) = rest.split_once(".so") else { return false };
    rest.is_empty()
        || begins(rest, &BINDINGS)
        || begins(rest, &["trampoline", "wrapper"])
        || rest.strip_prefix(['_', '-']).is_some_and(|rest| begins(rest, &VARIANTS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mpi_libraries_are_known_by_name() {
        let mpi = "libmpi.so.40 libmpi.so.12.1.8 libmpich.so.12 libmpichfort.so.12 libmpifort.so libmpi_mpifh.so.40 \
                   libmpi_usempi_ignore_tkr.so.40 libmpi_usempif08.so.40 libmpicxx.so.12 libmpi++.so libmpi_cxx.so.40 libpmpi.so \
                   libopen-pal.so.40 libopen-rte.so.40 mca_pml_ob1.so libmpi_gnu_91.so.12 libmpi_cray.so.12 \
                   libmpi_dbg.so libmpitrampoline.so.5 libmpi_abi.so.0";
        for name in mpi.split_whitespace() {
            assert!(is_mpi(name), "{name}");
        }
        let others = "libmpir.so.23 libmpi_helpers.so libmpi4py.so MPI.cpython-311-x86_64-linux-gnu.so libmpfr.so.6 \
                      libmpc.so.3 mpi libmpi libmpipool.so a.out libc.so.6 libreplay_recorder.so";
        for name in others.split_whitespace() {
            assert!(!is_mpi(name), "{name}");
        }
    }

    #[test]
    fn the_c_library_is_known_by_name() {
        for name in ["libc.so.6", "libc-2.31.so", "ld-linux-x86-64.so.2", "ld-musl-x86_64.so.1"] {
            assert_eq!(of(&format!("/lib/{name}"), 1..2), Role::System, "{name}");
        }
        assert_eq!(of("/usr/lib/libcurl.so.4", 1..2), Role::Program);
        assert_eq!(of("/usr/lib/libmpi.so.40", 1..2), Role::Measured);
    }

    #[test]
    fn the_program_is_not_the_recorder_even_if_that_is_linked_into_it() {
        let program = std::env::current_exe().unwrap();
        assert_eq!(of(program.to_str().unwrap(), 0..u64::MAX), Role::Main);
        assert_eq!(of("/usr/lib/libreplay_recorder.so", 0..u64::MAX), Role::Recorder);
    }
}
