//! Ranks that died of a fault of their own. mpirun ends the others when one has died, so these are the likely
//! reason. Only a launcher behind mpirun knows which signal its rank died of.
//!
//! Which rank died first is not recorded: a process that dies closes its connections before the kernel
//! reports its end, so mpirun may have killed others by then.

use crate::finish;
use recording::layout;
use signal_hook::consts::{SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Signals that a program causes itself. mpirun and batch systems send others.
const FAULTS: [i32; 7] = [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS];

/// The file of faults: lines with a rank and the number of a signal.
const FILE: &str = "faults";

/// Notes in a recording that the rank that was this process has died of a signal, if that was its own fault.
pub(crate) fn note(directory: &Path, process: u32, signal: i32) {
    let Some(rank) = finish::rank_of(directory, process).filter(|_| FAULTS.contains(&signal)) else { return };
    // If this fails, only a sentence of the report is missing.
    if let Ok(mut file) = OpenOptions::new().create(true).append(true).open(path(directory)) {
        let _ = file.write_all(format!("{rank} {signal}\n").as_bytes());
    }
}

/// Returns the ranks that died of a signal by their own fault, each with the signal's name, by rank.
pub(crate) fn of_ranks(directory: &Path) -> Vec<(u32, &'static str)> {
    let text = fs::read_to_string(path(directory)).unwrap_or_default();
    let fault = |line: &str| {
        let (rank, signal) = line.split_once(' ')?;
        let signal = signal.parse().ok().filter(|signal| FAULTS.contains(signal))?;
        Some((rank.parse().ok()?, signal_hook::low_level::signal_name(signal)?))
    };
    let mut faults: Vec<_> = text.lines().filter_map(fault).collect();
    faults.sort_unstable();
    faults.dedup_by_key(|fault| fault.0);
    faults
}

fn path(directory: &Path) -> PathBuf {
    directory.join(layout::RECORDING).join(FILE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_read_by_rank_and_other_lines_are_passed_over() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(of_ranks(directory.path()), []);
        fs::create_dir(directory.path().join(layout::RECORDING)).unwrap();
        fs::write(path(directory.path()), "7 6\n3 11\n4 15\nx\n3 11\n9").unwrap();
        assert_eq!(of_ranks(directory.path()), [(3, "SIGSEGV"), (7, "SIGABRT")]);
    }
}
