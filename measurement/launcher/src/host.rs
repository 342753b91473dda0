//! What is known of this host and its processes.

use recording::journal::Calibration;
use std::fs;
use std::path::Path;

/// The name of this host, as the recorder knows it.
pub(crate) fn name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// When a process started, in ticks since the host did; `None` if there is no such process.
pub(crate) fn start_of(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of the program comes second, in parentheses, and may contain anything.
    let (_, fields) = status.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace();
    // A process that is dead but for its parent's interest does nothing more.
    if matches!(fields.next()?, "Z" | "X") {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

/// Whether a process has a file below this folder mapped, and so may still write there.
pub(crate) fn maps(process: u32, folder: &Path) -> bool {
    let Ok(folder) = folder.canonicalize() else { return false };
    let maps = fs::read(format!("/proc/{process}/maps")).unwrap_or_default();
    let prefix = [folder.as_os_str().as_encoded_bytes(), b"/"].concat();
    maps.split(|&byte| byte == b'\n').any(|line| {
        let path = line.iter().position(|&byte| byte == b'/').map_or(&[][..], |at| &line[at..]);
        path.starts_with(&prefix)
    })
}

/// Whether any process that this one may look at has a file below a folder mapped.
pub(crate) fn is_mapped(folder: &Path) -> bool {
    let names = fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes = names.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    processes.into_iter().any(|process| maps(process, folder))
}

/// The clocks of this host, read now.
#[allow(unsafe_code)]
pub(crate) fn clocks() -> Option<Calibration> {
    let of = |clock| {
        let time = rustix::time::clock_gettime(clock);
        (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64)
    };
    let nanoseconds = of(rustix::time::ClockId::MonotonicRaw);
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: reading the counter has no precondition; every processor of this architecture has it.
        let ticks = unsafe { std::arch::x86_64::_rdtsc() };
        Some(Calibration { ticks, nanoseconds, realtime: of(rustix::time::ClockId::Realtime) })
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
        let program = std::env::current_exe().unwrap();
        assert!(maps(std::process::id(), program.parent().unwrap()));
        assert!(is_mapped(program.parent().unwrap()));
        assert!(!maps(std::process::id(), Path::new("/nowhere")));
        assert!(!name().is_empty());
    }
}
