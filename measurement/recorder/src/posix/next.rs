//! The next functions: those of the C library, or of whoever is preloaded behind the recorder.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use recording::file_functions::{FUNCTIONS, NAMES, number};

static ADDRESSES: [AtomicUsize; FUNCTIONS.len()] = [const { AtomicUsize::new(0) }; FUNCTIONS.len()];

/// Returns the address of the next function of that number.
#[inline]
pub(crate) fn next(number: u32) -> usize {
    // The slot is only ever written with one value: no ordering is needed.
    let address = ADDRESSES[number as usize].load(Ordering::Relaxed);
    if address != 0 { address } else { find(number) }
}

/// Whether recording has begun, with [`prepare`].
static IS_PREPARED: AtomicBool = AtomicBool::new(false);
/// Functions that allocators call: looking for the next one in there could come back, or never return. With what stands for
/// each.
const OF_ALLOCATORS: [(u32, *const ()); 4] = [
    (number("mmap"), map as *const ()),
    (number("mmap64"), map as *const ()),
    (number("mremap"), remap as *const ()),
    (number("munmap"), unmap as *const ()),
];

/// Finds the next functions of those that are not looked for when they are called.
pub(super) fn prepare() {
    IS_PREPARED.store(true, Ordering::Relaxed);
    OF_ALLOCATORS.into_iter().for_each(|(number, _)| _ = next(number));
}

#[cold]
fn find(number: u32) -> usize {
    let of_allocators = OF_ALLOCATORS.iter().find(|(known, _)| *known == number);
    if let Some((_, stands_for_it)) = of_allocators.filter(|_| !IS_PREPARED.load(Ordering::Relaxed)) {
        // The system itself is called until then (io.md, 2.7, F9).
        return *stands_for_it as usize;
    }
    // SAFETY: the name ends with a NUL. The recorder is behind the library with the exported names, so these are not
    // found.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, NAMES[number as usize].as_ptr()) } as usize;
    let address = if found != 0 { found } else { missing as *const () as usize };
    ADDRESSES[number as usize].store(address, Ordering::Relaxed);
    address
}

/// Stands for `mmap`.
unsafe extern "C" fn map(
    address: usize,
    length: usize,
    access: usize,
    flags: usize,
    descriptor: usize,
    offset: usize,
) -> usize {
    // SAFETY: the program's own call is passed on.
    unsafe { libc::syscall(libc::SYS_mmap, address, length, access, flags, descriptor, offset) as usize }
}

/// Stands for `mremap`.
unsafe extern "C" fn remap(address: usize, length: usize, new: usize, flags: usize, place: usize) -> usize {
    // SAFETY: as above.
    unsafe { libc::syscall(libc::SYS_mremap, address, length, new, flags, place) as usize }
}

/// Stands for `munmap`.
unsafe extern "C" fn unmap(address: usize, length: usize) -> usize {
    // SAFETY: as above.
    unsafe { libc::syscall(libc::SYS_munmap, address, length) as usize }
}

/// Stands for a function that this C library does not have.
unsafe extern "C" fn missing() -> isize {
    // SAFETY: the C library has a place for each thread.
    unsafe { *libc::__errno_location() = libc::ENOSYS };
    -1
}
