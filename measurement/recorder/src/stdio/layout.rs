//! The C library's data of a stream (`struct _IO_FILE`), and its lock.
//!
//! Programs have the layout compiled into them, by `getc_unlocked` and `putc_unlocked`: it does not change. Whether a
//! call reaches the system is seen in it before and behind the call.

use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};

unsafe extern "C" {
    fn flockfile(stream: *mut Data);
    fn funlockfile(stream: *mut Data);
    fn fileno_unlocked(stream: *mut Data) -> i32;
    fn ftello64(stream: *mut Data) -> i64;
}

const UNBUFFERED: i32 = 0x2;
const AT_END: i32 = 0x10;
/// What was given back is read, from another buffer.
const IN_BACKUP: i32 = 0x100;
const LINE_BUFFERED: i32 = 0x200;

/// The beginning of `struct _IO_FILE`. Atomics, as nothing here keeps a program from using one stream in two threads
/// without a lock.
#[repr(C)]
struct Data {
    flags: AtomicI32,
    read_at: AtomicUsize,
    read_end: AtomicUsize,
    read_begin: AtomicUsize,
    write_begin: AtomicUsize,
    write_at: AtomicUsize,
    write_end: AtomicUsize,
    buffer_begin: AtomicUsize,
    buffer_end: AtomicUsize,
    save_begin: AtomicUsize,
    backup_begin: AtomicUsize,
    save_end: AtomicUsize,
}

/// An open stream.
#[derive(Clone, Copy)]
pub(super) struct File(*mut Data);

/// What the buffer of a stream looks like.
#[derive(Clone, Copy)]
pub(super) struct Look {
    flags: i32,
    /// Bytes to be written, as `__fpending` has them.
    pub(super) pending: u64,
    /// Bytes to be read.
    pub(super) left: u64,
    /// Size of the buffer, as `__fbufsize` has it; 0 until there is one.
    pub(super) size: u64,
    read_at: usize,
    read_begin: usize,
    read_end: usize,
}

impl File {
    /// The stream at an address.
    ///
    /// # Safety
    /// A stream is open there, as long as this is used.
    #[inline]
    pub(super) unsafe fn at(stream: usize) -> File {
        File(stream as *mut Data)
    }

    /// Whether so many bytes that are written stay in the buffer.
    #[inline(always)]
    pub(super) fn takes(self, bytes: u64) -> bool {
        let data = self.data();
        let between = |from, to| load(to).wrapping_sub(load(from)) as u64;
        let room = between(&data.buffer_begin, &data.buffer_end)
            .saturating_sub(between(&data.write_begin, &data.write_at));
        // What fills a buffer that nothing was put into yet goes past it.
        let is_full = || between(&data.write_at, &data.write_end) == bytes;
        (bytes < room || bytes == room && is_full())
            && data.flags.load(Ordering::Relaxed) & (LINE_BUFFERED | UNBUFFERED) == 0
    }

    /// Whether so many bytes that are read are in the buffer.
    #[inline(always)]
    pub(super) fn has(self, bytes: u64) -> bool {
        let data = self.data();
        bytes <= load(&data.read_end).saturating_sub(load(&data.read_at)) as u64
    }

    #[inline(always)]
    fn data(&self) -> &Data {
        // SAFETY: `at` guarantees that the stream is open, and it begins like this.
        unsafe { &*self.0 }
    }

    /// Looks at the buffer.
    pub(super) fn look(self) -> Look {
        let data = self.data();
        let flags = data.flags.load(Ordering::Relaxed);
        let (read_at, read_end) = (load(&data.read_at), load(&data.read_end));
        let aside = if flags & IN_BACKUP == 0 {
            0
        } else {
            load(&data.save_end).saturating_sub(load(&data.save_begin))
        };
        Look {
            flags,
            pending: load(&data.write_at).saturating_sub(load(&data.write_begin)) as u64,
            left: (read_end.saturating_sub(read_at) + aside) as u64,
            size: load(&data.buffer_end).saturating_sub(load(&data.buffer_begin)) as u64,
            read_at,
            read_begin: load(&data.read_begin),
            read_end,
        }
    }

    /// Takes the stream's lock, until the result is dropped.
    #[inline(always)]
    pub(super) fn lock(self) -> Lock {
        // SAFETY: the stream is open. A thread may take the lock several times.
        unsafe { flockfile(self.0) };
        Lock(self)
    }

    /// Returns the descriptor.
    pub(super) fn descriptor(self) -> i32 {
        // SAFETY: the stream is open.
        unsafe { fileno_unlocked(self.0) }
    }

    /// Returns the position; `None` if there is none.
    pub(super) fn position(self) -> Option<u64> {
        // SAFETY: the stream is open.
        u64::try_from(unsafe { ftello64(self.0) }).ok()
    }
}

#[inline(always)]
fn load(word: &AtomicUsize) -> usize {
    word.load(Ordering::Relaxed)
}

/// The lock of a stream.
pub(super) struct Lock(File);

impl Drop for Lock {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: the stream is open, and the lock was taken.
        unsafe { funlockfile(self.0.0) };
    }
}

impl Look {
    /// Whether what is written may go to the system before the buffer is full.
    #[inline(always)]
    pub(super) fn is_eager(&self) -> bool {
        self.flags & (LINE_BUFFERED | UNBUFFERED) != 0
    }

    /// Whether so many bytes have no room in the buffer.
    #[inline(always)]
    pub(super) fn overflows(&self, bytes: u64) -> bool {
        self.pending.saturating_add(bytes) > self.size
    }

    /// Whether bytes were read from the system since this was so: the buffer was filled again, or the end was found.
    pub(super) fn was_filled(&self, now: &Look) -> bool {
        let found_end = now.flags & AT_END != 0 && self.flags & AT_END == 0;
        found_end || self.is_another(now)
    }

    /// Bytes that were taken since this was so, by a call that has filled the buffer at most once.
    pub(super) fn taken(&self, now: &Look) -> u64 {
        match self.is_another(now) {
            true => self.left + now.read_at.saturating_sub(now.read_begin) as u64,
            false => self.left.saturating_sub(now.left),
        }
    }

    /// Whether the bytes in the buffer are others. Those that are read again, having been given back, may be in a
    /// buffer of their own.
    fn is_another(&self, now: &Look) -> bool {
        let has_turned = (self.flags ^ now.flags) & IN_BACKUP != 0;
        let has_moved = (self.read_begin, self.read_end) != (now.read_begin, now.read_end);
        !has_turned && (has_moved || now.read_at < self.read_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CString;

    unsafe extern "C" {
        fn fputc(byte: i32, stream: *mut libc::FILE) -> i32;
        fn fgetc(stream: *mut libc::FILE) -> i32;
        fn ungetc(byte: i32, stream: *mut libc::FILE) -> i32;
        fn __fpending(stream: *mut libc::FILE) -> usize;
        fn __fbufsize(stream: *mut libc::FILE) -> usize;
    }

    fn open(path: &std::path::Path, mode: &std::ffi::CStr) -> *mut libc::FILE {
        let path = CString::new(path.to_str().unwrap()).unwrap();
        // SAFETY: both are strings.
        let stream = unsafe { libc::fopen(path.as_ptr(), mode.as_ptr()) };
        assert!(!stream.is_null());
        stream
    }

    #[test]
    fn what_fills_a_buffer_stays_there_only_if_it_was_in_use() {
        let path = std::env::temp_dir().join(format!("replay-fills-{}", std::process::id()));
        let stream = open(&path, c"w");
        let (mut buffer, bytes) = ([0_u8; 4096], [0_u8; 4096]);
        // SAFETY: the stream is open until the end of the block, and the buffer is there as long.
        unsafe {
            libc::setvbuf(stream, buffer.as_mut_ptr().cast(), libc::_IOFBF, buffer.len());
            let file = File::at(stream as usize);
            let write = |count: usize| {
                let (is_taken, before) = (file.takes(count as u64), file.look().pending);
                assert_eq!(libc::fwrite(bytes.as_ptr().cast(), 1, count, stream), count);
                assert_eq!(is_taken, file.look().pending == before + count as u64, "{count}");
                is_taken
            };
            assert_eq!([4096, 4096, 1, 4095, 2].map(write), [false, true, false, true, false]);
            libc::rewind(stream);
            assert_eq!([4096, 100].map(write), [false, true]);
            libc::fclose(stream);
        }
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn buffers_are_seen_as_the_c_library_has_them() {
        let path = std::env::temp_dir().join(format!("replay-layout-{}", std::process::id()));
        let stream = open(&path, c"w");
        // SAFETY: the stream is open until the end of the block.
        unsafe {
            let file = File::at(stream as usize);
            assert_eq!((file.look().size, file.look().pending), (0, 0));
            (0..10_000).for_each(|_| {
                fputc(b'x'.into(), stream);
                let look = file.look();
                let asked = (__fbufsize(stream) as u64, __fpending(stream) as u64);
                assert_eq!((look.size, look.pending, look.is_eager()), (asked.0, asked.1, false));
            });
            libc::fclose(stream);
        }
        let stream = open(&path, c"r");
        // SAFETY: as above.
        unsafe {
            let file = File::at(stream as usize);
            let (mut before, mut taken) = (file.look(), 0);
            while fgetc(stream) >= 0 {
                let look = file.look();
                assert_eq!(before.was_filled(&look), before.left == 0);
                taken += before.taken(&look);
                before = look;
            }
            assert_eq!(taken, 10_000);
            assert!(before.was_filled(&file.look()), "the end");
            libc::rewind(stream);
            fgetc(stream);
            let before = file.look();
            ungetc(b'y'.into(), stream);
            let look = file.look();
            assert_eq!((look.left, before.was_filled(&look)), (before.left + 1, false));
            fgetc(stream);
            assert_eq!(file.look().left, before.left);
            libc::fclose(stream);
        }
        std::fs::remove_file(path).unwrap();
    }
}
