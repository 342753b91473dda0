//! This host and its processes.

use recording::journal::ClockCalibration;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Returns the name of this host, as in journals.
pub(crate) fn name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Returns the start time of a process, in ticks since the host started; `None` if there is no such process.
pub(crate) fn start_of(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The second field is the name of the program in parentheses, which may contain anything.
    let (_, fields) = status.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace();
    // A zombie does nothing more.
    if matches!(fields.next()?, "Z" | "X") {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

/// Returns the age of a process, to a hundredth of a second; `None` if there is no such process.
pub(crate) fn age_of(process: u32) -> Option<Duration> {
    let started = Duration::from_millis(start_of(process)?.checked_mul(10)?);
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32).checked_sub(started)
}

/// Whether a process has a file below this folder mapped so that it may still write there. A reader of a
/// recording that grows may have its files mapped, too, and delays nothing.
pub(crate) fn writes(process: u32, folder: &Path) -> bool {
    let Ok(folder) = folder.canonicalize() else { return false };
    let maps = fs::read(format!("/proc/{process}/maps")).unwrap_or_default();
    maps.split(|&byte| byte == b'\n')
        .any(|line| is_writable_below(line, folder.as_os_str().as_encoded_bytes()))
}

/// Whether a line of `/proc/<process>/maps` is about a file below a folder that is shared and may be written
/// to: `<addresses> rw-s <offset> <device> <inode> <path>` (`proc(5)`).
fn is_writable_below(line: &[u8], folder: &[u8]) -> bool {
    let permissions = line.split(|&byte| byte == b' ').nth(1).unwrap_or_default();
    let path = line.iter().position(|&byte| byte == b'/').map_or(&[][..], |at| &line[at..]);
    let is_below = path.strip_prefix(folder).is_some_and(|rest| rest.starts_with(b"/"));
    is_below && permissions.contains(&b'w') && permissions.ends_with(b"s")
}

/// Whether any process that this one may inspect may still write below a folder.
pub(crate) fn is_written(folder: &Path) -> bool {
    let names = fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes = names.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    processes.into_iter().any(|process| writes(process, folder))
}

/// Reads the clocks of this host.
#[allow(unsafe_code)]
pub(crate) fn clocks() -> Option<ClockCalibration> {
    let of = |clock| {
        let time = rustix::time::clock_gettime(clock);
        (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64)
    };
    let nanoseconds = of(rustix::time::ClockId::MonotonicRaw);
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: every x86-64 processor has the counter, and reading it has no effect.
        let ticks = unsafe { std::arch::x86_64::_rdtsc() };
        Some(ClockCalibration { ticks, nanoseconds, realtime: of(rustix::time::ClockId::Realtime) })
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = nanoseconds;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_runs_and_an_impossible_one_does_not() {
        assert!(start_of(std::process::id()).is_some());
        assert_eq!(start_of(u32::MAX), None);
        assert!(!name().is_empty());
    }

    #[test]
    fn process_that_reads_a_mapped_file_does_not_write() {
        let is_writable = |line: &str| is_writable_below(line.as_bytes(), b"/run/recording");
        let line =
            |permissions: &str, path: &str| format!("7f00-7f10 {permissions} 00000000 fd:00 7     {path}");
        assert!(is_writable(&line("rw-s", "/run/recording/0.buffer")));
        assert!(!is_writable(&line("r--s", "/run/recording/0.buffer")));
        assert!(!is_writable(&line("rw-p", "/run/recording/0.buffer")));
        assert!(!is_writable(&line("rw-s", "/run/recording2/0.buffer")));
        assert!(
            !is_writable(&line("rw-s", "/run/other")) && !is_writable("") && !is_writable("7f00-7f10 rw-s")
        );
    }

    #[test]
    fn process_that_has_a_file_mapped_for_reading_delays_nothing() {
        let program = std::env::current_exe().unwrap();
        let folder = program.parent().unwrap();
        // The program itself is such a file.
        assert!(!writes(std::process::id(), folder) && !is_written(folder));
        assert!(!writes(std::process::id(), Path::new("/nowhere")));
    }
}
