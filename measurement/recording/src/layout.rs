//! Names of the files in an experiment directory.

use std::path::{Path, PathBuf};

/// The anchor file of the archive. It exists once the archive is complete.
pub const ANCHOR: &str = "traces.otf2";

/// The report of a program that was profiled instead of traced. It exists once it is complete.
pub const PROFILE: &str = "profile.cubex";

/// The table of times of all iterations, if some were to be recorded. It belongs to the archive.
pub const ITERATIONS: &str = "traces.iterations";

/// The folder of event files and local definitions.
pub const TRACES: &str = "traces";

/// The folder of files that are needed only until the archive is complete.
pub const RECORDING: &str = "recording";

/// Suffix of the files of [`kept`].
pub const KEPT: &str = ".recorded.evt";

/// Environment variable with the file to which a process appends the path of its experiment directory and a
/// newline. Set by the launcher.
pub const NOTE_VARIABLE: &str = "REPLAY_NOTE";

/// Environment variable with the id of the process that has a recorder linked into it. Set by that recorder,
/// for a preloaded one.
pub const LINKED_VARIABLE: &str = "REPLAY_LINKED";

/// Returns the reference of a location: thread number in the upper half, rank in the lower (as in Score-P).
pub fn location(rank: u32, thread: u32) -> u64 {
    u64::from(thread) << 32 | u64::from(rank)
}

/// Returns rank and thread number of a location.
pub fn rank_and_thread(location: u64) -> (u32, u32) {
    (location as u32, (location >> 32) as u32)
}

/// Returns the path of the event file of a location.
pub fn events(directory: &Path, location: u64) -> PathBuf {
    directory.join(TRACES).join(format!("{location}.evt"))
}

/// Returns the path of the buffer of a location.
pub fn buffer(directory: &Path, location: u64) -> PathBuf {
    directory.join(RECORDING).join(format!("{location}.buffer"))
}

/// Returns where the event file of a location is kept as it was recorded, while another one with other
/// records takes its place.
pub fn kept(directory: &Path, location: u64) -> PathBuf {
    directory.join(RECORDING).join(format!("{location}{KEPT}"))
}

/// Returns the path of the call paths of a location.
pub fn paths(directory: &Path, location: u64) -> PathBuf {
    directory.join(RECORDING).join(format!("{location}.paths"))
}

/// Returns the path of the Python functions on the call paths of a location, if there are any.
pub fn python_functions(directory: &Path, location: u64) -> PathBuf {
    directory.join(RECORDING).join(format!("{location}.python"))
}

/// Returns the path of the counts of a location.
pub fn profile(directory: &Path, location: u64) -> PathBuf {
    directory.join(RECORDING).join(format!("{location}.profile"))
}

/// Returns the path of the times of iterations of a loop of a process; loops are numbered from 0.
pub fn iterations(directory: &Path, rank: u32, number: u32) -> PathBuf {
    directory.join(RECORDING).join(format!("{rank}.{number}.iterations"))
}

/// Returns the path of the journal of a process.
pub fn journal(directory: &Path, rank: u32) -> PathBuf {
    directory.join(RECORDING).join(format!("{rank}.journal"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn location_is_thread_and_rank() {
        assert_eq!(location(3, 0), 3);
        assert_eq!(location(3, 2), 0x2_0000_0003);
        assert_eq!(rank_and_thread(0x2_0000_0003), (3, 2));
    }
}
