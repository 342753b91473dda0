//! Runs of programs under MPI, bare and recorded.

use super::build::{self, Mpi};
use super::fresh;
use super::process::{Ended, run};
use super::turns::Turn;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Invocation of a recording.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Invocation {
    /// `replay-record mpirun ./app`
    InFront,
    /// `mpirun replay-record ./app`
    Behind,
}

/// Both invocations.
pub(crate) const INVOCATIONS: [Invocation; 2] = [Invocation::InFront, Invocation::Behind];

/// A program with a number of ranks, in a folder of its own.
#[derive(Debug)]
pub(crate) struct Subject {
    pub(crate) mpi: &'static Mpi,
    pub(crate) folder: PathBuf,
    /// Path of the recording.
    pub(crate) experiment: PathBuf,
    pub(crate) ranks: u32,
    program: Vec<OsString>,
    variables: Vec<(&'static str, &'static str)>,
    options: Vec<&'static str>,
}

impl Subject {
    /// A program of `tests/programs`; `None`, with a message, if it cannot be run here.
    pub(crate) fn new(test: &str, source: &str, ranks: u32, arguments: &[&str]) -> Option<Subject> {
        let mpi = build::mpi(test)?;
        let mut program = build::program(mpi, source)?;
        program.extend(arguments.iter().map(Into::into));
        Subject::any(test, ranks, program)
    }

    /// Any program.
    pub(crate) fn any(test: &str, ranks: u32, program: Vec<OsString>) -> Option<Subject> {
        let mpi = build::mpi(test)?;
        // Built before any test measures times.
        build::launcher();
        let folder = fresh(test);
        let (experiment, variables, options) = (folder.join("recording"), Vec::new(), Vec::new());
        Some(Subject { mpi, folder, experiment, ranks, program, variables, options })
    }

    /// Adds a variable to its environment.
    pub(crate) fn with(mut self, name: &'static str, value: &'static str) -> Subject {
        self.variables.push((name, value));
        self
    }

    /// Adds an option of `replay-record`.
    pub(crate) fn option(mut self, option: &'static str) -> Subject {
        self.options.push(option);
        self
    }

    /// Starts it by a shell with this script, which gets the program as its arguments.
    pub(crate) fn behind_shell(mut self, script: &str) -> Subject {
        let shell = ["sh", "-c", script, "sh"].map(Into::into);
        self.program = shell.into_iter().chain(self.program).collect();
        self
    }

    /// Runs it without the recorder.
    pub(crate) fn run_bare(&self) -> Ended {
        let _turn = Turn::alone();
        run(&mut self.bare(), &self.folder)
    }

    /// Runs it with the recorder.
    pub(crate) fn run_recorded(&self, way: Invocation) -> Ended {
        let _turn = Turn::alone();
        run(&mut self.recorded(way), &self.folder)
    }

    /// Runs it with the recorder, but without a launcher that completes the archive.
    pub(crate) fn run_uncompleted(&self) -> Ended {
        let _turn = Turn::alone();
        let library = build::launcher().with_file_name("libreplay_recorder.so");
        let variable = |name: &str, value: &Path| {
            let mut variable = OsString::from(name);
            variable.push("=");
            variable.push(value);
            variable
        };
        let recorder =
            ["env".into(), variable("LD_PRELOAD", &library), variable("REPLAY_OUTPUT", &self.experiment)];
        run(&mut self.command([self.mpirun(), recorder.into(), self.program.clone()].concat()), &self.folder)
    }

    /// The command without the recorder.
    pub(crate) fn bare(&self) -> Command {
        let mut words = self.mpirun();
        words.extend(self.program.clone());
        self.command(words)
    }

    /// The command with the recorder.
    pub(crate) fn recorded(&self, way: Invocation) -> Command {
        let mut recorder: Vec<OsString> =
            vec![build::launcher().into(), "-o".into(), self.experiment.clone().into()];
        recorder.extend(self.options.iter().map(Into::into));
        let words = match way {
            Invocation::InFront => [recorder, self.mpirun(), self.program.clone()],
            Invocation::Behind => [self.mpirun(), recorder, self.program.clone()],
        };
        self.command(words.concat())
    }

    fn mpirun(&self) -> Vec<OsString> {
        vec![self.mpi.launcher.clone().into(), "-n".into(), self.ranks.to_string().into()]
    }

    fn command(&self, words: Vec<OsString>) -> Command {
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        clean(&mut command);
        // How often a thread is interrupted is no property of the program.
        command.env("REPLAY_OFF_CPU", "off");
        command.current_dir(&self.folder).envs(self.variables.iter().copied());
        command
    }
}

/// Sets an environment with what MPI needs on one machine with few processors, without variables of a
/// launcher around the tests.
pub(crate) fn clean(command: &mut Command) {
    let foreign = ["OMPI_COMM_", "OMPI_UNIVERSE", "PMIX_", "PMI_", "SLURM_", "LD_PRELOAD", "REPLAY_"];
    for (name, _) in std::env::vars_os() {
        if foreign.iter().any(|prefix| name.to_string_lossy().starts_with(prefix)) {
            command.env_remove(&name);
        }
    }
    // As in tools/environment.sh; a one-sided component of Debian's Open MPI does not work without a network.
    let needed = [
        ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
        ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
        ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
        ("OMPI_MCA_btl", "self,vader"),
        ("OMPI_MCA_btl_vader_single_copy_mechanism", "none"),
        ("OMPI_MCA_osc", "^ucx"),
        ("UCX_TLS", "posix,self"),
        ("HYDRA_IFACE", "lo"),
    ];
    for (name, value) in needed {
        if std::env::var_os(name).is_none() {
            command.env(name, value);
        }
    }
    command.env("PYTHONPATH", super::project("measurement/include"));
}

/// Completes a recording with `replay-record --finish`.
pub(crate) fn finish(experiment: &Path, folder: &Path) -> Ended {
    finish_with(experiment, &[], folder)
}

/// Completes a recording with further options.
pub(crate) fn finish_with(experiment: &Path, options: &[&str], folder: &Path) -> Ended {
    let mut command = Command::new(build::launcher());
    clean(&mut command);
    run(command.arg("--finish").arg(experiment).args(options), folder)
}

/// Analyzes a recording; the report is `trace.cubex` in it.
pub(crate) fn analyze(experiment: &Path, folder: &Path) -> Ended {
    let mut command = Command::new(env!("CARGO_BIN_EXE_replay-analyze"));
    clean(&mut command);
    run(command.arg("--force").arg(experiment), folder)
}
