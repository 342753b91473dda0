//! Guard against mapped files that are shortened: a SIGBUS handler for the whole process.
//!
//! The handler looks up the mapping in a table of plain atomic numbers: no locks, no allocation.

use std::ptr;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Limit of concurrent mappings; further files are read. A process has far fewer locations per worker.
const SLOTS: usize = 1024;

struct Range {
    taken: AtomicBool,
    begin: AtomicUsize,
    end: AtomicUsize,
}

static RANGES: [Range; SLOTS] =
    [const { Range { taken: AtomicBool::new(false), begin: AtomicUsize::new(0), end: AtomicUsize::new(0) } };
        SLOTS];

/// Entry of the table, held as long as its mapping.
pub(crate) struct Slot(&'static Range);

/// Takes an entry of the table, if one is free; the first call installs the handler.
pub(crate) fn free_slot() -> Option<Slot> {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(install);
    let is_free = |range: &&Range| !range.taken.swap(true, Ordering::AcqRel);
    RANGES.iter().find(is_free).map(Slot)
}

impl Slot {
    pub(crate) fn guard(&self, bytes: &[u8]) {
        let begin = bytes.as_ptr().addr();
        self.0.end.store(begin + bytes.len(), Ordering::Release);
        self.0.begin.store(begin, Ordering::Release);
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.begin.store(0, Ordering::Release);
        self.0.end.store(0, Ordering::Release);
        self.0.taken.store(false, Ordering::Release);
    }
}

fn install() {
    // SAFETY: the action is complete: a handler that takes three arguments, as SA_SIGINFO announces, an empty
    // mask, and no other fields that this system knows. A failure leaves everything as it was.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handle as extern "C" fn(_, _, _) as usize;
        action.sa_flags = libc::SA_SIGINFO;
        libc::sigemptyset(&raw mut action.sa_mask);
        libc::sigaction(libc::SIGBUS, &raw const action, ptr::null_mut());
    }
}

/// Maps zeros from the page that was touched to the end of its mapping. Other addresses get the default
/// action.
extern "C" fn handle(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel calls this with a valid `info`. Everything called here may be called in a signal
    // handler: atomic loads, sysconf and signal by POSIX, and mmap, which is a bare system call on Linux. The
    // fixed mapping covers pages of a mapping of ours only, which cannot be unmapped meanwhile: the thread
    // that was stopped here is reading from it.
    unsafe {
        let touched = (*info).si_addr().addr();
        let page = usize::try_from(libc::sysconf(libc::_SC_PAGESIZE)).unwrap_or(4096);
        for range in &RANGES {
            let (begin, end) = (range.begin.load(Ordering::Acquire), range.end.load(Ordering::Acquire));
            if begin == 0 || !(begin..end).contains(&touched) {
                continue;
            }
            let from = touched - touched % page;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
            let address = ptr::with_exposed_provenance_mut(from);
            let mapped = libc::mmap(address, end - from, libc::PROT_READ, flags, -1, 0);
            if mapped != libc::MAP_FAILED {
                return;
            }
        }
        // Not ours: the instruction is executed again, and ends the process.
        libc::signal(libc::SIGBUS, libc::SIG_DFL);
    }
}
