//! The Python functions on the call paths of a location: a mapped file. Also the names of files that are no
//! part of the program when Python runs it.
//!
//! The file is a [`FunctionsHeader`] and then the functions, each a [`FunctionEntry`], its name and its file
//! in UTF-8, and zeros up to a multiple of [`ALIGNMENT`]. A function's number is its offset in the file,
//! counted in units of [`ALIGNMENT`]; so no function has the number 0, which stands for one that could not be
//! identified.
//!
//! **Invariant:** the first [`FunctionsHeader::bytes`] bytes are complete at any moment.

/// The first eight bytes of the file.
pub const MAGIC: u64 = u64::from_ne_bytes(*b"RPLPYF01");

/// Entries begin at multiples of this.
pub const ALIGNMENT: usize = 8;

/// The number of a function that could not be identified.
pub const UNKNOWN: u32 = 0;

/// The header of a file of Python functions.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct FunctionsHeader {
    /// [`MAGIC`].
    pub magic: u64,
    /// Bytes of the file that are complete, with the header.
    pub bytes: u64,
}

/// The fixed part of a function, before its name and its file.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct FunctionEntry {
    /// Length of the name in bytes.
    pub name: u32,
    /// Length of the file's path in bytes.
    pub file: u32,
    /// First line of the function; 0 if unknown.
    pub line: u32,
    /// 0.
    pub reserved: u32,
}

/// Returns the target of a node of the kind [`PYTHON`](crate::paths::PYTHON): the function, and the line in
/// it that is executed, which is 0 if unknown.
pub fn target(function: u32, line: u32) -> u64 {
    u64::from(function) << 32 | u64::from(line)
}

/// Returns the function and the line of such a target.
pub fn function_and_line(target: u64) -> (u32, u32) {
    ((target >> 32) as u32, target as u32)
}

/// Whether a file is the interpreter, or one of the libraries by which it calls functions in C, which are no
/// part of the program.
pub fn is_interpreter(path: &str) -> bool {
    /// Prefixes of the names of these files; a digit, a dot or nothing follows.
    const BEGINS: [&str; 4] = ["python", "libpython", "_ctypes", "libffi"];
    let name = path.rsplit('/').next().unwrap_or(path);
    BEGINS.iter().any(|begin| {
        let rest = name.strip_prefix(begin);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphabetic()))
    })
}

/// Whether a file is the extension module of mpi4py, which passes calls on to the MPI library.
pub fn is_mpi4py(path: &str) -> bool {
    let mut parts = path.rsplit('/');
    let (name, folder) = (parts.next().unwrap_or_default(), parts.next());
    folder == Some("mpi4py") && name.starts_with("MPI.") && name.ends_with(".so")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_python_are_known_by_name() {
        for path in [
            "/usr/bin/python3.11",
            "python",
            "/opt/libpython3.13.so.1.0",
            "_ctypes.cpython-311.so",
            "libffi.so.8",
        ] {
            assert!(is_interpreter(path), "{path}");
        }
        for path in ["/usr/bin/pythonic", "libpythonize.so", "/usr/lib/python3/numpy.so", "solver"] {
            assert!(!is_interpreter(path), "{path}");
        }
        assert!(is_mpi4py("/a/mpi4py/MPI.cpython-311-x86_64-linux-gnu.so"));
        assert!(is_mpi4py("/a/mpi4py/MPI.openmpi.cpython-311-x86_64-linux-gnu.so"));
        assert!(!is_mpi4py("/a/mine/MPI.cpython-311.so") && !is_mpi4py("/a/mpi4py/dl.cpython-311.so"));
    }

    #[test]
    fn target_holds_function_and_line() {
        assert_eq!(function_and_line(target(7, u32::MAX)), (7, u32::MAX));
        assert_eq!(function_and_line(target(u32::MAX, 0)), (u32::MAX, 0));
    }
}
