//! Runs `replay-analyze` and other commands, alone or under mpirun, never longer than a deadline.

use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use skip::{Need, skip};

/// Time limit of a child process. Far more than any needs, so that only a hang reaches it.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

/// Result of a child process.
#[derive(Clone, Debug)]
pub(crate) struct Finished {
    /// The exit status; `None` if a signal ended it.
    pub(crate) status: Option<i32>,
    /// The signal that ended it.
    pub(crate) signal: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Finished {
    /// The messages of `replay-analyze` on standard error, one a line.
    pub(crate) fn messages(&self) -> Vec<&str> {
        self.stderr.lines().filter(|line| line.starts_with("replay-analyze: ")).collect()
    }

    /// Fails the test unless the status is this one.
    #[track_caller]
    pub(crate) fn expect(&self, status: i32) -> &Finished {
        assert_eq!(self.status, Some(status), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }
}

/// The path of the program under test.
pub(crate) fn program() -> &'static str {
    env!("CARGO_BIN_EXE_replay-analyze")
}

/// `replay-analyze` with these arguments, without any launcher.
pub(crate) fn analyzer<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(program());
    command.args(arguments);
    alone(&mut command);
    command
}

/// Runs `replay-analyze` with these arguments, without any launcher.
pub(crate) fn analyze<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Finished {
    run(&mut analyzer(arguments))
}

/// Removes variables of a launcher around the tests, which would make the child believe that it was launched.
pub(crate) fn alone(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if ["OMPI_", "PMIX_", "PMI_", "SLURM_", "REPLAY_LOG"].iter().any(|prefix| text.starts_with(prefix)) {
            command.env_remove(&name);
        }
    }
}

/// Runs a command to its end.
pub(crate) fn run(command: &mut Command) -> Finished {
    run_within(command, DEADLINE)
}

/// Runs a command to its end, within a time limit.
pub(crate) fn run_within(command: &mut Command, deadline: Duration) -> Finished {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (mut stdout, mut stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let read = |pipe: &mut dyn Read| {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let (stdout, stderr) =
        (std::thread::spawn(move || read(&mut stdout)), std::thread::spawn(move || read(&mut stderr)));
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if start.elapsed() > deadline {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("{command:?} did not end within {deadline:?}");
        }
        std::thread::sleep(pause);
        pause = (2 * pause).min(Duration::from_millis(20));
    };
    let (stdout, stderr) = (stdout.join().unwrap(), stderr.join().unwrap());
    Finished { status: status.code(), signal: status.signal(), stdout, stderr }
}

/// The MPI launcher, if there is one and the program under test can use it; otherwise reports what is
/// skipped.
pub(crate) fn mpirun(test: &str) -> Option<&'static Path> {
    static LAUNCHER: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let found = LAUNCHER.get_or_init(|| {
        if !cfg!(any(feature = "mpi", feature = "mpi-dlopen")) {
            return Err("built without the features mpi and mpi-dlopen".into());
        }
        let named = std::env::var_os("REPLAY_MPIRUN").map(PathBuf::from);
        let launcher = named.unwrap_or_else(|| "mpirun".into());
        let version = Command::new(&launcher).arg("--version").output();
        match version {
            Ok(output) if output.status.success() => Ok(launcher),
            _ => Err(format!("there is no {} (REPLAY_MPIRUN names another one)", launcher.display())),
        }
    });
    match found {
        Ok(launcher) => Some(launcher),
        Err(reason) => {
            skip(Need::Mpi, format!("{test}: {reason}"));
            None
        }
    }
}

/// A command under the launcher, with settings that let Open MPI work in containers and on few cores.
pub(crate) fn launched<S: AsRef<OsStr>>(
    launcher: &Path,
    processes: usize,
    command: impl IntoIterator<Item = S>,
) -> Command {
    let mut launched = Command::new(launcher);
    alone(&mut launched);
    launched
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
        .env("OMPI_MCA_btl", "self,vader")
        .env("OMPI_MCA_btl_vader_single_copy_mechanism", "none")
        .arg("-n")
        .arg(processes.to_string())
        .args(command);
    launched
}

/// Runs `replay-analyze` in several processes.
pub(crate) fn analyze_with<S: AsRef<OsStr>>(
    launcher: &Path,
    processes: usize,
    arguments: impl IntoIterator<Item = S>,
) -> Finished {
    let mut command = launched(launcher, processes, [program()]);
    command.args(arguments);
    run(&mut command)
}
