//! `replay-record --self-test` (site 3.6): one program under the launchers of both MPIs, with what it says if something is not as it
//! must be.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::process::{Ended, run};
use crate::support::record::clean;
use crate::support::turns::Turn;
use crate::support::{build, fresh, project};
use skip::{Need, skip};

/// Launchers, and what their libraries say of themselves.
const LAUNCHERS: [(&str, &str); 2] =
    [("mpirun.openmpi", "MPI: Open MPI v"), ("mpirun.mpich", "MPI: MPICH Version: ")];

fn is_there(launcher: &str) -> bool {
    Command::new(launcher).arg("--version").output().is_ok()
}

fn test(folder: &Path, words: &[&OsStr], variables: &[(&str, &str)]) -> Ended {
    let _turn = Turn::alone();
    let mut command = Command::new(words[0]);
    clean(command.args(&words[1..]));
    run(command.current_dir(folder).envs(variables.iter().copied()), folder)
}

#[track_caller]
fn expect(ended: &Ended, status: i32, parts: &[&str]) {
    let text = format!("{}\n{}", ended.stdout, ended.stderr);
    assert_eq!(ended.status.code(), Some(status), "{text}");
    // The paragraph may break a line at any blank.
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in parts {
        assert!(words.contains(part), "no {part:?} in {text}");
    }
}

#[test]
fn one_program_tests_itself_with_each_mpi() {
    if build::mpi("a self-test").is_none() {
        return;
    }
    let folder = fresh("self_test");
    let [record, option] = [build::launcher().as_os_str(), OsStr::new("--self-test")];
    for (launcher, says) in LAUNCHERS {
        if !is_there(launcher) {
            skip(Need::System, format!("a self-test under {launcher}, which is not here"));
            continue;
        }
        for ranks in ["2", "3"] {
            let ended =
                test(&folder, &[launcher.as_ref(), "-n".as_ref(), ranks.as_ref(), record, option], &[]);
            let processes = format!("all 18 counts are as expected. {ranks} processes on 1 host,");
            expect(
                &ended,
                0,
                &[&processes, says, "Findings: none.", "Counters: ", "perf_event_paranoid", "started alone."],
            );
            assert_eq!(ended.stdout.matches("Self-test of").count(), 1, "{}", ended.stdout);
            assert!(!folder.join("replay_self-test").exists());
        }
    }
}

#[test]
fn launcher_starts_the_analysis_too_if_the_test_is_in_front_of_it() {
    let Some(mpi) = build::mpi("a self-test in front of the launcher") else { return };
    let folder = fresh("self_test_in_front");
    let words = [
        build::launcher().as_os_str(),
        "--self-test".as_ref(),
        "-o".as_ref(),
        "kept".as_ref(),
        mpi.launcher.as_ref(),
    ];
    let ended =
        test(&folder, &[&words[..], &["-n", "2"].map(OsStr::new)].concat(), &[("REPLAY_PROFILE", "1")]);
    expect(&ended, 0, &["all 18 counts are as expected.", "-n 2; MPI: ", "started by the launcher."]);
    assert!(folder.join("kept/trace.cubex").exists() && folder.join("kept/traces.otf2").exists());
}

/// An installation with an analyzer that is this script.
fn installation(folder: &Path, script: &str) -> PathBuf {
    let record = folder.join("replay-record");
    fs::copy(build::launcher(), &record).unwrap();
    let library = "libreplay_recorder.so";
    fs::copy(build::launcher().with_file_name(library), folder.join(library)).unwrap();
    let analyzer = folder.join("replay-analyze");
    fs::write(&analyzer, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&analyzer, fs::Permissions::from_mode(0o755)).unwrap();
    record
}

#[test]
fn what_is_not_as_it_must_be_is_said_and_kept() {
    let Some(mpi) = build::mpi("a self-test that fails") else { return };
    let folder = fresh("self_test_fails");
    let under = |record: &Path, variables: &[(&str, &str)]| {
        let launcher = ["-n", "2"].map(OsStr::new);
        let words =
            [&[mpi.launcher.as_os_str()], &launcher[..], &[record.as_os_str(), "--self-test".as_ref()]];
        test(&folder, &words.concat(), variables)
    };
    // It analyses another trace.
    let script = format!(
        "for last; do :; done\nexec {} --mpi none -o $last/trace.cubex {}",
        env!("CARGO_BIN_EXE_replay-analyze"),
        project("tests/archives/sendrecv.2").display()
    );
    let record = installation(&folder, &script);
    let differs = under(&record, &[]);
    expect(&differs, 1, &["counts differ: MPI_Isend 0", " instead of ", "Experiment: "]);
    assert!(folder.join("replay_self-test/traces.otf2").exists());
    let fails = under(&installation(&folder, "echo no disk >&2; exit 2"), &[]);
    expect(&fails, 1, &["replay-analyze has failed: no disk"]);
    let nothing = test(&folder, &[record.as_os_str(), "--self-test".as_ref(), "true".as_ref()], &[]);
    expect(&nothing, 1, &["rank 0 has not introduced itself"]);
    let text = folder.join("text.so");
    fs::write(&text, "no library").unwrap();
    let no_mpi = under(&record, &[("REPLAY_MPI", text.to_str().unwrap())]);
    assert!(!no_mpi.status.success());
    let message = format!("cannot use {} as MPI library: ", text.display());
    assert_eq!(no_mpi.stderr.matches(&message).count(), 1, "{}", no_mpi.stderr);
}

#[test]
fn library_of_another_launcher_is_told_once() {
    if build::mpi("a self-test with another MPI").is_none()
        || !LAUNCHERS.iter().all(|(launcher, _)| is_there(launcher))
    {
        return skip(Need::System, "a self-test with the library of another MPI: there is one MPI only");
    }
    let folder = fresh("self_test_other");
    let words = [
        "mpirun.mpich".as_ref(),
        "-n".as_ref(),
        "2".as_ref(),
        build::launcher().as_os_str(),
        "--self-test".as_ref(),
    ];
    let ended = test(&folder, &words, &[("REPLAY_MPI", "libmpi.so.40")]);
    assert!(!ended.status.success());
    let message = "the launcher started 2 processes, but each is alone: it belongs to another MPI than the library, Open MPI v";
    assert_eq!(ended.stderr.matches(message).count(), 1, "{}", ended.stderr);
}
