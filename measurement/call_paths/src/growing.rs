//! A mapped file that grows in place.
//!
//! It grows by segments, each of which is given disk space before it is mapped: writing into a mapping of a
//! full disk would end the program with SIGBUS. Addresses for all segments are reserved when it is created,
//! so nothing ever moves.

use crate::own_file::OwnFile;
use std::io;
use std::path::Path;
use std::ptr::{self, NonNull};

/// Bytes by which a file grows: a multiple of the page size of every system.
pub(crate) const SEGMENT: usize = 256 << 10;

/// A mapped file of zeros that grows. Calls no allocator after its creation, and takes no lock.
///
/// A forked process has the same file mapped: it must not write there, as its parent does.
#[derive(Debug)]
pub struct GrowingFile {
    pub(crate) file: OwnFile,
    /// The first of `most` reserved bytes of address space, of which the first `mapped` are mapped.
    start: NonNull<u8>,
    mapped: usize,
    most: usize,
}

// SAFETY: the mapping and the descriptor belong to this value alone, and neither depends on the thread.
unsafe impl Send for GrowingFile {}

impl GrowingFile {
    /// Creates a file of one segment that may grow to `most` bytes, rounded up to segments.
    ///
    /// # Errors
    /// If the file exists or cannot be created, or there is no space for it on the disk or no memory.
    pub fn create(path: &Path, most: usize) -> io::Result<Self> {
        let file = OwnFile::create(path, false)?;
        let most = most.max(1).next_multiple_of(SEGMENT);
        // SAFETY: a new mapping at an address of the kernel's choice touches no other memory.
        let start = unsafe {
            libc::mmap(
                ptr::null_mut(),
                most,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        let start = match NonNull::new(start) {
            Some(start) if start.as_ptr() != libc::MAP_FAILED => start.cast(),
            _ => return Err(io::Error::last_os_error()),
        };
        let mut growing = Self { file, start, mapped: 0, most };
        growing.grow()?;
        Ok(growing)
    }

    /// Maps one more segment.
    ///
    /// # Errors
    /// If the file has reached its maximum size, or the disk is full.
    pub fn grow(&mut self) -> io::Result<()> {
        if self.mapped >= self.most {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.file.reserve(self.mapped, SEGMENT)?;
        let (offset, descriptor) = (self.mapped as libc::off_t, self.file.descriptor());
        // SAFETY: the addresses are within those that this value has reserved, as `mapped` < `most` and both
        // are multiples of a segment, and nothing is mapped there yet.
        let segment = unsafe {
            libc::mmap(
                self.start.as_ptr().add(self.mapped).cast(),
                SEGMENT,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_FIXED,
                descriptor,
                offset,
            )
        };
        if segment == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        self.mapped += SEGMENT;
        Ok(())
    }

    /// Returns the address of the first byte, which never changes.
    #[inline]
    pub fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Returns the number of bytes mapped behind [`Self::start`].
    #[inline]
    pub fn mapped(&self) -> usize {
        self.mapped
    }
}

impl Drop for GrowingFile {
    fn drop(&mut self) {
        // SAFETY: the addresses were reserved by this value, and users of [`Self::start`] own the value, so
        // that nobody refers to them any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.most) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_in_place_up_to_its_limit() {
        let path = std::env::temp_dir().join(format!("growing-{}", std::process::id()));
        let mut growing = GrowingFile::create(&path, SEGMENT + 1).unwrap();
        let start = growing.start();
        assert_eq!(growing.mapped(), SEGMENT);
        growing.grow().unwrap();
        assert_eq!((growing.start(), growing.mapped()), (start, 2 * SEGMENT));
        // SAFETY: two segments are mapped.
        unsafe { start.as_ptr().add(2 * SEGMENT - 1).write(7) };
        assert!(growing.grow().is_err());
        assert!(GrowingFile::create(&path, 1).is_err(), "it exists");
        drop(growing);
        let bytes = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!((bytes.len(), bytes[0], bytes[2 * SEGMENT - 1]), (2 * SEGMENT, 0, 7));
    }
}
