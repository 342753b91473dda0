//! Locks of files: got, given back, refused.

use call_paths::Registers;

use super::access::{Access, by_descriptor};
use super::descriptors::{self, OpenFile};
use crate::record;

/// OTF2's types of locks.
const EXCLUSIVE: u8 = 0;
const SHARED: u8 = 1;

/// What a call asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Request {
    Lock(u8),
    Unlock,
    /// Something else, such as whether there is a lock.
    Nothing,
}

/// Makes a call of `flock`.
#[inline(always)]
pub(super) fn lock_file(
    function: u32,
    registers: Registers,
    (descriptor, operation): (i32, i32),
    real: impl FnOnce() -> usize,
) -> usize {
    let request = match operation & !libc::LOCK_NB {
        libc::LOCK_SH => Request::Lock(SHARED),
        libc::LOCK_EX => Request::Lock(EXCLUSIVE),
        libc::LOCK_UN => Request::Unlock,
        _ => Request::Nothing,
    };
    lock(function, registers, descriptor, || request, real)
}

/// Makes a call of `lockf`.
#[inline(always)]
pub(super) fn lock_rest(
    function: u32,
    registers: Registers,
    (descriptor, command): (i32, i32),
    real: impl FnOnce() -> usize,
) -> usize {
    let request = match command {
        libc::F_LOCK | libc::F_TLOCK => Request::Lock(EXCLUSIVE),
        libc::F_ULOCK => Request::Unlock,
        _ => Request::Nothing,
    };
    lock(function, registers, descriptor, || request, real)
}

/// Makes a call of `fcntl` that sets a lock, which is described at an address.
#[inline(always)]
pub(super) fn lock_range(
    function: u32,
    registers: Registers,
    (descriptor, description): (i32, usize),
    real: impl FnOnce() -> usize,
) -> usize {
    let request = || {
        // SAFETY: the system has read the description.
        let kind = unsafe { (*(description as *const libc::flock)).l_type };
        match i32::from(kind) {
            libc::F_RDLCK => Request::Lock(SHARED),
            libc::F_WRLCK => Request::Lock(EXCLUSIVE),
            libc::F_UNLCK => Request::Unlock,
            _ => Request::Nothing,
        }
    };
    lock(function, registers, descriptor, request, real)
}

/// Makes a call for a lock. `request` is asked for only if the system has understood the call.
#[inline(always)]
fn lock(
    function: u32,
    registers: Registers,
    descriptor: i32,
    request: impl FnOnce() -> Request,
    real: impl FnOnce() -> usize,
) -> usize {
    by_descriptor(function, registers, descriptor, real, |access, file, result| {
        // SAFETY: the C library has a place for each thread.
        let error = if result as i32 == 0 { 0 } else { unsafe { *libc::__errno_location() } };
        if [0, libc::EAGAIN, libc::EACCES].contains(&error) {
            let (_, end) = access.times();
            asked(access, end, (descriptor, file), request(), error == 0);
        }
    })
}

/// Records what has become of a request.
fn asked(
    access: &mut Access,
    time: u64,
    (descriptor, file): (i32, OpenFile),
    request: Request,
    is_granted: bool,
) {
    let (events, handle) = (&mut access.thread().events, file.handle.into());
    match request {
        Request::Lock(kind) if is_granted => {
            descriptors::set(descriptor, Some(OpenFile { shares: kind == SHARED, ..file }));
            record::io_acquire_lock(events, time, handle, kind);
        }
        Request::Lock(kind) => record::io_try_lock(events, time, handle, kind),
        // Of several ranges it is taken for the one that was locked last.
        Request::Unlock => {
            record::io_release_lock(events, time, handle, if file.shares { SHARED } else { EXCLUSIVE });
        }
        Request::Nothing => {}
    }
}
