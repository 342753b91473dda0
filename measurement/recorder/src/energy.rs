//! Meters of the node's energy (site.md, 5.2): read by one process of each host at the begin and the end of MPI.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::OnceLock;

use recording::energy::{self, EnergyReading, Meter, shown};
use recording::journal::JournalRecord;

use crate::clock;
use crate::process::Process;

/// The file system of the kernel.
const SYSTEM: &str = "/sys";

/// The meters, if this process is to read them.
static METERS: OnceLock<Vec<Meter>> = OnceLock::new();

/// Looks for meters, in one process of each host, and reads them.
pub(crate) fn begin(process: &Process) {
    if process.clocks.is_leader(process.rank) {
        METERS.get_or_init(|| energy::meters(Path::new(SYSTEM)));
        append(process);
    }
}

/// Writes what all meters show to the journal, if this process is to read them, and there are any.
pub(crate) fn append(process: &Process) {
    let Some(meters) = METERS.get().filter(|meters| !meters.is_empty()) else { return };
    let shows = |meter: &Meter| {
        let number = shown(&contents(&meter.path)?)?.checked_mul(meter.unit)?;
        Some((meter.name.clone(), number, meter.range))
    };
    let meters = meters.iter().filter_map(shows).collect();
    process.append(&JournalRecord::Energy(EnergyReading { nanoseconds: clock::monotonic(), meters }));
}

/// The first bytes of a file. The system itself is called, not functions that are recorded (io.md, 2.7, F1).
fn contents(path: &Path) -> Option<Vec<u8>> {
    let name = CString::new(path.as_os_str().as_bytes()).ok()?;
    let flags = libc::O_RDONLY | libc::O_CLOEXEC;
    // SAFETY: the path ends with a NUL.
    let descriptor = unsafe { libc::syscall(libc::SYS_openat, libc::AT_FDCWD, name.as_ptr(), flags) };
    if descriptor < 0 {
        return None;
    }
    let mut bytes = vec![0_u8; 128];
    // SAFETY: there is room for so many bytes, and the descriptor is closed once.
    let read = unsafe {
        let read = libc::syscall(libc::SYS_read, descriptor, bytes.as_mut_ptr(), bytes.len());
        libc::syscall(libc::SYS_close, descriptor);
        read
    };
    bytes.truncate(usize::try_from(read).ok()?);
    Some(bytes)
}
