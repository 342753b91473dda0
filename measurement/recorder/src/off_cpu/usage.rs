//! What a thread has used of the machine, as it ends (`getrusage(2)`): also where the kernel records no switches.

use std::mem::zeroed;

use recording::journal::{JournalRecord, ThreadUsage};

use crate::process::Process;

/// Appends what the calling thread has used to the journal; nothing if the system does not tell it.
pub(crate) fn append_usage(process: &Process, thread: u32) {
    // SAFETY: `rusage` is plain data for which zero is valid.
    let mut used: libc::rusage = unsafe { zeroed() };
    // SAFETY: it is writable.
    if unsafe { libc::getrusage(libc::RUSAGE_THREAD, &mut used) } != 0 {
        return;
    }
    let nanoseconds = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000;
    process.append(&JournalRecord::Usage(ThreadUsage {
        thread,
        processor_nanoseconds: nanoseconds(used.ru_utime) + nanoseconds(used.ru_stime),
        // The system counts in units of 1024 bytes.
        resident_bytes: used.ru_maxrss as u64 * 1024,
        minor_faults: used.ru_minflt as u64,
        major_faults: used.ru_majflt as u64,
        voluntary_switches: used.ru_nvcsw as u64,
        involuntary_switches: used.ru_nivcsw as u64,
    }));
}
