//! Benchmark fixture: runs the analyzer on generated traces and measures time and memory.

use std::cell::RefCell;
use std::error::Error;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::thread::{available_parallelism, sleep};
use std::time::{Duration, Instant};

use generate::{Job, Pattern, generate};
use otf2::Archive;
use replay::{Options, WhatIf, scratch};
use tempfile::TempDir;

use crate::costs::{self, fastest};

/// Width of a phase's name in the progress output of the program.
const PHASE: usize = 16;

/// Generator of traces, which keeps the last one.
pub(crate) struct Bench {
    folder: TempDir,
    last: RefCell<Option<Trace>>,
    /// Number of available cores.
    pub(crate) cores: usize,
}

/// A generated trace.
#[derive(Clone)]
pub(crate) struct Trace {
    name: String,
    pub(crate) path: PathBuf,
    pub(crate) events: u64,
    /// Size of its event files in bytes.
    pub(crate) bytes: u64,
}

impl Bench {
    pub(crate) fn new() -> Result<Bench, Box<dyn Error>> {
        let cores = available_parallelism()?.get();
        Ok(Bench { folder: tempfile::tempdir()?, last: RefCell::new(None), cores })
    }

    /// Path of the folder with the traces.
    pub(crate) fn place(&self) -> String {
        self.folder.path().display().to_string()
    }

    /// Free bytes in that folder.
    pub(crate) fn room(&self) -> u64 {
        scratch::room(self.folder.path()).unwrap_or(0)
    }

    /// Writes a file beside the traces; returns its path.
    pub(crate) fn file(&self, name: &str, text: &str) -> Result<String, Box<dyn Error>> {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text)?;
        Ok(path.to_str().ok_or("a path that is no text")?.to_owned())
    }

    /// Generates a trace; the one before is removed unless it is the same.
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
        let trace = Trace { name, path, events: written.events, bytes: written.bytes };
        *last = Some(trace.clone());
        Ok(trace)
    }

    /// Seconds of the fastest of several runs of the program.
    pub(crate) fn seconds(
        &self,
        trace: &Trace,
        threads: usize,
        options: &[&str],
        runs: usize,
    ) -> Result<f64, Box<dyn Error>> {
        fastest(runs, || self.run(trace, threads, options).map(|_| ()))
    }

    /// Million events per second and core.
    pub(crate) fn rate(
        &self,
        pattern: &str,
        ranks: u32,
        events: u64,
        options: &[&str],
    ) -> Result<f64, Box<dyn Error>> {
        let trace = self.trace(pattern, ranks, events)?;
        Ok(trace.events as f64 / self.seconds(&trace, 1, options, 3)? / 1e6)
    }

    /// Million events per second that are decoded, with call paths and the time and visits of each.
    pub(crate) fn walk(&self, trace: &Trace) -> Result<f64, Box<dyn Error>> {
        Ok(trace.events as f64 / costs::walk(&Archive::open(&trace.path)?)? / 1e6)
    }

    /// Gigabytes of a report per second, while one thread writes it.
    pub(crate) fn report(&self, trace: &Trace) -> Result<f64, Box<dyn Error>> {
        let phases = self.phases(trace, 1, &[], 3)?;
        let seconds = phases.iter().find(|(name, _)| name == "report").ok_or("there is no report")?.1;
        Ok(self.report_bytes()? as f64 / seconds / 1e9)
    }

    /// Phases of an analysis with the seconds of each, the minimum of several runs.
    pub(crate) fn phases(
        &self,
        trace: &Trace,
        threads: usize,
        options: &[&str],
        runs: usize,
    ) -> Result<Vec<(String, f64)>, Box<dyn Error>> {
        let mut best: Vec<(String, f64)> = Vec::new();
        for _ in 0..runs {
            let phases = phases_of(&self.run(trace, threads, options)?);
            if best.is_empty() {
                best = phases;
                continue;
            }
            best.iter_mut().zip(phases).for_each(|(best, (_, seconds))| best.1 = best.1.min(seconds));
        }
        Ok(best)
    }

    /// Seconds of all phases together on several processes, the minimum of several runs: without MPI's own
    /// start and end.
    pub(crate) fn on_processes(
        &self,
        trace: &Trace,
        processes: usize,
        runs: usize,
    ) -> Result<f64, Box<dyn Error>> {
        let mut best = f64::INFINITY;
        for _ in 0..runs {
            let launcher = std::env::var_os("REPLAY_MPIRUN").unwrap_or_else(|| "mpirun".into());
            let mut command = Command::new(launcher);
            let program = self.command(trace, 1, &["--force"]);
            command.args(["-n", &processes.to_string()]).arg(program.get_program()).args(program.get_args());
            let output = command.output()?;
            if !output.status.success() {
                return Err(String::from_utf8_lossy(&output.stderr).into());
            }
            best = best.min(phases_of(&output).iter().map(|(_, seconds)| seconds).sum());
        }
        Ok(best)
    }

    /// Size of the last report in bytes.
    pub(crate) fn report_bytes(&self) -> Result<u64, Box<dyn Error>> {
        Ok(std::fs::metadata(self.target())?.len())
    }

    /// Peak of anonymous memory in bytes.
    pub(crate) fn memory(&self, trace: &Trace, threads: usize) -> Result<f64, Box<dyn Error>> {
        costs::memory(&Options { threads, ..costs::options(&trace.path, &self.target()) })
    }

    /// How much more anonymous memory is needed at the peak to replay a scenario, in bytes, with one thread.
    pub(crate) fn memory_of_what_if(&self, trace: &Trace) -> Result<f64, Box<dyn Error>> {
        let plain = Options { threads: 1, ..costs::options(&trace.path, &self.target()) };
        let what_if = Some(WhatIf::parse("ideal")?);
        let asked = Options { what_if, ..plain.clone() };
        Ok(costs::memory(&asked)? - costs::memory(&plain)?)
    }

    /// Peak of anonymous memory in bytes per event, with one thread.
    pub(crate) fn memory_of_event(
        &self,
        pattern: &str,
        ranks: u32,
        events: u64,
    ) -> Result<f64, Box<dyn Error>> {
        let trace = self.trace(pattern, ranks, events)?;
        Ok(self.memory(&trace, 1)? / trace.events as f64)
    }

    /// Seconds of an analysis with a limit on memory, and its peak of anonymous memory in bytes.
    pub(crate) fn within(&self, trace: &Trace, limit: &str) -> Result<(f64, f64), Box<dyn Error>> {
        let start = Instant::now();
        let options = ["--quiet", "--memory", limit];
        let mut child = self.command(trace, self.cores, &options).spawn()?;
        let status = format!("/proc/{}/status", child.id());
        let mut most: u64 = 0;
        while child.try_wait()?.is_none() {
            let text = std::fs::read_to_string(&status).unwrap_or_default();
            let line =
                text.lines().find_map(|line| line.strip_prefix("RssAnon:")?.trim().strip_suffix(" kB"));
            most = most.max(line.and_then(|kilobytes| kilobytes.parse().ok()).unwrap_or(0));
            sleep(Duration::from_millis(10));
        }
        if !child.wait()?.success() {
            return Err("there is no report".into());
        }
        Ok((start.elapsed().as_secs_f64(), (most << 10) as f64))
    }

    fn command(&self, trace: &Trace, threads: usize, options: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_replay-analyze"));
        command
            .args(["--threads", &threads.to_string(), "-o"])
            .arg(self.target())
            .arg(&trace.path)
            .args(options);
        command
    }

    fn run(&self, trace: &Trace, threads: usize, options: &[&str]) -> Result<Output, Box<dyn Error>> {
        // Each run writes a new report: freeing the memory of an old one is not to be measured.
        match std::fs::remove_file(self.target()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        let output = self.command(trace, threads, options).output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into());
        }
        Ok(output)
    }

    /// Path of the report.
    pub(crate) fn target(&self) -> PathBuf {
        self.folder.path().join("report.cubex")
    }
}

/// Phases and their seconds, parsed from the progress output of the program.
fn phases_of(output: &Output) -> Vec<(String, f64)> {
    let progress = String::from_utf8_lossy(&output.stderr).into_owned();
    let phase = |line: &str| {
        let (name, seconds) = line.strip_suffix(" s")?.split_at_checked(PHASE)?;
        Some((name.trim().to_owned(), seconds.trim().parse::<f64>().ok()?))
    };
    progress.lines().filter_map(phase).collect()
}

/// Formats a number of bytes.
pub(crate) fn megabytes(bytes: u64) -> String {
    format!("{} MB", bytes / 1_000_000)
}
