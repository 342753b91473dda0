//! A file of the recorder in somebody else's process.
//!
//! The program may close descriptors that it does not know (a daemon closes all), and then open files of its
//! own that get their numbers. So descriptors are high, and before each use it is checked that one still is
//! the file. No operation is a cancellation point of the thread, and a limit of file sizes (`ulimit -f`) is
//! an error, not a signal that ends the program.

use std::ffi::{CString, c_int};
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::null_mut;

/// Lowest descriptor, if the limit of the process permits it.
const LOWEST: c_int = 512;

unsafe extern "C" {
    fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
}

/// `PTHREAD_CANCEL_DISABLE` of Linux.
const CANCEL_DISABLE: c_int = 1;

/// A file that is written and mapped.
#[derive(Debug)]
pub struct OwnFile {
    descriptor: c_int,
    device: libc::dev_t,
    node: libc::ino_t,
}

impl OwnFile {
    /// Creates a file for reading and writing; writes go to its end if it `appends`.
    ///
    /// # Errors
    /// If it exists or cannot be created, or there is no descriptor left.
    pub fn create(path: &Path, appends: bool) -> io::Result<Self> {
        let name = CString::new(path.as_os_str().as_bytes())?;
        let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
        let flags = if appends { flags | libc::O_APPEND } else { flags };
        undisturbed(|| {
            // SAFETY: the name ends with a NUL; only descriptors that are made here are duplicated and
            // closed.
            unsafe {
                let low = libc::open(name.as_ptr(), flags, 0o644);
                if low < 0 {
                    return Err(io::Error::last_os_error());
                }
                // Above all that programs use, or at least above the standard streams.
                let high = [LOWEST, 3].map(|least| libc::fcntl(low, libc::F_DUPFD_CLOEXEC, least));
                let descriptor = if high[0] >= 0 { high[0] } else { high[1] };
                for extra in [low, if high[0] >= 0 { high[1] } else { -1 }] {
                    if extra >= 0 {
                        libc::close(extra);
                    }
                }
                let identity = identity(descriptor).ok_or_else(io::Error::last_os_error)?;
                Ok(OwnFile { descriptor, device: identity.0, node: identity.1 })
            }
        })
    }

    /// Whether the descriptor still is that of the file.
    pub fn is_open(&self) -> bool {
        identity(self.descriptor) == Some((self.device, self.node))
    }

    /// Returns the descriptor, for mapping. To be called after [`is_open`](OwnFile::is_open).
    pub(crate) fn descriptor(&self) -> c_int {
        self.descriptor
    }

    /// Allocates disk space for the file, so that writing to a mapping of it cannot end the program with
    /// SIGBUS.
    ///
    /// # Errors
    /// If there is no space, or the file is not open any more.
    pub fn reserve(&self, offset: usize, bytes: usize) -> io::Result<()> {
        if !self.is_open() {
            return Err(closed());
        }
        // SAFETY: touches no memory; the descriptor is that of this file.
        let answer = undisturbed(|| unsafe {
            libc::posix_fallocate(self.descriptor, offset as libc::off_t, bytes as libc::off_t)
        });
        if answer == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(answer)) }
    }

    /// Maps the file's first bytes, and never unmaps them.
    ///
    /// # Errors
    /// If there is no space or no memory, or the file is not open any more.
    pub fn map(&self, bytes: usize) -> io::Result<*mut u8> {
        self.reserve(0, bytes)?;
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_POPULATE);
        // SAFETY: a new mapping at an address of the kernel's choice touches no other memory.
        let address = unsafe { libc::mmap(null_mut(), bytes, protection, flags, self.descriptor, 0) };
        if address == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(address.cast()) }
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// If writing fails, or the file is not open any more. A part of the bytes may have been written then.
    pub fn append(&self, mut bytes: &[u8]) -> io::Result<()> {
        if !self.is_open() {
            return Err(closed());
        }
        undisturbed(|| {
            while !bytes.is_empty() {
                // SAFETY: the bytes are readable; the descriptor is that of this file.
                let written = unsafe { libc::write(self.descriptor, bytes.as_ptr().cast(), bytes.len()) };
                match usize::try_from(written) {
                    Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                    Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
                    Err(_) => {
                        let cause = io::Error::last_os_error();
                        if cause.kind() != io::ErrorKind::Interrupted {
                            return Err(cause);
                        }
                    }
                }
            }
            Ok(())
        })
    }

    /// Truncates the file to so many bytes, if it is still open.
    pub fn cut(&self, bytes: u64) {
        if self.is_open() {
            // SAFETY: touches no memory; the descriptor is that of this file.
            undisturbed(|| unsafe { libc::ftruncate(self.descriptor, bytes as libc::off_t) });
        }
    }
}

impl Drop for OwnFile {
    fn drop(&mut self) {
        if self.is_open() {
            // SAFETY: the descriptor is that of this file, and nothing uses it later.
            undisturbed(|| unsafe { libc::close(self.descriptor) });
        }
    }
}

fn closed() -> io::Error {
    io::Error::other("the program has closed a file of the recorder")
}

fn identity(descriptor: c_int) -> Option<(libc::dev_t, libc::ino_t)> {
    let mut status = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: there is room for the status, which the call has filled in if it succeeds.
    unsafe {
        if libc::fstat(descriptor, status.as_mut_ptr()) != 0 {
            return None;
        }
        let status = status.assume_init();
        Some((status.st_dev, status.st_ino))
    }
}

/// Runs an operation on a file that is no cancellation point of the thread, and raises no `SIGXFSZ`.
pub fn undisturbed<T>(act: impl FnOnce() -> T) -> T {
    let mut state = 0;
    let [mut signal, mut mask, mut pending] = [MaybeUninit::<libc::sigset_t>::uninit(); 3];
    // SAFETY: each set of signals is initialized before it is used; only the mask and the state of the
    // calling thread change, and both are restored.
    unsafe {
        pthread_setcancelstate(CANCEL_DISABLE, &mut state);
        libc::sigemptyset(signal.as_mut_ptr());
        libc::sigaddset(signal.as_mut_ptr(), libc::SIGXFSZ);
        libc::sigemptyset(mask.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_BLOCK, signal.as_ptr(), mask.as_mut_ptr());
        libc::sigemptyset(pending.as_mut_ptr());
        libc::sigpending(pending.as_mut_ptr());
        let was_pending = libc::sigismember(pending.as_ptr(), libc::SIGXFSZ) == 1;
        let result = act();
        if !was_pending {
            let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            // Removes the signal if there is one.
            libc::sigtimedwait(signal.as_ptr(), null_mut(), &at_once);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, mask.as_ptr(), null_mut());
        pthread_setcancelstate(state, null_mut());
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_descriptor_that_has_become_another_file_is_left_alone() {
        let path = std::env::temp_dir().join(format!("own-file-{}", std::process::id()));
        let other = path.with_extension("other");
        let file = OwnFile::create(&path, true).unwrap();
        assert!(file.descriptor >= LOWEST && OwnFile::create(&path, true).is_err());
        file.append(b"abc").unwrap();
        let stranger = std::fs::File::create(&other).unwrap();
        // SAFETY: both descriptors belong to this test.
        unsafe { libc::dup2(std::os::fd::AsRawFd::as_raw_fd(&stranger), file.descriptor) };
        assert!(!file.is_open() && file.append(b"def").is_err() && file.reserve(0, 10).is_err());
        file.cut(0);
        let descriptor = file.descriptor;
        drop(file);
        assert!(identity(descriptor).is_some(), "it is not ours to close");
        // SAFETY: the descriptor belongs to this test.
        unsafe { libc::close(descriptor) };
        assert_eq!(std::fs::read(&path).unwrap(), b"abc");
        assert_eq!(std::fs::read(&other).unwrap(), b"");
        std::fs::remove_file(path).unwrap();
        std::fs::remove_file(other).unwrap();
    }
}
