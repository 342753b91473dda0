//! The next functions: the next `MPI_X` or `PMPI_X` in the order of symbol lookup.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::wrappers::{COUNT, NAMES};

/// The name by which a function was called.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layer {
    /// `MPI_X`: passed on to the next tool, or to the MPI library.
    Mpi = 0,
    /// `PMPI_X`: passed on to the MPI library.
    Profiling = 1,
}

static FUNCTIONS: [[AtomicUsize; COUNT]; 2] = [const { [const { AtomicUsize::new(0) }; COUNT] }; 2];

/// Returns the address of the next function of that number.
#[inline]
pub(crate) fn next(layer: Layer, number: u32) -> usize {
    // The slot of a function is only ever written with one value: no ordering is needed.
    let address = FUNCTIONS[layer as usize][number as usize].load(Ordering::Relaxed);
    if address != 0 { address } else { find_once(layer, number) }
}

#[cold]
fn find_once(layer: Layer, number: u32) -> usize {
    let (mpi, profiling) = NAMES[number as usize];
    let name = if layer == Layer::Mpi { mpi } else { profiling };
    let address = symbol(name).unwrap_or(missing as *const () as usize);
    FUNCTIONS[layer as usize][number as usize].store(address, Ordering::Relaxed);
    address
}

/// Stands for a function that the MPI library does not have. Returns `MPI_ERR_OTHER`, which is 15 or 16; 16
/// is an error in any MPI.
unsafe extern "C" fn missing() -> usize {
    16
}

/// Resolves an optional function for the loader: the wrapper if the MPI library has the function, else null.
/// It may run while a program is being loaded.
pub(crate) extern "C" fn resolve(number: u32, wrapper: usize) -> usize {
    let known = NAMES.get(number as usize).is_some_and(|(_, profiling)| symbol(profiling).is_some());
    if known { wrapper } else { 0 }
}

/// Returns the address of a symbol behind this library: in the usual order, or in an MPI library that was
/// loaded for one module only (Python loads it so).
pub(crate) fn symbol(name: &CStr) -> Option<usize> {
    look_up(libc::RTLD_NEXT, name)
}

/// Returns the address of a variable of the MPI library. Where the program refers to it, the variable is in
/// the program itself (a copy relocation), before this library in the order of lookup.
pub(crate) fn variable(name: &CStr) -> Option<usize> {
    look_up(libc::RTLD_DEFAULT, name)
}

fn look_up(from: *mut c_void, name: &CStr) -> Option<usize> {
    // SAFETY: the name ends with a NUL.
    let found = unsafe { libc::dlsym(from, name.as_ptr()) };
    if !found.is_null() {
        return Some(found as usize);
    }
    let mut libraries = Libraries { paths: [std::ptr::null(); MOST], count: 0 };
    // SAFETY: `note_library` takes the argument for what it is, a pointer to `libraries`, which outlives the
    // call.
    unsafe { libc::dl_iterate_phdr(Some(note_library), (&raw mut libraries).cast()) };
    // Not in the callback: the loader's locks are taken in another order there than by a thread that loads
    // something at the same time.
    libraries.paths.iter().take(libraries.count).find_map(|&path| {
        // SAFETY: the path is a string of a loaded object; the reference count of that is raised for good, so
        // that the symbol stays.
        let found = unsafe {
            let object = libc::dlopen(path, libc::RTLD_LAZY | libc::RTLD_NOLOAD);
            if object.is_null() { object } else { libc::dlsym(object, name.as_ptr()) }
        };
        (!found.is_null()).then_some(found as usize)
    })
}

/// Maximum number of MPI libraries that are searched.
const MOST: usize = 16;

struct Libraries {
    paths: [*const c_char; MOST],
    count: usize,
}

/// Collects an object with the name of an MPI library.
unsafe extern "C" fn note_library(info: *mut libc::dl_phdr_info, _: usize, data: *mut c_void) -> c_int {
    // SAFETY: the loader passes a valid description; `data` points to the list of `look_up`, which nothing
    // else refers to.
    let (path, libraries) = unsafe { ((*info).dlpi_name, &mut *data.cast::<Libraries>()) };
    if !path.is_null() && libraries.count < MOST && is_mpi_library(path) {
        libraries.paths[libraries.count] = path;
        libraries.count += 1;
    }
    0
}

/// Returns whether the program is to be recorded by this library: preloading it means that, unless another
/// one is linked into the program.
pub(crate) fn prepare() -> bool {
    let linked = std::env::var(recording::layout::LINKED_VARIABLE).ok();
    linked.is_none_or(|process| process != std::process::id().to_string())
}

fn is_mpi_library(path: *const c_char) -> bool {
    // SAFETY: the loader passes a string that ends with a NUL.
    let path = unsafe { CStr::from_ptr(path) }.to_bytes();
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
    [&b"libmpi.so"[..], b"libmpich.so", b"libmpi_abi.so", b"libpmpi.so"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}
