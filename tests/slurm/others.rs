//! Scripts for batch systems that are not here: programs stand in for their launchers, which check what they are given and
//! start ranks with the MPI at hand.

use crate::job::{expect_analysed, expect_complete, find_replay, folder};
use crate::support::build::{self, Mpi};
use crate::support::record::clean;
use crate::support::{copy, process, project};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A script, and how its batch system starts it.
struct Batch {
    script: &'static str,
    /// Variables of the batch system.
    variables: &'static [(&'static str, &'static str)],
    /// What users change, besides the program.
    changes: &'static [(&'static str, &'static str)],
    /// The launcher, and its own arguments.
    launcher: &'static str,
    arguments: &'static str,
    /// Where the recording goes; empty if the script asks the clock for a name.
    recording: &'static str,
}

const RECORDING: [Batch; 4] = [
    Batch {
        script: "pbs-record-analyze.sh",
        variables: &[("PBS_JOBID", "17.server"), ("PBS_JOBNAME", "pbs")],
        changes: &[],
        launcher: "mpiexec",
        arguments: "",
        recording: "replay_pbs_17",
    },
    Batch {
        script: "lsf-record-analyze.sh",
        variables: &[("LSB_JOBID", "17"), ("LSB_JOBNAME", "lsf")],
        changes: &[("RANKS=84 ", "RANKS=2 ")],
        launcher: "jsrun",
        arguments: "-n 2 -a 1 -c 1 ",
        recording: "replay_lsf_17",
    },
    Batch {
        script: "flux-record-analyze.sh",
        variables: &[("FLUX_JOB_ID", "f17")],
        changes: &[("RANKS=128\n", "RANKS=2\n")],
        launcher: "flux",
        arguments: "run -n 2 ",
        recording: "replay_f17",
    },
    Batch {
        script: "shell-record-analyze.sh",
        variables: &[],
        changes: &[("RANKS=4\n", "RANKS=2\n")],
        launcher: "mpirun",
        arguments: "-n 2 ",
        recording: "",
    },
];

impl Batch {
    /// Runs the script in a folder, with changes.
    fn run(&self, mpi: &Mpi, folder: &Path, changes: &[(&str, String)]) -> process::Ended {
        self.stand_in(mpi, folder);
        let mut text = fs::read_to_string(project("jobscripts").join(self.script)).unwrap();
        let own = self.changes.iter().map(|(from, to)| (*from, (*to).to_owned()));
        for (from, to) in own.chain(changes.iter().cloned()) {
            assert!(text.contains(from), "{}: no {from:?}", self.script);
            text = text.replace(from, &to);
        }
        fs::write(folder.join("script.sh"), text).unwrap();
        let mut command = Command::new("bash");
        clean(&mut command);
        find_replay(&mut command, folder);
        command.arg("script.sh").envs(self.variables.iter().copied()).current_dir(folder);
        process::run(&mut command, folder)
    }

    /// Puts a program in the place of the launcher, which notes what it is to start and starts that with two ranks.
    fn stand_in(&self, mpi: &Mpi, folder: &Path) {
        let path = folder.join("bin").join(self.launcher);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let count = self.arguments.split_whitespace().count();
        // The MPI's own program, which may have the name of this one. Open MPI's looks for Flux if that has made the job.
        let launcher = which(&mpi.launcher);
        let text = format!(
            "#!/bin/sh\necho \"$*\" >>launched\ncase \"$*\" in\n\"{}\"*) ;;\n*) exit 99 ;;\nesac\nunset FLUX_JOB_ID\nshift {count}\nexec '{}' -n 2 \"$@\"\n",
            self.arguments,
            launcher.display()
        );
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn recording(&self, folder: &Path) -> PathBuf {
        if !self.recording.is_empty() {
            return folder.join(self.recording);
        }
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let found: Vec<PathBuf> = entries
            .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("replay_")))
            .collect();
        let [recording] = &found[..] else { panic!("{found:?}") };
        recording.clone()
    }
}

/// The file of a program.
fn which(program: &Path) -> PathBuf {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let mut files = std::env::split_paths(&folders).map(|folder| folder.join(program));
    files.find(|file| file.exists()).unwrap_or_else(|| program.to_owned())
}

#[test]
fn programs_are_recorded_and_analysed() {
    for batch in RECORDING {
        let Some(mpi) = build::mpi(batch.script) else { return };
        let Some(program) = build::program(mpi, "endings/exit_codes.c") else { return };
        let folder = folder(batch.script);
        let program = format!("PROGRAM=({} finalize return 7)", program[0].display());
        let ended = batch.run(mpi, &folder, &[("PROGRAM=(./app input.nml)", program)]);
        assert_eq!(ended.status.code(), Some(7), "{}: {ended:?}", batch.script);
        let recording = batch.recording(&folder);
        expect_complete(&recording, 20);
        expect_analysed(&recording);
        let launched = fs::read_to_string(folder.join("launched")).unwrap();
        assert_eq!(launched.lines().count(), 2, "{launched}");
    }
}

#[test]
fn program_that_would_run_into_the_limit_is_stopped_and_analysed() {
    let batch = &RECORDING[0];
    let Some(mpi) = build::mpi(batch.script) else { return };
    let Some(program) = build::program(mpi, "endings/sleep_forever.c") else { return };
    let folder = folder("stopped.pbs");
    let program = format!("PROGRAM=({} 50)", program[0].display());
    let changes = [("PROGRAM=(./app input.nml)", program), ("STOP_AFTER=55m", "STOP_AFTER=8s".to_owned())];
    let ended = batch.run(mpi, &folder, &changes);
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
    assert!(ended.stderr.contains("has not ended after 8 s"), "{ended:?}");
    let recording = batch.recording(&folder);
    expect_complete(&recording, 100);
    expect_analysed(&recording);
}

#[test]
fn experiment_that_is_there_is_analysed() {
    let batch = Batch {
        script: "pbs-analyze.sh",
        variables: &[("EXPERIMENT", "exp.dir"), ("OMP_NUM_THREADS", "2")],
        changes: &[],
        launcher: "mpiexec",
        arguments: "",
        recording: "exp.dir",
    };
    let Some(mpi) = build::mpi(batch.script) else { return };
    let folder = folder(batch.script);
    copy(&project("tests/archives/barrier.4"), &folder.join("exp.dir"));
    let ended = batch.run(mpi, &folder, &[]);
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
    assert_eq!(ended.stdout.matches("Report: exp.dir/trace.cubex\n").count(), 1, "{ended:?}");
    let launched = fs::read_to_string(folder.join("launched")).unwrap();
    assert_eq!(launched, "replay-analyze --finish --threads 2 exp.dir\n");
}
