//! Reading memory of the process of which it is not known that it is still there.

use std::ffi::c_void;

/// Bytes that [`Checked`] reads at a time; a page is a multiple of it.
const BLOCK: u64 = 1024;
/// Blocks that it keeps, a power of two.
const BLOCKS: usize = 64;

/// Addresses that a program can have.
#[cfg(target_arch = "x86_64")]
const ADDRESSES: std::ops::Range<u64> = 0x1000..1 << 47;
/// Addresses that a program can have.
#[cfg(not(target_arch = "x86_64"))]
const ADDRESSES: std::ops::Range<u64> = 0x1000..1 << 48;

/// Words of the process's memory. A word has 8 bytes, and its address is a multiple of 8.
pub trait Memory {
    /// The word at an address; `None` if it cannot be read.
    fn word(&mut self, address: u64) -> Option<u64>;

    /// The same for a word that follows from others: as long as all that [`Memory::word`] has answered stays as it is,
    /// this one does.
    fn peek(&mut self, address: u64) -> Option<u64> {
        self.word(address)
    }

    /// The 32-bit number at an address that is a multiple of 4, as by [`Memory::peek`].
    fn number(&mut self, address: u64) -> Option<u32> {
        let word = self.peek(address & !7)?.to_ne_bytes();
        word.get((address & 7) as usize..)?.first_chunk().copied().map(u32::from_ne_bytes)
    }

    /// The byte at an address, as by [`Memory::peek`].
    fn byte(&mut self, address: u64) -> Option<u8> {
        self.peek(address & !7)?.to_ne_bytes().get((address & 7) as usize).copied()
    }
}

/// Memory of which nothing is taken down: [`Memory::word`] is [`Memory::peek`].
pub(crate) struct Peeked<'a, M>(pub(crate) &'a mut M);

impl<M: Memory> Memory for Peeked<'_, M> {
    fn word(&mut self, address: u64) -> Option<u64> {
        self.0.peek(address)
    }
}

/// Whether there can be a word at an address.
pub fn is_plausible(address: u64) -> bool {
    ADDRESSES.contains(&address) && address.is_multiple_of(8)
}

/// Memory that is there.
#[derive(Debug)]
pub struct Direct(());

impl Direct {
    /// Reads what it is asked for.
    ///
    /// # Safety
    /// All plausible addresses that are asked for must be readable.
    pub unsafe fn new() -> Self {
        Self(())
    }
}

impl Memory for Direct {
    #[inline]
    fn word(&mut self, address: u64) -> Option<u64> {
        // SAFETY: the maker's. Volatile, as the compiler knows nothing of what others write there.
        is_plausible(address).then(|| unsafe { std::ptr::read_volatile(address as *const u64) })
    }
}

#[derive(Clone, Copy, Debug)]
struct Block {
    /// 0 for none.
    address: u64,
    words: [u64; BLOCK as usize / 8],
}

/// Memory that may not be there: the system copies it, which fails where there is none. Calls no allocator once it is made,
/// and takes no lock.
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
    /// With nothing read yet.
    pub fn new() -> Self {
        // Made where it stays: the stack may be small.
        Self { blocks: vec![Block { address: 0, words: [0; BLOCK as usize / 8] }; BLOCKS].into() }
    }

    /// Forgets what has been read, as it may have changed.
    pub fn forget(&mut self) {
        self.blocks.iter_mut().for_each(|block| block.address = 0);
    }

    /// Whether the system copies memory at all; sandboxes may forbid it.
    pub fn works() -> bool {
        let (word, mut copy) = (0x1234_5678_9abc_def0_u64, 0_u64);
        copy_from(&raw const word as u64, (&raw mut copy).cast(), 8);
        // Written by the system.
        std::hint::black_box(copy) == word
    }
}

/// Copies bytes from an address that may not be readable; answers whether it was.
fn copy_from(address: u64, to: *mut c_void, bytes: usize) -> bool {
    let local = libc::iovec { iov_base: to, iov_len: bytes };
    let remote = libc::iovec { iov_base: address as *mut c_void, iov_len: bytes };
    // SAFETY: there is room for the bytes, and it is the system that reads them.
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
        // SAFETY: a new mapping of two pages, of which one is given back.
        let pages = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let pages =
                libc::mmap(std::ptr::null_mut(), 2 * page, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
            pages.cast::<u64>().add(page / 8 - 1).write(0x0102_0304_0506_0708);
            libc::munmap(pages.cast::<u8>().add(page).cast(), page);
            pages as u64
        };
        let mut memory = Checked::new();
        let last = pages + page as u64 - 8;
        assert_eq!(memory.word(last), Some(0x0102_0304_0506_0708));
        assert_eq!((memory.number(last), memory.number(last + 4)), (Some(0x0506_0708), Some(0x0102_0304)));
        assert_eq!(memory.byte(last + 7), Some(1));
        assert_eq!(memory.word(last + 8), None, "given back");
        for address in [0, 8, last + 1, 1 << 63, u64::MAX, 0x8000_0000_0000] {
            assert_eq!(memory.word(address), None, "{address:#x}");
        }
        // SAFETY: the page of this test.
        unsafe { libc::munmap(pages as *mut c_void, page) };
        assert_eq!(memory.word(last), Some(0x0102_0304_0506_0708), "known");
        memory.forget();
        assert_eq!(memory.word(last), None);
    }

    #[test]
    fn memory_that_is_there_is_read_as_it_is() {
        let words = [1_u64, 2];
        // SAFETY: the words above.
        let mut memory = unsafe { Direct::new() };
        assert_eq!(memory.word(&raw const words[1] as u64), Some(2));
        assert_eq!(memory.word(&raw const words[1] as u64 + 1), None);
        assert_eq!(memory.word(0), None);
    }
}
