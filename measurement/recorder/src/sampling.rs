//! Samples between MPI calls: the call path of a thread, so many times for a second of its processor time.
//!
//! Each thread has a timer of its own processor time. It cannot expire while the thread sleeps, so no system
//! call of the program is interrupted by it; and no sample is taken inside of MPI, where the call path is
//! known.

use std::ffi::{c_int, c_void};
use std::mem::zeroed;
use std::ptr::null_mut;
use std::sync::Once;
use std::sync::atomic::{AtomicI32, Ordering};

use call_paths::Registers;

use crate::clock;
use crate::inside::Guarded;
use crate::process::Process;
use crate::thread::{self, Thread};

/// The timer of a thread.
pub(crate) type Timer = libc::timer_t;

/// Reference of the interrupt generator in the archive.
const GENERATOR: u64 = 0;

/// The signal of the timers; 0 if there is none. Not SIGPROF, which programs use themselves, but a real-time
/// signal that the program does not handle.
static SIGNAL: AtomicI32 = AtomicI32::new(0);
static PREPARE: Once = Once::new();

/// Starts sampling the calling thread, if the user wants that and the system can.
pub(crate) fn begin(process: &Process) -> Option<Timer> {
    let rate = process.settings.sample;
    if rate == 0 {
        return None;
    }
    PREPARE.call_once(|| match prepare() {
        Some(signal) => SIGNAL.store(signal, Ordering::Release),
        None => process.notice("no samples: the program uses all signals itself"),
    });
    let signal = SIGNAL.load(Ordering::Acquire);
    if signal == 0 {
        return None;
    }
    // SAFETY: `sigevent` is plain data for which zero is valid; all pointers are to local variables; the
    // timer is the thread's own.
    unsafe {
        let mut event: libc::sigevent = zeroed();
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = signal;
        event.sigev_notify_thread_id = libc::syscall(libc::SYS_gettid) as c_int;
        let mut timer: Timer = null_mut();
        if libc::timer_create(libc::CLOCK_THREAD_CPUTIME_ID, &mut event, &mut timer) != 0 {
            process.notice("a thread is not sampled: the system has no timer for it");
            return None;
        }
        let nanoseconds = 1_000_000_000 / i64::from(rate);
        let period =
            libc::timespec { tv_sec: nanoseconds / 1_000_000_000, tv_nsec: nanoseconds % 1_000_000_000 };
        let every = libc::itimerspec { it_interval: period, it_value: period };
        libc::timer_settime(timer, 0, &every, null_mut());
        Some(timer)
    }
}

/// Stops sampling a thread.
pub(crate) fn end(timer: Timer) {
    // SAFETY: the timer exists, and is not used any more.
    unsafe { libc::timer_delete(timer) };
}

/// Installs the handler for a signal that the program does not handle; returns the signal.
fn prepare() -> Option<c_int> {
    (libc::SIGRTMIN()..libc::SIGRTMAX()).rev().find(|&signal| {
        // SAFETY: `sigaction` is plain data for which zero is valid; the handler takes these arguments and is
        // never unloaded.
        unsafe {
            let mut before: libc::sigaction = zeroed();
            libc::sigaction(signal, std::ptr::null(), &mut before);
            if before.sa_sigaction != libc::SIG_DFL {
                return false;
            }
            let mut action: libc::sigaction = zeroed();
            action.sa_sigaction = sample as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK;
            libc::sigemptyset(&mut action.sa_mask);
            libc::sigaction(signal, &action, null_mut()) == 0
        }
    })
}

unsafe extern "C" fn sample(_: c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the system passes the interrupted context, as the handler was installed with `SA_SIGINFO`.
    let registers = unsafe { registers(&*context.cast::<libc::ucontext_t>()) };
    // Not if the signal has interrupted the recorder.
    if let Some(mut thread) = thread::current().and_then(Guarded::lock) {
        // SAFETY: the address is that of the thread's own error number, which the program must not see
        // changed.
        let error = unsafe { *libc::__errno_location() };
        take(&mut thread, registers);
        // SAFETY: as above.
        unsafe { *libc::__errno_location() = error };
    }
}

fn take(thread: &mut Thread, registers: Registers) {
    let base = thread.base();
    let Some(path) = thread.paths.as_mut().and_then(|paths| paths.at_sample(registers, base)) else { return };
    thread.sample(clock::now(), path, GENERATOR);
}

#[cfg(target_arch = "x86_64")]
fn registers(context: &libc::ucontext_t) -> Registers {
    let general = &context.uc_mcontext.gregs;
    Registers {
        instruction: general[libc::REG_RIP as usize] as u64,
        stack: general[libc::REG_RSP as usize] as u64,
        frame: general[libc::REG_RBP as usize] as u64,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn registers(_: &libc::ucontext_t) -> Registers {
    Registers { instruction: 0, stack: 0, frame: 0 }
}
