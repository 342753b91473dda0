//! The next functions: those of the C library, or of whoever is preloaded behind the recorder.

use std::sync::atomic::{AtomicUsize, Ordering};

use recording::file_functions::{FUNCTIONS, NAMES};

static ADDRESSES: [AtomicUsize; FUNCTIONS.len()] = [const { AtomicUsize::new(0) }; FUNCTIONS.len()];

/// Returns the address of the next function of that number.
#[inline]
pub(crate) fn next(number: u32) -> usize {
    // The slot is only ever written with one value: no ordering is needed.
    let address = ADDRESSES[number as usize].load(Ordering::Relaxed);
    if address != 0 { address } else { find(number) }
}

#[cold]
fn find(number: u32) -> usize {
    // SAFETY: the name ends with a NUL. The recorder is behind the library with the exported names, so these are not
    // found.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, NAMES[number as usize].as_ptr()) } as usize;
    let address = if found != 0 { found } else { missing as *const () as usize };
    ADDRESSES[number as usize].store(address, Ordering::Relaxed);
    address
}

/// Stands for a function that this C library does not have.
unsafe extern "C" fn missing() -> isize {
    // SAFETY: the C library has a place for each thread.
    unsafe { *libc::__errno_location() = libc::ENOSYS };
    -1
}
