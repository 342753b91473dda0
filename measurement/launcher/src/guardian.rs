//! The guardian of a launcher that may be killed.
//!
//! When a rank dies or calls `MPI_Abort`, mpirun ends the launchers of ranks too, some with SIGTERM and soon
//! after with SIGKILL, some with SIGKILL at once. So each launcher has a guardian, a process in a session of
//! its own that does nothing unless the launcher is killed or its program has failed. Then it counts the
//! launcher, if that has not been done, and waits a few seconds for the others to be counted; the last one
//! completes the archive. Batch systems that end every process of a job, whatever its session, kill guardians
//! as well: `replay-record --finish` remains.

use crate::note::Note;
use crate::{ending, program};
use std::env;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Message to the guardian: the launcher has counted itself for one more experiment.
const COUNTED: u8 = b'c';
/// Message to the guardian: the launcher has done everything.
const DISMISSED: u8 = b'.';

/// The guardian of this launcher.
pub(crate) struct Guardian(Child);

impl Guardian {
    /// Starts a guardian. Without it everything works unless the launcher is killed.
    pub(crate) fn start(note: &Path) -> Option<Self> {
        let mut command = Command::new(env::current_exe().ok()?);
        command.arg("--guard").arg(note).env_remove("LD_PRELOAD").stdin(Stdio::piped()).stdout(Stdio::null());
        program::in_own_session(&mut command);
        command.spawn().ok().map(Guardian)
    }

    /// Reports that the launcher is counted for the next experiment in the note.
    pub(crate) fn send_counted(&mut self) {
        self.send(COUNTED);
    }

    /// Dismisses the guardian, which is not needed any more.
    pub(crate) fn dismiss(mut self) {
        if self.send(DISMISSED) {
            // It leaves at once; a reader that waits until standard error is closed need not wait.
            let _ = self.0.wait();
        }
    }

    /// Sends a message; returns whether the guardian has received it.
    fn send(&mut self, word: u8) -> bool {
        self.0.stdin.as_mut().is_some_and(|line| line.write_all(&[word]).is_ok())
    }
}

/// The guardian's task: waits for the end of the launcher, which holds the other end of standard input.
/// Returns the directories that it has to complete.
pub fn guard(note: &Path) -> Vec<PathBuf> {
    program::close_inherited();
    let mut words = Vec::new();
    if std::io::stdin().read_to_end(&mut words).is_err() || words.contains(&DISMISSED) {
        return Vec::new();
    }
    let note = Note::open(note.to_owned());
    let counted = words.iter().filter(|&&word| word == COUNTED).count();
    let noted = note.directories().into_iter().enumerate();
    let needed = noted.filter(|(at, (directory, lines))| match ending::is_alone(directory, *lines) {
        true => ending::is_needed(directory),
        false => ending::is_needed_for_others(directory, *at < counted),
    });
    needed.map(|(_, (directory, _))| directory).collect()
}
