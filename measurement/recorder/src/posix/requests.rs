//! Asynchronous transfers of POSIX (io.md, 2.5): begun and issued by one call, tested and completed by others, perhaps in
//! other threads.
//!
//! The threads in which the C library carries them out call nothing by its name: they are not seen.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};

use call_paths::Registers;
use recording::attributes::{OFFSET, UINT64};
use recording::file_functions::number;

use super::access::Access;
use super::descriptors;
use super::ended::{self, Ended};
use super::keeping_errno;
use super::next::next;
use crate::clock::now;
use crate::handles::Handles;
use crate::hooks::transfers::{FLUSH, NON_BLOCKING, READ, UNKNOWN, WRITE};
use crate::levels::Zeroed;
use crate::record;
use crate::thread::Thread;

/// Requests that are under way, by the addresses of their control blocks.
static REQUESTS: Handles<Request> = Handles::new();

/// A request that has been issued. Atomics, as nothing here keeps a program from asking for one in two threads at once.
struct Request {
    /// Matches the records of the operation.
    number: AtomicU64,
    handle: AtomicU32,
    mode: AtomicU8,
    /// Whether the begin is in the trace.
    is_recorded: AtomicBool,
}

// SAFETY: atomics; zero is a value of each.
unsafe impl Zeroed for Request {}

/// What is known of a request.
#[derive(Clone, Copy)]
struct Known {
    number: u64,
    handle: u32,
    mode: u8,
    is_recorded: bool,
}

impl Request {
    fn get(&self) -> Known {
        Known {
            number: self.number.load(Ordering::Relaxed),
            handle: self.handle.load(Ordering::Relaxed),
            mode: self.mode.load(Ordering::Relaxed),
            is_recorded: self.is_recorded.load(Ordering::Relaxed),
        }
    }

    fn set(&self, known: Known) {
        self.number.store(known.number, Ordering::Relaxed);
        self.handle.store(known.handle, Ordering::Relaxed);
        self.mode.store(known.mode, Ordering::Relaxed);
        self.is_recorded.store(known.is_recorded, Ordering::Relaxed);
    }
}

impl Known {
    /// What has become of it, if `aio_return` says that.
    fn ended(self, result: isize) -> Ended {
        let moved = u64::try_from(result).ok();
        let bytes = if self.mode == FLUSH { moved.map(|_| UNKNOWN) } else { moved };
        Ended { handle: self.handle, number: self.number, bytes }
    }
}

/// A transfer that a control block describes.
#[derive(Clone, Copy)]
struct Described {
    handle: u32,
    mode: u8,
    bytes: u64,
    offset: Option<u64>,
}

/// Reads the control block of a transfer; `None` if its file is not recorded, or there is nothing to do. Without a mode
/// it is the one of the block.
///
/// # Safety
/// A control block is at the address, or that is null.
unsafe fn described(block: usize, mode: Option<u8>) -> Option<Described> {
    // SAFETY: the caller guarantees it.
    let block = unsafe { (block as *const libc::aiocb).as_ref()? };
    let file = descriptors::find(block.aio_fildes)?;
    let mode = mode.or(match block.aio_lio_opcode {
        libc::LIO_READ => Some(READ),
        libc::LIO_WRITE => Some(WRITE),
        _ => None,
    })?;
    let is_at_offset = mode != FLUSH && !(mode == WRITE && file.appends);
    Some(Described {
        handle: file.handle,
        mode,
        bytes: if mode == FLUSH { UNKNOWN } else { block.aio_nbytes as u64 },
        offset: is_at_offset.then_some(block.aio_offset as u64),
    })
}

/// Makes a call that issues a request.
#[inline(always)]
pub(super) fn issue(
    function: u32,
    registers: Registers,
    (block, mode): (usize, u8),
    real: impl FnOnce() -> usize,
) -> usize {
    // SAFETY: the C library reads the block as well.
    let described = if super::is_on() { unsafe { described(block, Some(mode)) } } else { None };
    let Some(described) = described else { return real() };
    let Some(mut access) = Access::lock() else { return real() };
    access.enter(registers, function, now());
    // Before the call: it may be complete, and asked for by another thread, when that returns.
    let (begin, _) = access.times();
    let known = keep(access.thread(), begin, block, described);
    let result = real();
    let end = access.end_at(now());
    keeping_errno(|| {
        if result as i32 == 0 {
            let thread = access.thread();
            begun(thread, begin, described, (known, NON_BLOCKING));
            record::io_issued(&mut thread.events, end, known.handle.into(), known.number);
        } else {
            remove(block);
        }
        drop(access);
    });
    result
}

/// Keeps a request that is about to be issued. One that is there with the same block is over: nobody has asked for it.
fn keep(thread: &mut Thread, time: u64, block: usize, described: Described) -> Known {
    if let Some(forgotten) = remove(block).filter(|forgotten| forgotten.is_recorded) {
        let Known { handle, number, .. } = forgotten;
        ended::record(thread, time, Ended { handle, number, bytes: Some(UNKNOWN) });
    }
    let Described { handle, mode, .. } = described;
    let number = thread.next_request();
    let known = Known { number, handle, mode, is_recorded: !thread.events.is_muted() };
    REQUESTS.insert(block, |request| request.set(known));
    known
}

/// Records that a transfer begins.
fn begun(thread: &mut Thread, time: u64, described: Described, (known, flags): (Known, u64)) {
    let Described { handle, mode, bytes, offset } = described;
    let events = &mut thread.events;
    if let Some(offset) = offset {
        events.attributes(time, &[(OFFSET, UINT64, offset)]);
    }
    record::io_begin(events, time, handle.into(), mode, flags, bytes, known.number);
}

fn find(block: usize) -> Option<Known> {
    if super::is_on() { REQUESTS.find(block).map(Request::get) } else { None }
}

fn remove(block: usize) -> Option<Known> {
    REQUESTS.remove(block, Request::get)
}

/// Makes a call that issues the requests of a list, and with `LIO_WAIT` waits for all of them.
#[inline(always)]
pub(super) fn issue_all(
    function: u32,
    registers: Registers,
    (mode, list, count): (i32, usize, i32),
    real: impl FnOnce() -> usize,
) -> usize {
    let waits = mode == libc::LIO_WAIT;
    if !super::is_on() || !(waits || mode == libc::LIO_NOWAIT) {
        return real();
    }
    // SAFETY: the C library reads list and blocks as well.
    let transfer = |block| unsafe { described(block, None) };
    if blocks(list, count).all(|block| transfer(block).is_none()) {
        return real();
    }
    let Some(mut access) = Access::lock() else { return real() };
    access.enter(registers, function, now());
    let (begin, _) = access.times();
    for block in blocks(list, count) {
        if let Some(described) = transfer(block) {
            let known = keep(access.thread(), begin, block, described);
            begun(access.thread(), begin, described, (known, if waits { 0 } else { NON_BLOCKING }));
        }
    }
    let result = real();
    let end = access.end_at(now());
    keeping_errno(|| {
        let may_be_over = waits || result as i32 != 0;
        blocks(list, count).for_each(|block| listed(access.thread(), end, block, may_be_over));
        drop(access);
    });
    result
}

/// Records what has become of a request of a list, unless another thread has done so. Blocks of requests that may be
/// over are asked: those of a list that was refused, too, have the state of that.
fn listed(thread: &mut Thread, time: u64, block: usize, may_be_over: bool) {
    let Some(known) = find(block) else { return };
    // SAFETY: the program has just passed this block, and has not got any other answer.
    match if may_be_over { unsafe { ask(number("aio_error"), block) as i32 } } else { libc::EINPROGRESS } {
        libc::EINPROGRESS => {
            record::io_issued(&mut thread.events, time, known.handle.into(), known.number);
        }
        error => {
            remove(block);
            // SAFETY: as above. The result stays there for the program.
            let result = if error == 0 { unsafe { ask(number("aio_return"), block) } } else { -1 };
            if known.is_recorded {
                ended::record(thread, time, known.ended(result));
            }
        }
    }
}

/// Calls a function of the C library that tells something of a request.
///
/// # Safety
/// The number is that of `aio_error` or `aio_return`, and the address that of a control block.
unsafe fn ask(function: u32, block: usize) -> isize {
    // SAFETY: this is the function of that name, or one without parameters that stands for it.
    unsafe {
        let ask: unsafe extern "C" fn(usize) -> isize = std::mem::transmute::<usize, _>(next(function));
        ask(block)
    }
}

/// The control blocks of a list that a call has got, of which some may be null.
fn blocks(list: usize, count: i32) -> impl Iterator<Item = usize> {
    let count = if list == 0 { 0 } else { usize::try_from(count).unwrap_or(0) };
    // SAFETY: the list has so many elements.
    (0..count).map(move |at| unsafe { *(list as *const usize).add(at) })
}

/// Makes a call that asks how a request is going.
#[inline(always)]
pub(super) fn test(function: u32, registers: Registers, block: usize, real: impl FnOnce() -> usize) -> usize {
    let Some(known) = find(block) else { return real() };
    let Some(mut access) = Access::lock() else { return real() };
    access.enter(registers, function, now());
    let result = real();
    let end = access.end_at(now());
    keeping_errno(|| {
        match result as i32 {
            libc::EINPROGRESS if known.is_recorded => {
                record::io_test(&mut access.thread().events, end, known.handle.into(), known.number);
            }
            libc::ECANCELED => cancelled(&mut access, block),
            _ => {}
        }
        drop(access);
    });
    result
}

/// Makes a call that gets the result of a request that has ended.
#[inline(always)]
pub(super) fn complete(
    function: u32,
    registers: Registers,
    block: usize,
    real: impl FnOnce() -> usize,
) -> usize {
    if find(block).is_none() {
        return real();
    }
    // Before the call: then the block may be used again.
    let Some(known) = remove(block) else { return real() };
    let Some(mut access) = Access::lock() else {
        // MPI asks for its own in any call.
        let result = real();
        if known.is_recorded {
            ended::keep(known.ended(result as isize));
        }
        return result;
    };
    access.enter(registers, function, now());
    let result = real();
    let end = access.end_at(now());
    keeping_errno(|| {
        if known.is_recorded {
            ended::record(access.thread(), end, known.ended(result as isize));
        }
        drop(access);
    });
    result
}

/// Makes a call that cancels a request. Without a block those of the descriptor are meant: which of them are cancelled is
/// known where the program asks for each.
#[inline(always)]
pub(super) fn cancel(
    function: u32,
    registers: Registers,
    (descriptor, block): (i32, usize),
    real: impl FnOnce() -> usize,
) -> usize {
    if descriptors::find(descriptor).is_none() {
        return real();
    }
    let Some(mut access) = Access::lock() else { return real() };
    access.enter(registers, function, now());
    let result = real();
    access.end_at(now());
    keeping_errno(|| {
        if result as i32 == libc::AIO_CANCELED {
            cancelled(&mut access, block);
        }
        drop(access);
    });
    result
}

/// Records that a request was cancelled, if there is one with this block.
fn cancelled(access: &mut Access, block: usize) {
    let (_, end) = access.times();
    if let Some(known) = remove(block).filter(|known| known.is_recorded) {
        ended::record(access.thread(), end, known.ended(-1));
    }
}

/// Makes a call that waits for one of some requests.
#[inline(always)]
pub(super) fn suspend(
    function: u32,
    registers: Registers,
    (list, count): (usize, i32),
    real: impl FnOnce() -> usize,
) -> usize {
    if !super::is_on() || blocks(list, count).all(|block| find(block).is_none()) {
        return real();
    }
    let Some(mut access) = Access::lock() else { return real() };
    access.enter(registers, function, now());
    let result = real();
    keeping_errno(|| {
        access.end_at(now());
        drop(access);
    });
    result
}
