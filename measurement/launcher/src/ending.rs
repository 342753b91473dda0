//! The choice of the launcher, among many, that completes an archive.
//!
//! Each appends a byte to `recording/ended` when its program has ended; the one with the last byte completes
//! the archive. It waits until no process of this host has a file of the recording mapped for writing any
//! more.

use crate::report::complain;
use crate::{finish, host};
use recording::layout;
use std::env;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long others have time to end.
const PATIENCE: Duration = Duration::from_secs(5);

/// Interval at which they are checked.
const INTERVAL: Duration = Duration::from_millis(50);

/// Name of the file that counts launchers.
const ENDED: &str = "ended";

/// Environment variables of launchers of ranks: the rank, and the number of ranks.
const RANK_VARIABLES: [(&str, &str); 4] = [
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS"),
    ("PMIX_RANK", ""),
];

/// Whether this launcher has an experiment for itself: it is in front of mpirun, perhaps within a job.
/// `lines` is the number of processes that have noted the experiment to it.
pub(crate) fn is_alone(directory: &Path, lines: usize) -> bool {
    let size = finish::world_size(directory).unwrap_or(0) as usize;
    let number = |name| env::var(name).ok()?.parse::<usize>().ok();
    let is_one_of_many = RANK_VARIABLES.iter().any(|&(rank, count)| {
        env::var_os(rank).is_some() && (count.is_empty() || number(count).is_none_or(|count| count == size))
    });
    size <= 1 || lines >= size || !is_one_of_many
}

/// Counts a launcher; returns whether it is the last.
pub(crate) fn count(directory: &Path) -> bool {
    let path = directory.join(layout::RECORDING).join(ENDED);
    let add = || {
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        file.write_all(b".")?;
        file.metadata().map(|status| status.len())
    };
    // If the file cannot be written, the archive may be complete already, which is checked next.
    add().map_or(true, |ended: u64| ended >= u64::from(finish::world_size(directory).unwrap_or(0)))
}

/// Waits until no process of this host records to a directory any more. Returns whether the archive has to be
/// completed.
pub fn is_needed(directory: &Path) -> bool {
    let recording = directory.join(layout::RECORDING);
    let begin = Instant::now();
    while !is_complete(directory) {
        if !host::is_written(&recording) {
            return true;
        }
        if begin.elapsed() > PATIENCE {
            report_incomplete(directory);
            return false;
        }
        std::thread::sleep(INTERVAL);
    }
    false
}

/// As [`is_needed`], in the place of one launcher of many that was killed, or the program of which has
/// failed.
pub(crate) fn is_needed_for_others(directory: &Path, is_counted: bool) -> bool {
    if !is_counted {
        if !is_needed(directory) {
            return false;
        }
        if count(directory) {
            return true;
        }
    }
    // The last one completes it. If there is none, because others were killed together with their guardians,
    // any one does.
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        if is_complete(directory) {
            return false;
        }
        std::thread::sleep(INTERVAL);
    }
    let is_alive = finish::is_alive(directory);
    if is_alive {
        report_incomplete(directory);
    }
    !is_alive
}

/// Returns what to do when an archive could not be completed, if its recording is still there.
pub fn remedy(directory: &Path) -> Option<String> {
    let is_there = directory.join(layout::RECORDING).is_dir();
    let directory = directory.display();
    is_there.then(|| {
        format!(
            "the recording is kept: remove the cause, on a full disk make room, then replay-record --finish {directory}"
        )
    })
}

fn is_complete(directory: &Path) -> bool {
    finish::is_complete(directory) || !directory.join(layout::RECORDING).exists()
}

/// Reports that an archive is not complete, once for all launchers that have waited in vain.
fn report_incomplete(directory: &Path) {
    let path = directory.join(layout::RECORDING).join("unfinished");
    if OpenOptions::new().write(true).create_new(true).open(path).is_ok() {
        let directory = directory.display();
        complain(&format!("{directory} is not complete: use replay-record --finish {directory}"));
    }
}
