//! Programs under MPI, bare and recorded.

use super::build::{self, Mpi};
use super::fresh;
use super::process::{Ended, run};
use super::turns::Turn;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How to start a recording.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Way {
    /// `replay-record mpirun ./app`
    InFront,
    /// `mpirun replay-record ./app`
    Behind,
}

/// Both ways.
pub(crate) const WAYS: [Way; 2] = [Way::InFront, Way::Behind];

/// A program with so many ranks, in a folder of its own.
#[derive(Debug)]
pub(crate) struct Subject {
    pub(crate) mpi: &'static Mpi,
    pub(crate) folder: PathBuf,
    /// Where the recording is.
    pub(crate) experiment: PathBuf,
    ranks: u32,
    program: Vec<OsString>,
    variables: Vec<(&'static str, &'static str)>,
    options: Vec<&'static str>,
}

impl Subject {
    /// A program of `tests/programs`; `None`, and says so, if it cannot be run here.
    pub(crate) fn new(test: &str, source: &str, ranks: u32, arguments: &[&str]) -> Option<Subject> {
        let mpi = build::mpi(test)?;
        let mut program = build::program(mpi, source)?;
        program.extend(arguments.iter().map(Into::into));
        Subject::any(test, ranks, program)
    }

    /// Any program.
    pub(crate) fn any(test: &str, ranks: u32, program: Vec<OsString>) -> Option<Subject> {
        let mpi = build::mpi(test)?;
        // Before anybody measures anything.
        build::launcher();
        let folder = fresh(test);
        let (experiment, variables, options) = (folder.join("recording"), Vec::new(), Vec::new());
        Some(Subject { mpi, folder, experiment, ranks, program, variables, options })
    }

    /// With a variable in its environment.
    pub(crate) fn with(mut self, name: &'static str, value: &'static str) -> Subject {
        self.variables.push((name, value));
        self
    }

    /// With an option of `replay-record`.
    pub(crate) fn option(mut self, option: &'static str) -> Subject {
        self.options.push(option);
        self
    }

    /// With a shell that starts it by this script, which gets the program as its arguments.
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
    pub(crate) fn run_recorded(&self, way: Way) -> Ended {
        let _turn = Turn::alone();
        run(&mut self.recorded(way), &self.folder)
    }

    /// Runs it with the recorder and nobody who completes the archive.
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
    pub(crate) fn recorded(&self, way: Way) -> Command {
        let mut recorder: Vec<OsString> =
            vec![build::launcher().into(), "-o".into(), self.experiment.clone().into()];
        recorder.extend(self.options.iter().map(Into::into));
        let words = match way {
            Way::InFront => [recorder, self.mpirun(), self.program.clone()],
            Way::Behind => [self.mpirun(), recorder, self.program.clone()],
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
        command.current_dir(&self.folder).envs(self.variables.iter().copied());
        command
    }
}

/// An environment with what MPI needs on one machine with few processors, and nothing that a launcher around the tests
/// has left.
pub(crate) fn clean(command: &mut Command) {
    let foreign = ["OMPI_COMM_", "OMPI_UNIVERSE", "PMIX_", "PMI_", "SLURM_", "LD_PRELOAD", "REPLAY_"];
    for (name, _) in std::env::vars_os() {
        if foreign.iter().any(|prefix| name.to_string_lossy().starts_with(prefix)) {
            command.env_remove(&name);
        }
    }
    // As tools/environment.sh has it; a one-sided component of Debian's Open MPI does not work without a network.
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

/// The same with more options.
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
