//! Runs the program as if nobody was in between: its input and output, its open files, the signals that are meant for
//! it, and its end.

use crate::Error;
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGALRM, SIGCHLD, SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};

/// Signals that users, batch systems and mpirun send to a program.
const FORWARDED: [i32; 8] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGCONT];

/// The launcher itself has failed.
pub(crate) const FAILED: i32 = 125;
/// The program is there but cannot be executed, as shells say it.
const NOT_EXECUTABLE: i32 = 126;
/// There is no such program, as shells say it.
const NOT_FOUND: i32 = 127;

/// How a program has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// It has left with a status.
    Exit(i32),
    /// It has died of a signal.
    Signal(i32),
}

impl From<ExitStatus> for End {
    fn from(status: ExitStatus) -> Self {
        match status.signal() {
            Some(signal) => End::Signal(signal),
            None => End::Exit(status.code().unwrap_or(FAILED)),
        }
    }
}

/// A program that runs.
pub(crate) struct Program {
    child: Child,
    signals: SignalsInfo<WithOrigin>,
}

/// Why a program does not run: a message, and the exit status that says so.
pub(crate) struct NotStarted {
    pub(crate) error: Error,
    pub(crate) status: i32,
}

impl Program {
    /// Starts a program with variables beyond those that it has anyway.
    pub(crate) fn start(
        command: &[OsString],
        variables: &[(OsString, OsString)],
    ) -> Result<Self, NotStarted> {
        let failed = |cause: std::io::Error| {
            let error = Error::new(format!("cannot receive signals: {cause}"));
            NotStarted { error, status: FAILED }
        };
        let Some((program, arguments)) = command.split_first() else {
            return Err(NotStarted { error: Error::new("there is no program"), status: FAILED });
        };
        // Before the program starts, so that no signal is missed. What is ignored stays so, for the program too (nohup).
        let ignored = ignored();
        let wanted = FORWARDED.iter().filter(|&&signal| ignored & 1 << (signal - 1) == 0);
        let signals = SignalsInfo::<WithOrigin>::new(wanted.chain(&[SIGCHLD])).map_err(failed)?;
        let mut child = Command::new(program);
        child.args(arguments).envs(variables.iter().map(|(name, value)| (name, value)));
        end_with_launcher(&mut child);
        match child.spawn() {
            Ok(child) => Ok(Program { child, signals }),
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

    /// Waits for the end, and passes on signals meanwhile. Signals that come later are swallowed: what is left to do
    /// is soon done.
    pub(crate) fn wait(&mut self) -> Result<End, Error> {
        let failed = |cause: std::io::Error| Error::new(format!("cannot wait for the program: {cause}"));
        loop {
            if let Some(status) = self.child.try_wait().map_err(failed)? {
                return Ok(status.into());
            }
            let origins: Vec<_> = self.signals.wait().collect();
            for origin in origins {
                // What comes from a terminal comes to the program too.
                let Some(from) = origin.process else { continue };
                if origin.signal != SIGCHLD && from.pid as u32 != self.child.id() {
                    self.send(origin.signal);
                }
            }
        }
    }

    /// Its number.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    fn send(&mut self, signal: i32) {
        // As long as it was not waited for, the number is the program's. It may be dead already.
        if let (Some(process), Some(signal)) =
            (Pid::from_raw(self.child.id() as i32), Signal::from_named_raw(signal))
        {
            let _ = kill_process(process, signal);
        }
    }
}

/// Signals that this process ignores, as bits.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let bits = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    bits.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or(0)
}

/// A launcher that is killed cannot pass on anything any more; whoever killed it means the program. Not SIGKILL: the
/// program may be mpirun, which has others to end.
#[allow(unsafe_code)]
fn end_with_launcher(command: &mut Command) {
    let launcher = rustix::process::getpid();
    let ask = move || {
        rustix::process::set_parent_process_death_signal(Some(Signal::TERM))?;
        // Too late to be told?
        if rustix::process::getppid() != Some(launcher) {
            return Err(std::io::Error::other("replay-record is gone"));
        }
        Ok(())
    };
    // SAFETY: between fork and exec only functions that are safe in signal handlers may be called: these are two
    // system calls, and no error with a message is made unless the process is about to end anyway.
    unsafe { command.pre_exec(ask) };
}

/// Lets a program run in a session of its own, so that whoever ends this process's does not end it.
#[allow(unsafe_code)]
pub(crate) fn in_own_session(command: &mut Command) {
    let leave = || Ok(rustix::process::setsid().map(|_| ())?);
    // SAFETY: as above; a single system call.
    unsafe { command.pre_exec(leave) };
}

/// Closes what this process has inherited but its input and output. A guardian must not hold what others wait for to be
/// closed, such as the rank's connection to mpirun.
#[allow(unsafe_code)]
pub(crate) fn close_inherited() {
    let names = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let files: Vec<i32> = names.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    // What listed them is among them, but closed by now.
    let is_open = |file: &i32| fs::symlink_metadata(format!("/proc/self/fd/{file}")).is_ok();
    for file in files.into_iter().filter(|file| *file > 2 && is_open(file)) {
        // SAFETY: called before this process has opened anything, so nothing in it owns the file.
        unsafe { rustix::io::close(file) };
    }
}

/// Ends as the program did.
pub fn end_as(end: End) -> ! {
    match end {
        End::Exit(status) => std::process::exit(status),
        End::Signal(signal) => {
            // The program has left a core dump if it was allowed to; ours would be in its place.
            let limit = rustix::process::Rlimit { current: Some(0), maximum: Some(0) };
            let _ = rustix::process::setrlimit(rustix::process::Resource::Core, limit);
            let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
            let _ = signal_hook::low_level::emulate_default_handler(signal);
            // What has no default action that ends a process, shells would say like this.
            std::process::exit(128 + signal)
        }
    }
}
