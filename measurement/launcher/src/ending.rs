//! Which of many launchers completes an archive.
//!
//! Each appends a byte to `recording/ended` when its program has ended; whose byte is the last does it. Whoever does it
//! waits until no process of this host has a file of the recording mapped for writing any more.

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

/// How often they are looked at.
const INTERVAL: Duration = Duration::from_millis(50);

/// The name of the file in which launchers are counted.
const ENDED: &str = "ended";

/// Variables that starters of ranks set: the rank, and the number of ranks.
const RANK_VARIABLES: [(&str, &str); 4] = [
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS"),
    ("PMIX_RANK", ""),
];

/// Whether this launcher has an experiment for itself: it is in front of mpirun, perhaps within a job. `lines` is how many
/// processes have noted the experiment to it.
pub(crate) fn is_alone(directory: &Path, lines: usize) -> bool {
    let size = finish::world_size(directory).unwrap_or(0) as usize;
    let number = |name| env::var(name).ok()?.parse::<usize>().ok();
    let is_one_of_many = RANK_VARIABLES.iter().any(|&(rank, count)| {
        env::var_os(rank).is_some() && (count.is_empty() || number(count).is_none_or(|count| count == size))
    });
    size <= 1 || lines >= size || !is_one_of_many
}

/// Counts a launcher; answers whether it is the last.
pub(crate) fn count(directory: &Path) -> bool {
    let path = directory.join(layout::RECORDING).join(ENDED);
    let add = || {
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        file.write_all(b".")?;
        file.metadata().map(|status| status.len())
    };
    // What cannot be counted may have been completed already, which is seen then.
    add().map_or(true, |ended: u64| ended >= u64::from(finish::world_size(directory).unwrap_or(0)))
}

/// Waits until nobody here records to a directory any more. Answers whether the archive has to be completed.
pub fn is_needed(directory: &Path) -> bool {
    let recording = directory.join(layout::RECORDING);
    let begin = Instant::now();
    while !is_complete(directory) {
        if !host::is_written(&recording) {
            return true;
        }
        if begin.elapsed() > PATIENCE {
            tell_that_it_is_not_complete(directory);
            return false;
        }
        std::thread::sleep(INTERVAL);
    }
    false
}

/// The same in the place of a launcher that is one of many and was killed, or whose program has failed.
pub(crate) fn is_needed_for_others(directory: &Path, is_counted: bool) -> bool {
    if !is_counted {
        if !is_needed(directory) {
            return false;
        }
        if count(directory) {
            return true;
        }
    }
    // The last one does it. If there is none, because others were killed together with their guardians, somebody does.
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        if is_complete(directory) {
            return false;
        }
        std::thread::sleep(INTERVAL);
    }
    let is_alive = finish::is_alive(directory);
    if is_alive {
        tell_that_it_is_not_complete(directory);
    }
    !is_alive
}

fn is_complete(directory: &Path) -> bool {
    finish::is_complete(directory) || !directory.join(layout::RECORDING).exists()
}

/// One of those who have waited in vain says so.
fn tell_that_it_is_not_complete(directory: &Path) {
    let path = directory.join(layout::RECORDING).join("unfinished");
    if OpenOptions::new().write(true).create_new(true).open(path).is_ok() {
        let directory = directory.display();
        complain(&format!("{directory} is not complete: use replay-record --finish {directory}"));
    }
}
