//! Runs of commands, of which no process is left at the end: all processes that a command has started have a
//! variable in their environment that identifies the run, whatever their parent is by now.

use super::laws;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// Time limit of a command. Far more than any needs, so that only a hang reaches it.
const DEADLINE: Duration = Duration::from_secs(240);

/// Variable that identifies the run of a process. It must not begin as variables of programs do, which may be refused.
const MARK: &str = "TEST_RUN_OF_REPLAY";

/// Result of a command.
#[derive(Clone, Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    /// Fails the test unless it was successful.
    #[track_caller]
    pub(crate) fn expect_success(&self) -> &Ended {
        assert!(self.status.success(), "{}\nstdout:\n{}\nstderr:\n{}", self.status, self.stdout, self.stderr);
        self
    }
}

/// A running command; it and all that it has started are killed on drop.
#[derive(Debug)]
pub(crate) struct Running {
    what: String,
    child: Child,
    mark: String,
    output: [PathBuf; 2],
    /// Paths of its archives: an option or a variable of `replay-record` names them.
    experiments: Vec<PathBuf>,
}

/// A process of a run.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    pub(crate) id: i32,
    /// The file that it executes.
    pub(crate) program: PathBuf,
}

impl Process {
    pub(crate) fn kill(&self, signal: Signal) {
        // It may have ended meanwhile.
        let _ = Pid::from_raw(self.id).map(|id| kill_process(id, signal));
    }

    /// Its peak memory so far, in bytes; `None` if it has ended.
    pub(crate) fn peak(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.id)).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        Some(line.split_whitespace().next()?.parse::<u64>().ok()? << 10)
    }
}

/// Runs a command to its end; its output goes to files in `folder`.
pub(crate) fn run(command: &mut Command, folder: &Path) -> Ended {
    Running::start(command, folder).wait()
}

impl Running {
    pub(crate) fn start(command: &mut Command, folder: &Path) -> Running {
        static RUNS: AtomicU32 = AtomicU32::new(0);
        let number = RUNS.fetch_add(1, Ordering::Relaxed);
        let mark = format!("{}.{number}", std::process::id());
        let output = ["stdout", "stderr"].map(|name| folder.join(format!("{name}.{number}")));
        let [stdout, stderr] = output.each_ref().map(|path| File::create(path).unwrap());
        command.stdin(Stdio::null()).stdout(stdout).stderr(stderr).env(MARK, &mark);
        let experiments = experiments(command);
        let child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        Running { what: format!("{command:?}"), child, mark, output, experiments }
    }

    /// Sends a signal to the command itself.
    pub(crate) fn kill(&self, signal: Signal) {
        let _ = Pid::from_raw(self.child.id() as i32).map(|id| kill_process(id, signal));
    }

    /// Whether it has not ended yet.
    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Its output so far.
    pub(crate) fn stdout(&self) -> String {
        read(&self.output[0])
    }

    /// Waits until it has printed a whole line on standard output.
    pub(crate) fn wait_for_line(&mut self) {
        self.wait_for("a line", |running| running.stdout().contains('\n'));
    }

    /// Waits for a condition that must become true before the end of the command.
    fn wait_for(&mut self, what: &str, is_there: impl Fn(&Running) -> bool) {
        let begin = Instant::now();
        while !is_there(self) {
            let ended = self.child.try_wait().unwrap();
            let is_in_time = begin.elapsed() < DEADLINE && ended.is_none();
            assert!(is_in_time, "{}: {what} does not come ({ended:?}): {}", self.what, read(&self.output[1]));
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits for the end. Archives that are complete by then must obey the laws.
    #[track_caller]
    pub(crate) fn wait(mut self) -> Ended {
        let begin = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(begin.elapsed() < DEADLINE, "{} does not end: {}", self.what, read(&self.output[1]));
            std::thread::sleep(Duration::from_millis(5));
        };
        for experiment in self.experiments.iter().filter(|place| place.join("traces.otf2").exists()) {
            assert_eq!(laws::broken(experiment), None, "{}: {}", self.what, experiment.display());
        }
        let [stdout, stderr] = self.output.each_ref().map(|path| read(path));
        Ended { status, stdout, stderr }
    }

    /// All of its processes.
    pub(crate) fn processes(&self) -> Vec<Process> {
        let mark = format!("{MARK}={}", self.mark);
        let ids =
            fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        ids.filter_map(|id: i32| process(id, &mark)).collect()
    }

    /// Waits until no process of the run is left.
    pub(crate) fn wait_for_all(&self) {
        let begin = Instant::now();
        while !self.processes().is_empty() {
            assert!(begin.elapsed() < DEADLINE, "{}: {:?} do not end", self.what, self.processes());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|status| status.is_some()) && !std::thread::panicking() {
            return;
        }
        // More than once: a process may have started another one meanwhile.
        for _ in 0..3 {
            self.processes().iter().for_each(|process| process.kill(Signal::KILL));
        }
        let _ = self.child.wait();
    }
}

/// The archives that a command writes or finishes; a second one, of processes that the first ones start, has
/// a number.
fn experiments(command: &Command) -> Vec<PathBuf> {
    let words: Vec<&OsStr> = command.get_args().collect();
    let options = words.windows(2).filter(|words| words[0] == "-o" || words[0] == "--finish");
    let variable = command.get_envs().find_map(|(name, value)| value.filter(|_| name == "REPLAY_OUTPUT"));
    let named = options.map(|words| words[1]).chain(variable);
    named
        .flat_map(|name| {
            let mut second = name.to_owned();
            second.push("_2");
            [name.to_owned(), second]
        })
        .map(PathBuf::from)
        .collect()
}

fn read(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned()
}

/// A process, if its environment has this variable.
fn process(id: i32, mark: &str) -> Option<Process> {
    let environment = fs::read(format!("/proc/{id}/environ")).ok()?;
    let is_of_run = environment.split(|&byte| byte == 0).any(|variable| variable == mark.as_bytes());
    is_of_run.then(|| Process { id, program: fs::read_link(format!("/proc/{id}/exe")).unwrap_or_default() })
}
