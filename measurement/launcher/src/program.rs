//! Runs the program transparently: with its input and output, its open files, the signals that are meant for
//! it, and its end.

use crate::Error;
use crate::report::complain;
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGALRM, SIGCHLD, SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Signals that users, batch systems and mpirun send to a program.
const FORWARDED: [i32; 8] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGCONT];

/// Exit status: the launcher itself has failed.
pub(crate) const FAILED: i32 = 125;
/// Exit status, as of shells: the program exists but cannot be executed.
const NOT_EXECUTABLE: i32 = 126;
/// Exit status, as of shells: there is no such program.
const NOT_FOUND: i32 = 127;

/// The end of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProgramEnd {
    /// It has exited with a status.
    Exit(i32),
    /// It has died of a signal.
    Signal(i32),
}

impl From<ExitStatus> for ProgramEnd {
    fn from(status: ExitStatus) -> Self {
        match status.signal() {
            Some(signal) => ProgramEnd::Signal(signal),
            None => ProgramEnd::Exit(status.code().unwrap_or(FAILED)),
        }
    }
}

/// A running program.
#[derive(Debug)]
pub struct Program {
    child: Child,
    /// Whether it has been waited for: from then on its process id may be that of another one.
    is_over: Arc<Mutex<bool>>,
    signals: SignalsInfo<WithOrigin>,
}

/// Why a program was not started: a message, and the exit status.
#[derive(Debug)]
pub struct NotStarted {
    /// The message.
    pub error: Error,
    /// The exit status, as of shells.
    pub status: i32,
}

impl Program {
    /// Starts a program with additional environment variables, and as `prepare` wants it.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(
        command: &[OsString],
        variables: &[(OsString, OsString)],
        prepare: impl FnOnce(&mut Command),
    ) -> Result<Self, NotStarted> {
        let failed = |cause: std::io::Error| {
            let error = Error::new(format!("cannot receive signals: {cause}"));
            NotStarted { error, status: FAILED }
        };
        let Some((program, arguments)) = command.split_first() else {
            return Err(NotStarted { error: Error::new("there is no program"), status: FAILED });
        };
        // Before the program starts, so that no signal is missed. Ignored signals stay ignored, for the
        // program too (nohup).
        let ignored = ignored();
        let wanted = FORWARDED.iter().filter(|&&signal| ignored & 1 << (signal - 1) == 0);
        let signals = SignalsInfo::<WithOrigin>::new(wanted.chain(&[SIGCHLD])).map_err(failed)?;
        let mut child = Command::new(program);
        child.args(arguments).envs(variables.iter().map(|(name, value)| (name, value)));
        end_with_launcher(&mut child);
        prepare(&mut child);
        match child.spawn() {
            Ok(child) => Ok(Program { child, is_over: Arc::default(), signals }),
            Err(cause) => {
                let status = if cause.kind() == ErrorKind::NotFound { NOT_FOUND } else { NOT_EXECUTABLE };
                let program = program.to_string_lossy();
                Err(NotStarted {
                    error: Error::new(format!("{program}: cannot start the program: {cause}")),
                    status,
                })
            }
        }
    }

    /// Waits for the end, and passes on signals meanwhile. Signals that come later are ignored: the rest is
    /// soon done.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn wait(&mut self) -> Result<ProgramEnd, Error> {
        let failed = |cause: std::io::Error| Error::new(format!("cannot wait for the program: {cause}"));
        loop {
            if let Some(status) = self.try_wait().map_err(failed)? {
                return Ok(status.into());
            }
            let origins: Vec<_> = self.signals.wait().collect();
            for origin in origins {
                // Signals of a terminal reach the program, too.
                let Some(from) = origin.process else { continue };
                // Until it has been waited for, the id is the program's. It may be dead already.
                if origin.signal != SIGCHLD && from.pid as u32 != self.child.id() {
                    send(self.child.id(), origin.signal);
                }
            }
        }
    }

    fn try_wait(&mut self) -> std::io::Result<Option<ExitStatus>> {
        let mut is_over = self.is_over.lock().unwrap_or_else(PoisonError::into_inner);
        let status = self.child.try_wait()?;
        *is_over = status.is_some();
        Ok(status)
    }

    /// Stops the program, which has been started by this command, if it has not ended after this time.
    pub(crate) fn stop_after(&self, limit: Duration, command: &[OsString]) {
        let (process, is_over) = (self.child.id(), Arc::clone(&self.is_over));
        let job = env::var("SLURM_JOB_ID").ok().filter(|_| is_srun(command));
        std::thread::spawn(move || {
            std::thread::sleep(limit);
            let is_over = is_over.lock().unwrap_or_else(PoisonError::into_inner);
            if *is_over {
                return;
            }
            complain(&format!("the program has not ended after {} s: it is stopped", limit.as_secs()));
            // A signal to srun itself has it kill all ranks within a second (site 2.2): Slurm passes it on to them.
            if !job.is_some_and(|job| signal_steps(&job)) {
                send(process, SIGTERM);
            }
        });
    }

    /// Returns its standard output and error, if these were to be pipes.
    pub fn take_output(&mut self) -> (Option<ChildStdout>, Option<ChildStderr>) {
        (self.child.stdout.take(), self.child.stderr.take())
    }

    /// Returns its process id.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }
}

fn send(process: u32, signal: i32) {
    if let (Some(process), Some(signal)) = (Pid::from_raw(process as i32), Signal::from_named_raw(signal)) {
        let _ = kill_process(process, signal);
    }
}

/// Whether a command starts ranks by Slurm's launcher.
fn is_srun(command: &[OsString]) -> bool {
    command.first().is_some_and(|program| Path::new(program).file_name() == Some("srun".as_ref()))
}

/// Has Slurm send SIGTERM to the steps of a job; returns whether it does so.
fn signal_steps(job: &str) -> bool {
    let mut command = Command::new("scancel");
    command.arg("--signal=TERM").arg(job).env_remove("LD_PRELOAD").stdin(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Returns the signals that this process ignores, as bits.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let bits = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    bits.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or(0)
}

/// Lets the program receive SIGTERM when the launcher dies: a killed launcher cannot pass on anything, and
/// the signal was meant for the program. Not SIGKILL: the program may be mpirun, which has others to end.
#[allow(unsafe_code)]
fn end_with_launcher(command: &mut Command) {
    let launcher = rustix::process::getpid();
    let ask = move || {
        rustix::process::set_parent_process_death_signal(Some(Signal::TERM))?;
        // The launcher may have died before this was requested.
        if rustix::process::getppid() != Some(launcher) {
            return Err(std::io::Error::other("who starts it is gone"));
        }
        Ok(())
    };
    // SAFETY: between fork and exec only async-signal-safe functions may be called: these are two system
    // calls, and the error with a message allocates only if the process is about to end anyway.
    unsafe { command.pre_exec(ask) };
}

/// Runs a program in a session of its own, so that signals to this process's session or group do not end it.
#[allow(unsafe_code)]
pub(crate) fn in_own_session(command: &mut Command) {
    let leave = || Ok(rustix::process::setsid().map(|_| ())?);
    // SAFETY: as above; it is a single system call.
    unsafe { command.pre_exec(leave) };
}

/// Closes all inherited files except standard input, output and error. A guardian must not hold open what
/// others wait for to be closed, such as the rank's connection to mpirun.
#[allow(unsafe_code)]
pub(crate) fn close_inherited() {
    let names = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let files: Vec<i32> = names.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    // The descriptor of the listing itself is among them, but closed by now.
    let is_open = |file: &i32| fs::symlink_metadata(format!("/proc/self/fd/{file}")).is_ok();
    for file in files.into_iter().filter(|file| *file > 2 && is_open(file)) {
        // SAFETY: called before this process has opened anything, so nothing in it owns the descriptor.
        unsafe { rustix::io::close(file) };
    }
}

/// Ends this process as the program ended.
pub fn end_as(end: ProgramEnd) -> ! {
    match end {
        ProgramEnd::Exit(status) => std::process::exit(status),
        ProgramEnd::Signal(signal) => {
            // The program has left a core dump if it was allowed to; ours would replace it.
            let limit = rustix::process::Rlimit { current: Some(0), maximum: Some(0) };
            let _ = rustix::process::setrlimit(rustix::process::Resource::Core, limit);
            let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
            let _ = signal_hook::low_level::emulate_default_handler(signal);
            // A signal that does not end a process by default: the status that shells use.
            std::process::exit(128 + signal)
        }
    }
}
