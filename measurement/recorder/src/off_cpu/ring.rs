//! The kernel's records of one thread's switches (`perf_event_open(2)`): an event that counts nothing, whose buffer the kernel fills
//! with 24 bytes whenever the thread is taken off a processor or put on one. Nothing is to be done for it while the thread runs.

use std::io;
use std::ptr::null_mut;
use std::slice;
use std::sync::atomic::{AtomicU64, Ordering, fence};

use perf_event_open_sys::bindings::{
    self, PERF_COUNT_SW_DUMMY, PERF_FLAG_FD_CLOEXEC, PERF_RECORD_LOST, PERF_RECORD_MISC_SWITCH_OUT,
    PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, PERF_RECORD_SWITCH, PERF_SAMPLE_CPU, PERF_SAMPLE_TIME,
    PERF_TYPE_SOFTWARE, perf_event_attr, perf_event_mmap_page,
};
use perf_event_open_sys::perf_event_open;

/// Pages of records: a power of two, as the kernel wants it. They hold some 680 times off the processor between two events.
const PAGES: usize = 8;

/// Bytes of the largest record that is written here, that of lost ones.
const LARGEST: u64 = 48;

/// A record of the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Record {
    /// The thread was taken off the processor, while it could have gone on or not.
    Out { time: u64, processor: u32, is_preempted: bool },
    /// The thread was put on a processor.
    In { time: u64, processor: u32 },
    /// So many records found no room.
    Lost(u64),
}

/// The buffer that the kernel shares with the thread.
pub(super) struct Ring {
    page: *mut perf_event_mmap_page,
    records: *const u8,
    /// Bytes of records, a power of two.
    size: usize,
    /// Bytes of the mapping.
    mapped: usize,
}

impl Ring {
    /// Has the kernel record the switches of the calling thread from now on. The times are those of `CLOCK_MONOTONIC_RAW`.
    ///
    /// # Errors
    /// If the system does not permit it, or has no memory for the buffer.
    pub(super) fn open() -> io::Result<Ring> {
        let mut attributes = perf_event_attr::default();
        attributes.size = size_of::<perf_event_attr>() as u32;
        attributes.type_ = PERF_TYPE_SOFTWARE;
        attributes.config = PERF_COUNT_SW_DUMMY.into();
        attributes.sample_type = (PERF_SAMPLE_TIME | PERF_SAMPLE_CPU).into();
        attributes.clockid = libc::CLOCK_MONOTONIC_RAW;
        // Without the kernel's own part it is permitted to everybody up to a paranoia of 2.
        attributes.set_exclude_kernel(1);
        attributes.set_exclude_hv(1);
        attributes.set_use_clockid(1);
        attributes.set_sample_id_all(1);
        attributes.set_context_switch(1);
        // SAFETY: the attributes are complete, and ask for records of this thread only.
        let descriptor = unsafe { perf_event_open(&mut attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC.into()) };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: asks for a number of the system.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        let mapped = (1 + PAGES) * page;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice touches no other memory.
        let address = unsafe { libc::mmap(null_mut(), mapped, access, libc::MAP_SHARED, descriptor, 0) };
        let error = io::Error::last_os_error();
        // SAFETY: the descriptor is this function's own. The mapping keeps the event.
        unsafe { libc::close(descriptor) };
        if address == libc::MAP_FAILED {
            return Err(error);
        }
        // SAFETY: the records lie behind the first page of the mapping.
        let records = unsafe { address.cast::<u8>().add(page) };
        Ok(Ring { page: address.cast(), records, size: PAGES * page, mapped })
    }

    /// Returns where the kernel keeps how many bytes of records it has written.
    pub(super) fn head(&self) -> *const AtomicU64 {
        // SAFETY: the page is mapped as long as this value exists; only its address is taken.
        unsafe { (&raw const (*self.page).data_head).cast() }
    }

    /// Whether the kernel may have found no room for records behind that position: it says so with the next one that has room.
    pub(super) fn is_full(&self, position: u64) -> bool {
        // SAFETY: the page is mapped, and the kernel writes the head as a whole.
        let head = unsafe { (*self.head()).load(Ordering::Relaxed) };
        head.wrapping_sub(position) + 2 * LARGEST > self.size as u64
    }

    /// Calls `take` for the records from that position on, until it returns `false` for one, which will come again; returns the
    /// position behind the others, up to which the kernel may write again.
    pub(super) fn read(&self, mut position: u64, mut take: impl FnMut(Record) -> bool) -> u64 {
        // SAFETY: the page is mapped, and the kernel writes the head as a whole.
        let head = unsafe { (*self.head()).load(Ordering::Relaxed) };
        // The kernel has written the records before the head.
        fence(Ordering::Acquire);
        // SAFETY: the pages are mapped. The kernel does not write behind the tail, which is moved below.
        let records = unsafe { slice::from_raw_parts(self.records, self.size) };
        while position < head {
            let Some((record, length)) = decode(records, position) else {
                // Never from a kernel: nothing behind it can be read.
                position = head;
                break;
            };
            if record.is_some_and(|record| !take(record)) {
                break;
            }
            position += length;
        }
        // SAFETY: as for the head; the kernel reads the tail.
        unsafe {
            (*(&raw const (*self.page).data_tail).cast::<AtomicU64>()).store(position, Ordering::Release)
        };
        position
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own, and has this size.
        unsafe { libc::munmap(self.page.cast(), self.mapped) };
    }
}

/// Returns the record at a position of the buffer, `None` in its place for one of another kind, and its length; `None` if there can
/// be no record. Records go on at the begin of the buffer behind its end.
fn decode(buffer: &[u8], position: u64) -> Option<(Option<Record>, u64)> {
    /// Type of 4 bytes, flags and length of 2 each.
    const HEADER: usize = 8;
    let byte = |at: u64| buffer[(position.wrapping_add(at) % buffer.len() as u64) as usize];
    let u64_at = |at: u64| u64::from_le_bytes(std::array::from_fn(|byte_of| byte(at + byte_of as u64)));
    let header = u64_at(0);
    let (kind, flags, length) = (header as u32, (header >> 32) as u16 as u32, header >> 48);
    if (length as usize) < HEADER || length as usize > buffer.len() {
        return None;
    }
    // At the end of each record: time, processor, 4 bytes that are reserved.
    let is_long = length >= HEADER as u64 + 16;
    let record = match kind {
        PERF_RECORD_SWITCH if is_long => {
            let (time, processor) = (u64_at(length - 16), u64_at(length - 8) as u32);
            let is_out = flags & PERF_RECORD_MISC_SWITCH_OUT != 0;
            let is_preempted = flags & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT != 0;
            Some(if is_out {
                Record::Out { time, processor, is_preempted }
            } else {
                Record::In { time, processor }
            })
        }
        // The id of the event, the number of records.
        PERF_RECORD_LOST if is_long => Some(Record::Lost(u64_at(HEADER as u64 + 8))),
        _ => None,
    };
    Some((record, length))
}

const _: () = assert!(size_of::<bindings::perf_event_header>() == 8);

#[cfg(test)]
mod tests {
    use super::*;

    fn switch(flags: u32, time: u64, processor: u32) -> Vec<u8> {
        let header = u64::from(PERF_RECORD_SWITCH) | u64::from(flags) << 32 | 24 << 48;
        [header, time, processor.into()].iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn record_that_goes_on_at_the_begin_of_the_buffer_is_read() {
        let mut buffer = vec![0; 64];
        let record = switch(PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, 77, 3);
        record.iter().enumerate().for_each(|(at, byte)| buffer[(56 + at) % 64] = *byte);
        let expected = Record::Out { time: 77, processor: 3, is_preempted: true };
        assert_eq!(decode(&buffer, 64 * 5 + 56), Some((Some(expected), 24)));
        buffer[..24].copy_from_slice(&switch(0, 78, 4));
        assert_eq!(decode(&buffer, 0), Some((Some(Record::In { time: 78, processor: 4 }), 24)));
    }

    #[test]
    fn lost_records_are_counted_and_others_passed_over() {
        let lost = [u64::from(PERF_RECORD_LOST) | 40 << 48, 1, 12, 5, 0];
        let mut buffer: Vec<u8> = lost.iter().flat_map(|word| word.to_le_bytes()).collect();
        buffer.resize(64, 0);
        assert_eq!(decode(&buffer, 0), Some((Some(Record::Lost(12)), 40)));
        buffer[0] = 99;
        assert_eq!(decode(&buffer, 0), Some((None, 40)));
        // A length of 0.
        assert_eq!(decode(&buffer, 40), None);
    }
}
