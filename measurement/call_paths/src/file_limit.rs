//! The limit of file sizes (`ulimit -f`): to go beyond it is to be an error here, not a signal that ends the program.

use std::mem::MaybeUninit;
use std::ptr::null_mut;

/// Does something that may make a file too long, without a `SIGXFSZ` for the calling thread.
pub fn unsignalled<T>(grow: impl FnOnce() -> T) -> T {
    let [mut signal, mut mask, mut pending] = [MaybeUninit::<libc::sigset_t>::uninit(); 3];
    // SAFETY: sets of signals, each filled in before it is used; the mask of the calling thread only.
    unsafe {
        libc::sigemptyset(signal.as_mut_ptr());
        libc::sigaddset(signal.as_mut_ptr(), libc::SIGXFSZ);
        libc::sigemptyset(mask.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_BLOCK, signal.as_ptr(), mask.as_mut_ptr());
        libc::sigemptyset(pending.as_mut_ptr());
        libc::sigpending(pending.as_mut_ptr());
        let was_pending = libc::sigismember(pending.as_ptr(), libc::SIGXFSZ) == 1;
        let result = grow();
        if !was_pending {
            let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            // Takes the signal if there is one.
            libc::sigtimedwait(signal.as_ptr(), null_mut(), &at_once);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, mask.as_ptr(), null_mut());
        result
    }
}
