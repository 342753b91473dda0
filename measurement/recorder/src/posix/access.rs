//! A call of a function for files that is being recorded.

use std::ffi::CStr;
use std::mem::ManuallyDrop;

use call_paths::{RegionBase, Registers};
use recording::paths::{FILE_FUNCTION, NO_PARENT};

use super::descriptors::{self, OpenFile};
use super::ended;
use super::inner::{self, MpiFile};
use super::keeping_errno;
use crate::clock::now;
use crate::inside::Inside;
use crate::process::{self, Process};
use crate::rounds;
use crate::thread::{self, OpenCall, Thread};

/// The right to record a call, and its events once it is entered.
pub(crate) struct Access {
    thread: ManuallyDrop<Inside>,
    /// Whether it is made by MPI, in a call for a file that is being recorded.
    pub(crate) is_inner: bool,
    /// Its path; [`NO_PARENT`] until it is entered.
    path: u32,
    begin: u64,
    end: u64,
}

impl Access {
    /// Locks the thread's data; `None` if the call is not recorded: files are not, or it comes from inside of
    /// something that is being recorded, other than a call of MPI for a file.
    #[inline]
    pub(crate) fn lock() -> Option<Access> {
        if !super::is_on() {
            return None;
        }
        let guarded = thread::here()?;
        let (thread, is_inner) = match guarded.lock() {
            Some(thread) => (ManuallyDrop::new(thread), false),
            None => match guarded.lock_inner() {
                Some(thread) => (thread, true),
                // The stack pointer says nothing: handlers of signals may have a stack of their own.
                None => (ManuallyDrop::new(guarded.take_over(0, false)?), false),
            },
        };
        let mut access = Access { thread, is_inner, path: NO_PARENT, begin: 0, end: 0 };
        if !is_inner {
            rounds::follow(&mut access.thread);
        }
        Some(access)
    }

    /// Records that the function was entered at that time. `registers` are those of its export.
    #[inline]
    pub(crate) fn enter(&mut self, registers: Registers, function: u32, begin: u64) {
        let thread: &mut Thread = &mut self.thread;
        let (target, base) = (u64::from(function), thread.base());
        let base = match thread.paths.as_mut() {
            None => RegionBase::NONE,
            // Functions of MPI are not on call paths: it is directly below the call.
            Some(paths) if self.is_inner => {
                let call = RegionBase { stack_pointer: registers.stack, node: thread.call.path };
                paths.at_earlier_region(Some(call), registers.stack, FILE_FUNCTION, target)
            }
            Some(paths) => paths.at_region(registers, base, FILE_FUNCTION, target),
        };
        (self.path, self.begin) = (base.node, begin);
        thread.enter_path(begin, base.node);
        if !self.is_inner {
            self.thread.open_call(registers, base.stack_pointer);
            self.thread.call =
                OpenCall { path: base.node, ends_round: false, begin, end: 0, was_off: false, mark: None };
        }
    }

    /// Notes the time at which the function returned; returns the time of the leave.
    #[inline]
    pub(crate) fn end_at(&mut self, time: u64) -> u64 {
        self.end = time.max(self.begin);
        if !process::is_forked() {
            self.thread.settle_end(self.end);
        }
        self.end
    }

    /// Returns the process.
    pub(crate) fn process(&self) -> &'static Process {
        self.thread.process
    }

    /// Returns begin and end.
    #[inline]
    pub(crate) fn times(&self) -> (u64, u64) {
        (self.begin, self.end)
    }

    /// Returns the file of MPI in whose call this one is made, if that is known.
    pub(crate) fn mpi_file(&self) -> Option<MpiFile> {
        let thread: &Thread = &self.thread;
        let files = &thread.process.files;
        let open = files.find(self.thread.file_at_work());
        open.map(|file| MpiFile { handle: file.number(), identity: file.identity() }).or_else(|| {
            let (handle, path) = thread.opening?;
            // SAFETY: the call that opens the file is being made, so its path is there.
            Some(MpiFile { handle, identity: inner::identity(unsafe { CStr::from_ptr(path) }) })
        })
    }

    /// Returns the thread, to record what the call has done.
    #[inline]
    pub(crate) fn thread(&mut self) -> &mut Thread {
        &mut self.thread
    }
}

/// Makes a call for a descriptor; if that is recorded, between enter and leave. `record` gets what the function has returned, and
/// finds `errno` as that has left it.
#[inline(always)]
pub(crate) fn by_descriptor(
    function: u32,
    registers: Registers,
    descriptor: i32,
    real: impl FnOnce() -> usize,
    record: impl FnOnce(&mut Access, OpenFile, usize),
) -> usize {
    let Some(file) = descriptors::find(descriptor) else { return real() };
    let Some(mut access) = Access::lock() else { return real() };
    access.enter(registers, function, now());
    let result = real();
    access.end_at(now());
    keeping_errno(|| {
        record(&mut access, file, result);
        drop(access);
    });
    result
}

impl Drop for Access {
    /// Records that the function is left, if it was entered, and unlocks.
    #[inline]
    fn drop(&mut self) {
        if self.path != NO_PARENT && !process::is_forked() {
            // Without an end it is left by an exception, or because the thread is cancelled.
            let end = if self.end == 0 { now() } else { self.end };
            ended::settle(&mut self.thread, end);
            self.thread.leave_settled_path(end, self.path);
            if !self.is_inner {
                self.thread.close_call();
                self.thread.events.flush_if_nearly_full();
            }
        }
        if self.is_inner {
            self.thread.unlock_inner();
        } else {
            // SAFETY: it is not used any more.
            unsafe { ManuallyDrop::drop(&mut self.thread) };
        }
    }
}
