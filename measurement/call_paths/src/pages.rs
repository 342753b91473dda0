//! Memory from mmap: a signal handler must not call an allocator.

use std::io;
use std::mem::size_of;
use std::ops::{Deref, DerefMut};
use std::ptr::{self, NonNull};

/// Types that may be made of zero bytes and that need no drop.
///
/// # Safety
/// A value of zero bytes must be valid.
pub(crate) unsafe trait Plain: Copy {}

// SAFETY: zero is a number.
unsafe impl Plain for u32 {}
// SAFETY: zero is a number.
unsafe impl Plain for u64 {}

/// A slice of zeroes in anonymous memory. Pages that are never touched cost nothing.
pub(crate) struct Pages<T: Plain> {
    start: NonNull<T>,
    length: usize,
}

// SAFETY: the pages belong to this value alone, as those of a `Box` would.
unsafe impl<T: Plain + Send> Send for Pages<T> {}

impl<T: Plain> Pages<T> {
    /// Maps `length` zero values; `length` is at least one.
    ///
    /// # Errors
    /// The error of mmap, such as no memory.
    pub(crate) fn new(length: usize) -> io::Result<Self> {
        let bytes = length.checked_mul(size_of::<T>()).ok_or(io::ErrorKind::OutOfMemory)?;
        // SAFETY: a new anonymous mapping at an address of the kernel's choice touches no other memory.
        let start = unsafe {
            libc::mmap(
                ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        match NonNull::new(start) {
            Some(start) if start.as_ptr() != libc::MAP_FAILED => Ok(Self { start: start.cast(), length }),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl<T: Plain> Deref for Pages<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the mapping holds `length` values until this is dropped, all of them valid since zero is,
        // and it is aligned to a page.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.length) }
    }
}

impl<T: Plain> DerefMut for Pages<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and this is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.length) }
    }
}

impl<T: Plain> Drop for Pages<T> {
    fn drop(&mut self) {
        // SAFETY: the mapping was made with this size, and no borrow of it outlives this.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length * size_of::<T>()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_zero_and_keep_what_is_written() {
        let mut pages = Pages::<u64>::new(10_000).unwrap();
        assert!(pages.iter().all(|word| *word == 0));
        pages[9_999] = 7;
        assert_eq!((pages.len(), pages[9_999]), (10_000, 7));
    }

    #[test]
    fn too_much_is_an_error() {
        assert!(Pages::<u64>::new(usize::MAX / 8).is_err());
        assert!(Pages::<u64>::new(usize::MAX).is_err());
    }
}
