//! How a target is measured.

use std::cell::RefCell;
use std::error::Error;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::thread::available_parallelism;

use generate::{Job, Pattern, generate};
use otf2::Archive;
use peak_alloc::PeakAlloc;
use replay::Options;
use tempfile::TempDir;

use crate::costs::{self, fastest};

/// Where traces are made, and the last one.
pub(crate) struct Bench {
    folder: TempDir,
    last: RefCell<Option<Trace>>,
    allocator: &'static PeakAlloc,
    /// Cores that threads may run on.
    pub(crate) cores: usize,
}

/// A trace that has been made.
#[derive(Clone)]
pub(crate) struct Trace {
    name: String,
    path: PathBuf,
    pub(crate) events: u64,
}

impl Bench {
    pub(crate) fn new(allocator: &'static PeakAlloc) -> Result<Bench, Box<dyn Error>> {
        let cores = available_parallelism()?.get();
        Ok(Bench { folder: tempfile::tempdir()?, last: RefCell::new(None), allocator, cores })
    }

    /// The folder of the traces.
    pub(crate) fn place(&self) -> String {
        self.folder.path().display().to_string()
    }

    /// Bytes that are free there.
    pub(crate) fn room(&self) -> u64 {
        rustix::fs::statvfs(self.folder.path()).map_or(0, |room| room.f_bavail * room.f_frsize)
    }

    /// A trace; the one before is removed unless it is the same.
    pub(crate) fn trace(&self, pattern: &str, ranks: u32, events: u64) -> Result<Trace, Box<dyn Error>> {
        let name = format!("{pattern}-{ranks}-{events}");
        let mut last = self.last.borrow_mut();
        if let Some(trace) = last.as_ref().filter(|trace| trace.name == name) {
            return Ok(trace.clone());
        }
        if let Some(trace) = last.take() {
            std::fs::remove_dir_all(trace.path)?;
        }
        let path = self.folder.path().join(&name);
        let pattern = Pattern::find(pattern).ok_or_else(|| format!("no pattern {pattern}"))?;
        let written = generate(&Job::new(pattern, ranks, events), &path)?;
        let trace = Trace { name, path, events: written.events };
        *last = Some(trace.clone());
        Ok(trace)
    }

    /// Seconds of the fastest of some runs of the program.
    pub(crate) fn seconds(
        &self,
        trace: &Trace,
        threads: usize,
        options: &[&str],
        runs: usize,
    ) -> Result<f64, Box<dyn Error>> {
        fastest(runs, || self.run(trace, threads, options).map(|_| ()))
    }

    /// Million events in a second of a core, of a stencil.
    pub(crate) fn rate(&self, ranks: u32, events: u64, options: &[&str]) -> Result<f64, Box<dyn Error>> {
        let trace = self.trace("stencil", ranks, events)?;
        Ok(trace.events as f64 / self.seconds(&trace, 1, options, 3)? / 1e6)
    }

    /// Million events that are decoded in a second, with call paths and the time and visits of each.
    pub(crate) fn walk(&self, trace: &Trace) -> Result<f64, Box<dyn Error>> {
        Ok(trace.events as f64 / costs::walk(&Archive::open(&trace.path)?)? / 1e6)
    }

    /// Gigabytes of a report in a second, while it is being written.
    pub(crate) fn report(&self, trace: &Trace) -> Result<f64, Box<dyn Error>> {
        let mut best = f64::INFINITY;
        for _ in 0..3 {
            let output = self.run(trace, 1, &[])?;
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            let line = told.lines().find_map(|line| line.strip_prefix("report")?.trim().strip_suffix(" s"));
            best = best.min(line.ok_or("the program does not say how long the report took")?.parse()?);
        }
        Ok(std::fs::metadata(self.target())?.len() as f64 / best / 1e9)
    }

    /// Bytes of anonymous memory at most.
    pub(crate) fn memory(&self, trace: &Trace, threads: usize) -> Result<f64, Box<dyn Error>> {
        costs::memory(&Options { threads, ..costs::options(&trace.path, &self.target()) }, self.allocator)
    }

    /// The same by event, of a core.
    pub(crate) fn memory_of_event(
        &self,
        pattern: &str,
        ranks: u32,
        events: u64,
    ) -> Result<f64, Box<dyn Error>> {
        let trace = self.trace(pattern, ranks, events)?;
        Ok(self.memory(&trace, 1)? / trace.events as f64)
    }

    fn run(&self, trace: &Trace, threads: usize, options: &[&str]) -> Result<Output, Box<dyn Error>> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_replay-analyze"));
        command
            .args(["--threads", &threads.to_string(), "-o"])
            .arg(self.target())
            .args(options)
            .arg(&trace.path);
        let output = command.output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into());
        }
        Ok(output)
    }

    fn target(&self) -> PathBuf {
        self.folder.path().join("report.cubex")
    }
}

/// A number of bytes for people.
pub(crate) fn megabytes(bytes: u64) -> String {
    format!("{} MB", bytes / 1_000_000)
}
