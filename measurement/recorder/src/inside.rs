//! Which code of a thread may use what is kept for the thread.
//!
//! No other thread ever does. But the recorder may be at work in a thread in several places at once: in a call of MPI that
//! is being recorded, in calls that come from inside of it, in the handler of a signal that has interrupted any of these.
//! So there is a lock that is only ever tried: who gets it has an [`Inside`], until it is dropped, and is the only one to
//! reach the [`Thread`].
//!
//! A call may be left by `longjmp`, or by the end of the program: then its `Inside` is never dropped, and the next one
//! takes over. That is sound because nothing of that call's frames runs any more, and even if it did (a program that breaks
//! the rules of MPI may call `MPI_Finalize` inside of a call): an `Inside` refers to the thread for a moment only, and no such
//! reference is alive while the MPI library is at work.

use std::cell::{Cell, UnsafeCell};
use std::ops::{Deref, DerefMut};
use std::ptr::null;
use std::sync::atomic::{AtomicBool, Ordering, compiler_fence};

use call_paths::Registers;

use crate::clock;
use crate::process::Process;
use crate::thread::Thread;

/// A thread behind its lock.
pub(crate) struct Guarded {
    /// Whether there is an [`Inside`]. Only its own thread and handlers of signals in that thread use it: relaxed accesses
    /// with fences for the compiler are enough.
    is_inside: AtomicBool,
    /// The process and the call that is under way, for calls that come from inside.
    pub(crate) process: &'static Process,
    frame: Frame,
    thread: UnsafeCell<Thread>,
}

/// How to tell that a call has been left without returning.
struct Frame {
    /// Where the stack was in the recorder.
    stack_pointer: Cell<u64>,
    /// Where the address is to which the call returns, below the stack pointer of the program's function that calls MPI, and
    /// that address. Null if there is no call.
    slot: Cell<*const u64>,
    returns_to: Cell<u64>,
}

/// The right to use what is kept for the calling thread.
pub(crate) struct Inside {
    guarded: &'static Guarded,
}

impl Guarded {
    pub(crate) fn new(thread: Thread) -> Guarded {
        Guarded {
            is_inside: AtomicBool::new(false),
            process: thread.process,
            frame: Frame { stack_pointer: Cell::new(0), slot: Cell::new(null()), returns_to: Cell::new(0) },
            thread: UnsafeCell::new(thread),
        }
    }

    /// Lets the recorder work in this thread; `None` if it does already: what happens then is not recorded. A signal handler
    /// may ask at any instruction.
    #[inline]
    pub(crate) fn enter(&'static self) -> Option<Inside> {
        // A handler that comes between these two is done, and outside again, before the second.
        if self.is_inside.load(Ordering::Relaxed) {
            return None;
        }
        self.is_inside.store(true, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        Some(Inside { guarded: self })
    }

    /// The same for a new call while another one is open, if that one has been left without returning, by `longjmp`: the
    /// stack is not below it any more, or something else is where its return address was; or the new one `ends_all`, as
    /// `MPI_Finalize` does, which no other call makes. If so, it is recorded that the open call was left.
    #[cold]
    pub(crate) fn take_over(&'static self, stack_pointer: u64, ends_all: bool) -> Option<Inside> {
        let Frame { stack_pointer: before, slot, returns_to } = &self.frame;
        if slot.get().is_null() {
            return None;
        }
        // SAFETY: the place is on the thread's stack, which is there as long as the thread; what is in it does not matter if
        // the call is over.
        let found = unsafe { slot.get().read_volatile() };
        if !ends_all && stack_pointer < before.get() && found == returns_to.get() {
            return None;
        }
        // The `Inside` of the open call is never used again, and nobody refers to the thread by it, as said above.
        let mut inside = Inside { guarded: self };
        inside.close_call();
        let path = inside.call.path;
        inside.leave_path(clock::now(), path);
        Some(inside)
    }

    pub(crate) fn into_thread(self) -> Thread {
        self.thread.into_inner()
    }
}

impl Inside {
    /// Notes the frame of a call: the stack in the recorder, and the stack pointer of the program's function.
    #[inline]
    pub(crate) fn open_call(&mut self, registers: Registers, stack_pointer: u64) {
        let slot = (stack_pointer.max(registers.stack + 8) - 8) as *const u64;
        // SAFETY: on the thread's stack, at or above its stack pointer.
        let returns_to = unsafe { slot.read_volatile() };
        let frame = &self.guarded.frame;
        frame.stack_pointer.set(registers.stack);
        frame.slot.set(slot);
        frame.returns_to.set(returns_to);
    }

    /// No call is open any more.
    #[inline]
    pub(crate) fn close_call(&mut self) {
        self.guarded.frame.slot.set(null());
    }

    /// Lets nobody in any more: nothing else is recorded in this thread.
    pub(crate) fn stay(self) {
        std::mem::forget(self);
    }
}

impl Deref for Inside {
    type Target = Thread;

    #[inline]
    fn deref(&self) -> &Thread {
        // SAFETY: an `Inside` is the only one that is used, see above, and is itself borrowed.
        unsafe { &*self.guarded.thread.get() }
    }
}

impl DerefMut for Inside {
    #[inline]
    fn deref_mut(&mut self) -> &mut Thread {
        // SAFETY: as above; borrowed by one only.
        unsafe { &mut *self.guarded.thread.get() }
    }
}

impl Drop for Inside {
    #[inline]
    fn drop(&mut self) {
        compiler_fence(Ordering::SeqCst);
        self.guarded.is_inside.store(false, Ordering::Relaxed);
    }
}
