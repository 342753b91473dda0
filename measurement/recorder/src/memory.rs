//! Memory that does not come from the program's allocator.

use std::ptr::null_mut;

/// Maps fresh zeroed memory; `None` if there is none.
pub(crate) fn anonymous(bytes: usize) -> Option<*mut u8> {
    // SAFETY: a new anonymous mapping at an address of the kernel's choice touches no other memory.
    let address = unsafe {
        libc::mmap(
            null_mut(),
            bytes,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    (address != libc::MAP_FAILED).then_some(address.cast())
}

/// Memory of one thread that grows on demand, for copies that a call needs.
pub(crate) struct Scratch {
    address: *mut u8,
    bytes: usize,
}

impl Scratch {
    pub(crate) const EMPTY: Scratch = Scratch { address: null_mut(), bytes: 0 };

    /// Returns the address of at least that many bytes, with arbitrary contents; 0 if there is no memory.
    pub(crate) fn address(&mut self, bytes: usize) -> usize {
        if bytes > self.bytes {
            let wanted = bytes.next_power_of_two().max(1 << 16);
            let Some(address) = anonymous(wanted) else { return 0 };
            if !self.address.is_null() {
                // SAFETY: the mapping is this value's own; callers use its address until the next call of
                // this only.
                unsafe { libc::munmap(self.address.cast(), self.bytes) };
            }
            (self.address, self.bytes) = (address, wanted);
        }
        self.address as usize
    }
}
