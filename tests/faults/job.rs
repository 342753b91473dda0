//! A run of the program that a test observes and disturbs: process ids, standard error, mapped files.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::fresh;
use crate::support::run::{DEADLINE, Finished, alone, launched, program};

/// Every process writes its process id to a file, then runs a command, if one is given, and becomes the
/// program, which writes to files of its own.
const SCRIPT: &str = r#"
    rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}
    cd "$0"; echo $$ > new.$rank; mv new.$rank pid.$rank
    eval "$1"; shift
    exec "$@" > out.$rank 2> err.$rank
"#;

/// Polling interval.
const INTERVAL: Duration = Duration::from_micros(200);

pub(super) struct Job {
    directory: tempfile::TempDir,
    child: Child,
    workers: usize,
}

impl Job {
    /// One process.
    pub(super) fn alone<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Job {
        Job::alone_after("true", arguments)
    }

    /// One process, after its shell has run `first`.
    pub(super) fn alone_after<S: AsRef<OsStr>>(first: &str, arguments: impl IntoIterator<Item = S>) -> Job {
        let mut command = Command::new("sh");
        alone(&mut command);
        command.arg("-c");
        Job::start(command, 1, first, arguments)
    }

    /// Several processes under the launcher.
    pub(super) fn launched<S: AsRef<OsStr>>(
        launcher: &Path,
        workers: usize,
        arguments: impl IntoIterator<Item = S>,
    ) -> Job {
        Job::launched_after(launcher, workers, "true", arguments)
    }

    /// Several processes, after the shell of each has run `first`, with the worker in `$rank`.
    pub(super) fn launched_after<S: AsRef<OsStr>>(
        launcher: &Path,
        workers: usize,
        first: &str,
        arguments: impl IntoIterator<Item = S>,
    ) -> Job {
        Job::start(launched(launcher, workers, ["sh", "-c"]), workers, first, arguments)
    }

    fn start<S: AsRef<OsStr>>(
        mut command: Command,
        workers: usize,
        first: &str,
        arguments: impl IntoIterator<Item = S>,
    ) -> Job {
        let directory = fresh();
        command.arg(SCRIPT).arg(directory.path()).arg(first).arg(program()).args(arguments);
        // Messages of a launcher about dying processes do not matter here.
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        Job { directory, child, workers }
    }

    pub(super) fn workers(&self) -> std::ops::Range<usize> {
        0..self.workers
    }

    fn read(&self, file: &str, worker: usize) -> String {
        fs::read_to_string(self.directory.path().join(format!("{file}.{worker}"))).unwrap_or_default()
    }

    /// Standard error of a process, so far.
    pub(super) fn log(&self, worker: usize) -> String {
        self.read("err", worker)
    }

    /// Process id of a worker, if it has started.
    pub(super) fn pid(&self, worker: usize) -> Option<Pid> {
        Pid::from_raw(self.read("pid", worker).trim().parse().ok()?)
    }

    /// A file below `/proc` about a process.
    fn about(&self, worker: usize, file: &str) -> String {
        let path = self.pid(worker).map(|pid| format!("/proc/{}/{file}", pid.as_raw_nonzero()));
        path.and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default()
    }

    /// Whether a process currently maps a file.
    pub(super) fn maps(&self, worker: usize, file: &str) -> bool {
        self.about(worker, "maps").lines().any(|line| line.ends_with(file))
    }

    /// Waits until `look` returns a value; `None` if the job ends before.
    pub(super) fn wait_for<T>(&mut self, mut look: impl FnMut(&Job) -> Option<T>) -> Option<T> {
        while self.child.try_wait().unwrap().is_none() {
            if let Some(answer) = look(self) {
                return Some(answer);
            }
            sleep(INTERVAL);
        }
        None
    }

    /// Stops a process, and waits until it is stopped or gone.
    pub(super) fn stop(&mut self, worker: usize) {
        self.signal(worker, Signal::STOP);
        self.wait_for(|job| (!job.runs(worker)).then_some(()));
    }

    /// Whether a process exists and is not stopped.
    pub(super) fn runs(&self, worker: usize) -> bool {
        let stat = self.about(worker, "stat");
        stat.rsplit(')').next().is_some_and(|rest| rest.trim().starts_with(['R', 'S', 'D']))
    }

    /// Whether a process is stopped.
    pub(super) fn stands_still(&self, worker: usize) -> bool {
        self.about(worker, "stat").rsplit(')').next().is_some_and(|rest| rest.trim().starts_with('T'))
    }

    /// Sends a signal to the launcher.
    pub(super) fn signal_launcher(&self, signal: Signal) {
        let _ = Pid::from_raw(self.child.id() as i32).map(|pid| kill_process(pid, signal));
    }

    pub(super) fn go_on(&self, worker: usize) {
        self.signal(worker, Signal::CONT);
    }

    /// Kills a process; returns the time until no process of the job is left.
    pub(super) fn kill(mut self, worker: usize) -> (Finished, Duration) {
        self.signal(worker, Signal::KILL);
        let start = Instant::now();
        let pids: Vec<Pid> = self.workers().filter_map(|worker| self.pid(worker)).collect();
        let finished = self.wait();
        let is_left =
            |pid: &Pid| fs::read_to_string(format!("/proc/{}/comm", pid.as_raw_nonzero())).is_ok_and(is_ours);
        while pids.iter().any(is_left) && start.elapsed() < DEADLINE {
            sleep(INTERVAL);
        }
        (finished, start.elapsed())
    }

    pub(super) fn signal(&self, worker: usize, signal: Signal) {
        // A process that is gone cannot be disturbed.
        let _ = self.pid(worker).map(|pid| kill_process(pid, signal));
    }

    /// Waits for the end of the job; returns the output of all its processes.
    pub(super) fn end(mut self) -> Finished {
        self.wait()
    }

    fn wait(&mut self) -> Finished {
        let start = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            if start.elapsed() > DEADLINE {
                self.workers().for_each(|worker| self.signal(worker, Signal::KILL));
                self.child.kill().unwrap();
                panic!("the job did not end within {DEADLINE:?}");
            }
            sleep(10 * INTERVAL);
        }
        let status = self.child.wait().unwrap();
        let all = |file| self.workers().map(|worker| self.read(file, worker)).collect();
        Finished { status: status.code(), signal: status.signal(), stdout: all("out"), stderr: all("err") }
    }
}

/// Whether the process of this name is the program under test; the kernel truncates names.
fn is_ours(comm: String) -> bool {
    "replay-analyze\n".starts_with(comm.trim_end())
}
