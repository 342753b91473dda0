//! Recordings that were not completed: `replay-analyze --finish` has `replay-record` beside it do that first, once for all processes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::support::run::{Finished, alone, launched, mpirun, run};
use crate::support::{archive, copy, fresh};

/// A folder with a recording, and the analyzer beside a `replay-record` that does as `script` says.
struct Site {
    folder: tempfile::TempDir,
}

impl Site {
    fn new(script: Option<&str>) -> Site {
        let site = Site { folder: fresh() };
        let own = site.path("replay-analyze");
        fs::hard_link(env!("CARGO_BIN_EXE_replay-analyze"), &own)
            .or_else(|_| fs::copy(env!("CARGO_BIN_EXE_replay-analyze"), &own).map(drop))
            .unwrap();
        if let Some(script) = script {
            let recorder = site.path("replay-record");
            fs::write(&recorder, format!("#!/bin/sh\necho \"$@\" >>\"$2.calls\"\n{script}\n")).unwrap();
            fs::set_permissions(&recorder, fs::Permissions::from_mode(0o755)).unwrap();
        }
        fs::create_dir_all(site.path("exp/recording")).unwrap();
        copy(&archive("late_sender.4"), &site.path("complete"));
        site
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Analyses it in one process, or in several under a launcher.
    fn analyze(&self, launcher: Option<(&Path, usize)>) -> Finished {
        let words = [self.path("replay-analyze"), "--finish".into(), self.path("exp")];
        let mut command = match launcher {
            Some((launcher, processes)) => launched(launcher, processes, words),
            None => {
                let mut command = std::process::Command::new(&words[0]);
                command.args(&words[1..]);
                alone(&mut command);
                command
            }
        };
        run(command.env("PATH", format!("{}:/usr/bin:/bin", self.folder.path().display())))
    }

    /// How often the recorder was called.
    fn calls(&self) -> usize {
        fs::read_to_string(self.path("exp.calls")).map_or(0, |calls| calls.lines().count())
    }
}

/// Puts the complete archive in the place of the recording.
const COMPLETES: &str = "rmdir \"$2/recording\" && cp -r \"$2/../complete/.\" \"$2\"";

#[test]
fn recording_is_completed_once_and_analysed_by_any_number_of_processes() {
    let launcher = mpirun("recording_is_completed_once");
    for processes in [None, Some(1), Some(3)] {
        let launcher = match (processes, launcher) {
            (None, _) => None,
            (Some(processes), Some(launcher)) => Some((launcher, processes)),
            (Some(_), None) => continue,
        };
        // With status 1 something is lost, and all else is there.
        let site = Site::new(Some(&format!("{COMPLETES}\nexit 1")));
        site.analyze(launcher).expect(0);
        assert!(site.path("exp/trace.cubex").exists());
        assert_eq!(site.calls(), 1);
        // It is complete now.
        site.analyze(launcher).expect(0);
        assert_eq!(site.calls(), 1);
    }
}

#[test]
fn recording_that_cannot_be_completed_ends_all_processes_with_one_message() {
    let launcher = mpirun("recording_that_cannot_be_completed").map(|launcher| (launcher, 2));
    for launcher in [None].into_iter().chain(launcher.map(Some)) {
        let site = Site::new(Some("exit 2"));
        let ended = site.analyze(launcher);
        assert_ne!(ended.status, Some(0), "{}", ended.stderr);
        let [message] = ended.messages()[..] else { panic!("{}", ended.stderr) };
        assert!(message.contains("exp: replay-record --finish cannot complete the recording"), "{message}");
        assert!(!site.path("exp/trace.cubex").exists());
    }
}

#[test]
fn recorder_that_is_not_there_is_named() {
    let ended = Site::new(None).analyze(None);
    let [message] = ended.messages()[..] else { panic!("{}", ended.stderr) };
    assert!(message.contains("--finish needs replay-record, which is neither beside"), "{message}");
    ended.expect(2);
}
