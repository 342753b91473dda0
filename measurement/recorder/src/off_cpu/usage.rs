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
        cores: cores(),
    }));
}

/// The cores on which the calling thread may run. The system itself is called: the masks of the C library end at 1,024 cores.
fn cores() -> Option<String> {
    let mut mask = [0_u64; 256];
    // SAFETY: the mask is writable and has so many bytes.
    let bytes =
        unsafe { libc::syscall(libc::SYS_sched_getaffinity, 0, size_of_val(&mask), mask.as_mut_ptr()) };
    (bytes > 0).then(|| ranges(&mask))
}

/// Numbers of the bits of a mask, as ranges.
fn ranges(mask: &[u64]) -> String {
    let is_set = |at: usize| mask.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1);
    let all = 0..64 * mask.len();
    let firsts = all.clone().filter(|&at| is_set(at) && (at == 0 || !is_set(at - 1)));
    let range = |first: usize| {
        let last = (first..).take_while(|&at| is_set(at)).last().unwrap_or(first);
        if last == first { first.to_string() } else { format!("{first}-{last}") }
    };
    firsts.map(range).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_ranges() {
        assert_eq!(ranges(&[0b1_0000_1111, 1 << 63]), "0-3,8,127");
        assert_eq!(ranges(&[u64::MAX, 1]), "0-64");
        assert_eq!(ranges(&[0]), "");
    }
}
