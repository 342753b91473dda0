//! Memory limits of this process, and the check that the next step fits. A clear message replaces an abort in
//! the middle of an allocation, or being killed by a batch system.
//!
//! The user's limit (`--memory`) is kept by moving everything above it to a file. Other limits are those of
//! the shell (`ulimit -v`, `ulimit -d`) and of the control group that a batch system or container puts the
//! job into. Limits of groups are read as text from `/proc` and `/sys`; where these do not exist there is no
//! limit.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::{Resource, getrlimit};

use crate::error::Error;
use crate::estimate::Estimate;
use crate::options::MemoryLimit;
use crate::scratch;

/// The file with the memory that this process uses.
const STATUS: &str = "/proc/self/status";

/// Bytes kept free for small allocations, for each thread.
const SLACK: u64 = 8 << 20;

/// Control groups of version 1 without a limit have a number near 2^63. Such limits are ignored, as reading
/// their usage would cost a system call each time and never change a decision.
const UNLIMITED: u64 = 1 << 60;

/// Bytes that the C library reserves for the small allocations of each thread, if there are several.
const ARENA: u64 = 64 << 20;

/// The limits of this process.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    limits: Vec<SystemLimit>,
    /// Threads that may take a step at the same time.
    threads: u64,
}

/// A limit, and the file that has the memory in use.
#[derive(Clone, PartialEq, Eq, Debug)]
struct SystemLimit {
    bytes: u64,
    /// The name of the limit, for messages.
    source: &'static str,
    file: PathBuf,
    /// The key of the line with this number.
    key: &'static str,
}

impl Memory {
    /// Reads the limits of this process, which works with so many threads.
    pub fn of_this_process(threads: usize) -> Memory {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let mut limits = of_the_shell(|resource| getrlimit(resource).current);
        limits.extend(of_groups(&read("/proc/self/cgroup"), Path::new("/sys/fs/cgroup")));
        Memory { limits, threads: threads as u64 }
    }

    /// Returns the bytes kept free for small allocations, in all threads.
    fn room(&self) -> u64 {
        self.threads * if self.threads > 1 { SLACK + ARENA } else { SLACK }
    }

    /// Returns the bytes that this process will use in the end if it allocates so many more.
    pub fn with(&self, more: u64) -> u64 {
        number_in(Path::new(STATUS), "RssAnon").saturating_add(SLACK * self.threads).saturating_add(more)
    }

    /// Keeps this process below a limit: lists that exceed it go to a file.
    ///
    /// # Errors
    /// If too much has to be in memory, or there is no room for the file.
    pub fn limit(&self, limit: &MemoryLimit, estimate: Estimate) -> Result<(), Error> {
        let least = self.with(estimate.least);
        let Some(budget) = limit.bytes.checked_sub(least) else {
            return Err(Error::new(format!(
                "not enough memory: --memory allows {}, and {} MiB are needed for what cannot go to a file; allow as much, \
                 or use fewer threads, or more processes on more nodes",
                size(limit.bytes),
                // The memory in use is not exactly the same in each run.
                mebibytes(least) + 1
            )));
        };
        // The C library does not always return freed memory to the system.
        let budget = budget - budget / 8;
        let beyond = |bytes: u64| bytes.saturating_sub(estimate.least).saturating_sub(budget);
        let (usual, most) = (beyond(estimate.usual()), beyond(estimate.all));
        let directory = limit.scratch.clone().unwrap_or_else(std::env::temp_dir);
        match scratch::room(&directory).filter(|&room| room < usual) {
            Some(room) => Err(Error::new(format!(
                "{}: {} MiB are free, and {} to {} MiB will be needed for what does not fit into memory; choose another \
                 directory with --scratch, or allow more than {} with --memory",
                directory.display(),
                room >> 20,
                mebibytes(usual),
                mebibytes(most),
                size(limit.bytes)
            ))),
            None => match scratch::begin(&directory, budget) {
                // If the user has named no directory, and all fits into memory, no file is needed.
                Err(_) if limit.scratch.is_none() && most == 0 => Ok(()),
                result => result,
            },
        }
    }

    /// Returns how many bytes each thread can use for optional purposes: no more than half of what is left
    /// below the limits, as other processes may be below the same limit.
    pub fn left(&self) -> u64 {
        let left = |limit: &SystemLimit| limit.bytes.saturating_sub(limit.used()).saturating_sub(self.room());
        let left = self.limits.iter().map(left).fold(scratch::in_memory(u64::MAX), u64::min);
        left / 2 / self.threads.max(1)
    }

    /// Checks that a step which needs `next` bytes more, in every thread, fits.
    ///
    /// # Errors
    /// If it does not fit, with advice for the user.
    pub fn check(&self, next: u64) -> Result<(), Error> {
        scratch::check()?;
        let needed = scratch::in_memory(next.saturating_mul(self.threads)).saturating_add(self.room());
        self.limits.iter().try_for_each(|limit| {
            let used = limit.used();
            if used.saturating_add(needed) <= limit.bytes {
                return Ok(());
            }
            Err(Error::new(format!(
                "not enough memory: {} allows {} MiB, {} MiB are taken, and the next step may take {} MiB; \
                 raise the limit, use fewer threads or more nodes, or let --memory put a part into files",
                limit.source,
                mebibytes(limit.bytes),
                mebibytes(used),
                mebibytes(needed)
            )))
        })
    }
}

/// Returns the memory of this machine in bytes, if the system tells it.
pub fn of_machine() -> Option<u64> {
    number_of(&fs::read_to_string("/proc/meminfo").ok()?, "MemTotal")
}

/// Returns bytes in MiB, for messages.
pub fn mebibytes(bytes: u64) -> u64 {
    bytes.div_ceil(1 << 20)
}

/// A number of bytes in words, in the largest unit of which it is a multiple.
fn size(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB"), (0, "B")];
    let unit = units.iter().find(|(power, _)| bytes > 0 && bytes.trailing_zeros() >= *power);
    let (power, unit) = unit.unwrap_or(&(0, "B"));
    format!("{} {unit}", bytes >> power)
}

impl SystemLimit {
    fn used(&self) -> u64 {
        number_in(&self.file, self.key)
    }
}

/// Reads the number after a key in a file of the system; 0 if there is none.
fn number_in(file: &Path, key: &str) -> u64 {
    number_of(&fs::read_to_string(file).unwrap_or_default(), key).unwrap_or(0)
}

/// Returns the number after a key at the start of a line, in bytes; `/proc` counts in kB.
fn number_of(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    let mut words = line.trim_start_matches(':').split_whitespace();
    let number: u64 = words.next()?.parse().ok()?;
    Some(if words.next() == Some("kB") { number << 10 } else { number })
}

/// Returns the resource limits that the shell has set.
fn of_the_shell(limit_of: impl Fn(Resource) -> Option<u64>) -> Vec<SystemLimit> {
    let kinds = [(Resource::As, "ulimit -v", "VmSize"), (Resource::Data, "ulimit -d", "VmData")];
    let limit = |(resource, source, key)| {
        let bytes = limit_of(resource)?;
        Some(SystemLimit { bytes, source, file: STATUS.into(), key })
    };
    kinds.into_iter().filter_map(limit).collect()
}

/// Returns the limits of the control groups in `/proc/self/cgroup`, of both versions, and of their parents.
fn of_groups(groups: &str, root: &Path) -> Vec<SystemLimit> {
    let mut limits = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let (root, name, key) = match controllers {
            "" => (root.to_owned(), "memory.max", "anon "),
            "memory" => (root.join("memory"), "memory.limit_in_bytes", "total_rss "),
            _ => continue,
        };
        // In a container the path may be that of the host, so only existing folders count.
        for group in Path::new(path.trim_start_matches('/')).ancestors() {
            let group = root.join(group);
            let bytes = fs::read_to_string(group.join(name)).ok().and_then(|text| text.trim().parse().ok());
            if let Some(bytes) = bytes.filter(|&bytes| bytes < UNLIMITED) {
                let source = "the job's control group";
                limits.push(SystemLimit { bytes, source, file: group.join("memory.stat"), key });
            }
        }
    }
    limits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_resources_that_are_limited_have_limits() {
        let limits = of_the_shell(|resource| (resource == Resource::As).then_some(409_600_000));
        let limits: Vec<_> = limits.into_iter().map(|limit| (limit.bytes, limit.key)).collect();
        assert_eq!(limits, [(409_600_000, "VmSize")]);
    }

    #[test]
    fn groups_of_both_versions_limit_with_all_above_them() {
        let root = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put("job/memory.max", "1000\n");
        put("job/step/memory.max", "max\n");
        put("memory/task/memory.limit_in_bytes", "500\n");
        let groups = "4:cpu:/elsewhere\n3:memory:/task\n0::/job/step\n";
        let limits: Vec<u64> = of_groups(groups, root.path()).into_iter().map(|limit| limit.bytes).collect();
        assert_eq!(limits, [500, 1000]);
    }

    #[test]
    fn sizes_are_those_that_were_given() {
        let sizes = [0, 1, 1000, 1 << 20, 3 << 29, 4 << 30].map(size);
        assert_eq!(sizes, ["0 B", "1 B", "1000 B", "1 MiB", "1536 MiB", "4 GiB"]);
    }

    #[test]
    fn step_that_does_not_fit_says_whose_limit_it_is() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "VmPeak:\t  9 kB\nVmSize:\t  102400 kB\n").unwrap();
        let bytes = 278 << 20;
        let limit = SystemLimit { bytes, source: "a test", file: file.path().into(), key: "VmSize" };
        let memory = Memory { limits: vec![limit], threads: 2 };
        assert!(memory.check(17 << 20).is_ok());
        let message = memory.check(18 << 20).unwrap_err().to_string();
        assert!(message.contains("a test allows 278 MiB, 100 MiB are taken"), "{message}");
        assert!(message.contains("may take 180 MiB; raise the limit"), "{message}");
    }

    #[test]
    fn this_process_fits_its_limits() {
        Memory::of_this_process(1).check(0).unwrap();
    }
}
