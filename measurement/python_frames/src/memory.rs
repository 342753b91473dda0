//! Reading memory of the process, whether or not it is still mapped.

use std::ffi::c_void;

/// Bytes that [`Checked`] reads at a time; a page is a multiple of it.
const BLOCK: u64 = 1024;
/// Blocks that it caches, a power of two.
const BLOCKS: usize = 64;

/// Addresses that a program can have.
#[cfg(target_arch = "x86_64")]
const ADDRESSES: std::ops::Range<u64> = 0x1000..1 << 47;
/// Addresses that a program can have.
#[cfg(not(target_arch = "x86_64"))]
const ADDRESSES: std::ops::Range<u64> = 0x1000..1 << 48;

/// Words of the process's memory. A word has 8 bytes, and its address is a multiple of 8.
pub trait Memory {
    /// Returns the word at an address; `None` if it cannot be read.
    fn word(&mut self, address: u64) -> Option<u64>;

    /// As [`Memory::word`], for a word that follows from others: it is unchanged as long as all words are
    /// that [`Memory::word`] has returned, so it need not be recorded.
    fn peek(&mut self, address: u64) -> Option<u64> {
        self.word(address)
    }

    /// Returns the 32-bit number at an address that is a multiple of 4, as by [`Memory::peek`].
    fn number(&mut self, address: u64) -> Option<u32> {
        let word = self.peek(address & !7)?.to_ne_bytes();
        word.get((address & 7) as usize..)?.first_chunk().copied().map(u32::from_ne_bytes)
    }

    /// Returns the byte at an address, as by [`Memory::peek`].
    fn byte(&mut self, address: u64) -> Option<u8> {
        self.peek(address & !7)?.to_ne_bytes().get((address & 7) as usize).copied()
    }
}

/// Memory that records nothing: [`Memory::word`] is [`Memory::peek`].
pub(crate) struct PeekOnly<'a, M>(pub(crate) &'a mut M);

impl<M: Memory> Memory for PeekOnly<'_, M> {
    fn word(&mut self, address: u64) -> Option<u64> {
        self.0.peek(address)
    }
}

/// Whether there can be a word at an address.
pub fn is_plausible(address: u64) -> bool {
    ADDRESSES.contains(&address) && address.is_multiple_of(8)
}

/// Memory that is mapped, read directly.
#[derive(Debug)]
pub struct Direct(());

impl Direct {
    /// Creates it.
    ///
    /// # Safety
    /// Every address that is read through the value and is plausible must be readable.
    pub unsafe fn new() -> Self {
        Self(())
    }
}

impl Memory for Direct {
    #[inline]
    fn word(&mut self, address: u64) -> Option<u64> {
        // SAFETY: the creator of the value guarantees that the address is readable, and it is a multiple of
        // 8. Volatile, because the compiler knows nothing of what others write there.
        is_plausible(address).then(|| unsafe { std::ptr::read_volatile(address as *const u64) })
    }
}

#[derive(Clone, Copy, Debug)]
struct Block {
    /// 0 for a free one.
    address: u64,
    words: [u64; BLOCK as usize / 8],
}

/// Memory that may not be mapped: the system copies it (`process_vm_readv`), which fails where there is none.
/// Calls no allocator after its creation, and takes no lock.
#[derive(Debug)]
pub struct Checked {
    blocks: Box<[Block]>,
}

impl Default for Checked {
    fn default() -> Self {
        Self::new()
    }
}

impl Checked {
    /// Creates it with an empty cache.
    pub fn new() -> Self {
        // On the heap from the start: the stack may be small.
        Self { blocks: vec![Block { address: 0, words: [0; BLOCK as usize / 8] }; BLOCKS].into() }
    }

    /// Empties the cache, as memory may have changed.
    pub fn forget(&mut self) {
        self.blocks.iter_mut().for_each(|block| block.address = 0);
    }

    /// Whether the system copies memory at all; sandboxes may forbid it.
    pub fn works() -> bool {
        let (word, mut copy) = (0x1234_5678_9abc_def0_u64, 0_u64);
        copy_from(&raw const word as u64, (&raw mut copy).cast(), 8);
        // `copy` is written by the system, behind the compiler's back.
        std::hint::black_box(copy) == word
    }
}

/// Copies bytes from an address that may not be readable; returns whether it was.
fn copy_from(address: u64, to: *mut c_void, bytes: usize) -> bool {
    let local = libc::iovec { iov_base: to, iov_len: bytes };
    let remote = libc::iovec { iov_base: address as *mut c_void, iov_len: bytes };
    // SAFETY: `to` has room for the bytes, as callers pass buffers of that size; the system checks the other
    // address.
    let copied = unsafe { libc::process_vm_readv(libc::getpid(), &local, 1, &remote, 1, 0) };
    copied == bytes as isize
}

impl Memory for Checked {
    fn word(&mut self, address: u64) -> Option<u64> {
        if !is_plausible(address) {
            return None;
        }
        let start = address & !(BLOCK - 1);
        let block = self.blocks.get_mut((start / BLOCK) as usize & (BLOCKS - 1))?;
        if block.address != start {
            block.address = 0;
            if !copy_from(start, block.words.as_mut_ptr().cast(), BLOCK as usize) {
                return None;
            }
            block.address = start;
        }
        block.words.get((address - start) as usize / 8).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_not_there_is_no_word() {
        assert!(Checked::works());
        let page = 4096;
        // Pages that may not be read, instead of none: nobody else gets their addresses while the test runs.
        // SAFETY: a new mapping of two pages, of which the second one is closed.
        let pages = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let pages =
                libc::mmap(std::ptr::null_mut(), 2 * page, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
            pages.cast::<u64>().add(page / 8 - 1).write(0x0102_0304_0506_0708);
            libc::mprotect(pages.cast::<u8>().add(page).cast(), page, libc::PROT_NONE);
            pages as u64
        };
        let mut memory = Checked::new();
        let last = pages + page as u64 - 8;
        assert_eq!(memory.word(last), Some(0x0102_0304_0506_0708));
        assert_eq!((memory.number(last), memory.number(last + 4)), (Some(0x0506_0708), Some(0x0102_0304)));
        assert_eq!(memory.byte(last + 7), Some(1));
        assert_eq!(memory.word(last + 8), None, "closed");
        for address in [0, 8, last + 1, 1 << 63, u64::MAX, 0x8000_0000_0000] {
            assert_eq!(memory.word(address), None, "{address:#x}");
        }
        // SAFETY: the page belongs to this test.
        unsafe { libc::mprotect(pages as *mut c_void, page, libc::PROT_NONE) };
        assert_eq!(memory.word(last), Some(0x0102_0304_0506_0708), "known");
        memory.forget();
        assert_eq!(memory.word(last), None);
        // SAFETY: as above.
        unsafe { libc::munmap(pages as *mut c_void, 2 * page) };
    }

    #[test]
    fn memory_that_is_there_is_read_as_it_is() {
        let words = [1_u64, 2];
        // SAFETY: only the words above are plausible addresses among those read.
        let mut memory = unsafe { Direct::new() };
        assert_eq!(memory.word(&raw const words[1] as u64), Some(2));
        assert_eq!(memory.word(&raw const words[1] as u64 + 1), None);
        assert_eq!(memory.word(0), None);
    }
}
