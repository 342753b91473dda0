//! Exclusive access to a thread's data.
//!
//! No other thread ever uses them. But the recorder may be at work in a thread in several places at once: in
//! a call of MPI that is being recorded, in calls from inside of it, in the handler of a signal that has
//! interrupted any of these. So there is a lock that is only ever tried: while it is held there is one
//! [`Inside`], the only way to the [`Thread`]; dropping it unlocks.
//!
//! A call may be left by `longjmp`, or by the end of the program: then its `Inside` is never dropped, and the
//! next one takes over. That is sound because nothing of that call's frames runs any more, and even if it did
//! (a program that breaks the rules of MPI may call `MPI_Finalize` inside of a call): an `Inside` refers to
//! the thread for a moment only, and no such reference is alive while the MPI library is at work. So while it is at
//! work in a call for a file, calls of the C library that it makes may lock the data for a moment, too, one at a time
//! ([`Guarded::lock_inner`]).

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
    /// Whether the lock is held. Only its own thread and handlers of signals in that thread use it: relaxed
    /// accesses with fences for the compiler are enough.
    is_inside: AtomicBool,
    /// The process, and the frame of the open call, for calls from inside.
    pub(crate) process: &'static Process,
    frame: CallFrame,
    /// The part of calls that MPI makes inside of a call for a file.
    inner: InnerCalls,
    thread: UnsafeCell<Thread>,
}

/// Whether calls of the C library from inside of the open call are recorded, and for which file.
struct InnerCalls {
    /// Set while the MPI library is at work in a call for a file, and none of these calls is being recorded.
    are_admitted: AtomicBool,
    /// The handle of the file; not that of an open file if it is being opened.
    file: Cell<usize>,
}

/// The stack frame of the open call, to detect that it was left without returning.
struct CallFrame {
    /// The stack pointer in the recorder.
    stack_pointer: Cell<u64>,
    /// Address of the return address of the call, below the stack pointer of the program's function that
    /// calls MPI, and the value there. Null if no call is open.
    slot: Cell<*const u64>,
    returns_to: Cell<u64>,
}

/// The right to use the data of the calling thread.
pub(crate) struct Inside {
    guarded: &'static Guarded,
}

impl Guarded {
    pub(crate) fn new(thread: Thread) -> Guarded {
        Guarded {
            is_inside: AtomicBool::new(false),
            process: thread.process,
            frame: CallFrame {
                stack_pointer: Cell::new(0),
                slot: Cell::new(null()),
                returns_to: Cell::new(0),
            },
            inner: InnerCalls { are_admitted: AtomicBool::new(false), file: Cell::new(0) },
            thread: UnsafeCell::new(thread),
        }
    }

    /// Locks the thread's data; `None` if they are locked already, by whatever this call is inside of: it is
    /// not recorded. A signal handler may call this at any instruction.
    #[inline]
    pub(crate) fn lock(&'static self) -> Option<Inside> {
        // A handler that comes between these two is done, and has unlocked, before the second.
        if self.is_inside.load(Ordering::Relaxed) {
            return None;
        }
        self.is_inside.store(true, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        Some(Inside { guarded: self })
    }

    /// Locks the thread's data for a new call while another one is open, if that one has been left without
    /// returning, by `longjmp`: the stack is not below it any more, or the value at the address of its return
    /// address has changed; or if the new one `ends_all`, as `MPI_Finalize` does, which no other call makes.
    /// If so, it is recorded that the open call was left.
    #[cold]
    pub(crate) fn take_over(&'static self, stack_pointer: u64, ends_all: bool) -> Option<Inside> {
        let CallFrame { stack_pointer: before, slot, returns_to } = &self.frame;
        if slot.get().is_null() {
            return None;
        }
        // SAFETY: the address is on the thread's stack, above its stack pointer when the call was opened, and
        // a stack stays mapped as long as its thread; any value will do if the call is over.
        let found = unsafe { slot.get().read_volatile() };
        if !ends_all && stack_pointer < before.get() && found == returns_to.get() {
            return None;
        }
        // The `Inside` of the open call is never used again, and no reference by it is alive, as the module's
        // description says.
        let mut inside = Inside { guarded: self };
        inside.close_call();
        let path = inside.call.path;
        inside.leave_path(clock::now(), path);
        Some(inside)
    }

    /// Lets calls of the C library be recorded from now on, which the MPI library makes for a file: the caller has
    /// the lock, and no reference to the thread's data, until [`Self::refuse_inner`].
    #[cfg(posix)]
    pub(crate) fn admit_inner(&self, file: usize) {
        self.inner.file.set(file);
        compiler_fence(Ordering::SeqCst);
        self.inner.are_admitted.store(true, Ordering::Relaxed);
    }

    /// Ends what [`Self::admit_inner`] began.
    #[cfg(posix)]
    pub(crate) fn refuse_inner(&self) {
        self.inner.are_admitted.store(false, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
    }

    /// Whether calls of the C library may be recorded now as MPI's own.
    #[cfg(posix)]
    pub(crate) fn admits_inner(&self) -> bool {
        self.inner.are_admitted.load(Ordering::Relaxed)
    }

    /// Locks the thread's data once more, for a call from inside of the open one; `None` if that is not admitted. The
    /// result is to be given to [`Inside::unlock_inner`].
    #[cfg(posix)]
    #[inline]
    pub(crate) fn lock_inner(&'static self) -> Option<std::mem::ManuallyDrop<Inside>> {
        // A handler that comes between these two is done, and has admitted calls again, before the second.
        if !self.inner.are_admitted.load(Ordering::Relaxed) {
            return None;
        }
        self.inner.are_admitted.store(false, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        Some(std::mem::ManuallyDrop::new(Inside { guarded: self }))
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
        // SAFETY: the address is on the thread's stack, at or above its stack pointer.
        let returns_to = unsafe { slot.read_volatile() };
        let frame = &self.guarded.frame;
        frame.stack_pointer.set(registers.stack);
        frame.slot.set(slot);
        frame.returns_to.set(returns_to);
    }

    /// Notes that no call is open any more.
    #[inline]
    pub(crate) fn close_call(&mut self) {
        self.guarded.frame.slot.set(null());
        self.guarded.inner.are_admitted.store(false, Ordering::Relaxed);
    }

    /// Returns the handle of the file that MPI is at work on, if the call is for one that is open.
    #[cfg(posix)]
    pub(crate) fn file_at_work(&self) -> usize {
        self.guarded.inner.file.get()
    }

    /// Ends the recording of a call from inside of the open one: the thread's data are not used any more until the
    /// next one.
    #[cfg(posix)]
    #[inline]
    pub(crate) fn unlock_inner(&mut self) {
        compiler_fence(Ordering::SeqCst);
        self.guarded.inner.are_admitted.store(true, Ordering::Relaxed);
    }

    /// Keeps the lock for ever: nothing else is recorded in this thread.
    pub(crate) fn lock_forever(self) {
        std::mem::forget(self);
    }
}

impl Deref for Inside {
    type Target = Thread;

    #[inline]
    fn deref(&self) -> &Thread {
        // SAFETY: there is one `Inside` that is used at a time, see the module's description, and it is
        // borrowed.
        unsafe { &*self.guarded.thread.get() }
    }
}

impl DerefMut for Inside {
    #[inline]
    fn deref_mut(&mut self) -> &mut Thread {
        // SAFETY: as above, and it is borrowed mutably.
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
