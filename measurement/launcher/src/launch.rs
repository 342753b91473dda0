//! Runs a program, and completes the archive of its recording afterwards.
//!
//! There are two ways of use with the same code: in front of mpirun, or as the parent of each rank. In front,
//! the launcher is the only one, and completes every experiment that was noted. As a parent, many launchers
//! share an experiment; `ending` chooses the one that completes it, and `guardian` handles launchers that
//! mpirun kills.

use crate::ending;
use crate::faults;
use crate::guardian::Guardian;
use crate::note::Note;
use crate::preload;
use crate::program::{self, FAILED, Program, ProgramEnd};
use crate::report::complain;
use recording::settings::Settings;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tracing::debug;

/// What has come of a program under the recorder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recorded {
    /// How the program has ended.
    pub end: ProgramEnd,
    /// The experiment directories that it has noted.
    pub directories: Vec<PathBuf>,
}

impl Recorded {
    /// Nothing was recorded.
    fn nothing(status: i32) -> Recorded {
        Recorded { end: ProgramEnd::Exit(status), directories: Vec::new() }
    }
}

/// Runs a program under the recorder and completes the archives of its recordings. The settings are those that the
/// variables say.
pub fn record(command: &[OsString], variables: &[(&'static str, String)], settings: &Settings) -> Recorded {
    let found = preload::library().and_then(|recorder| {
        let io = if settings.posix { Some(preload::io_library(&recorder)?) } else { None };
        Ok((recorder, io))
    });
    let (library, io) = match found {
        Ok(found) => found,
        Err(error) => {
            complain(&error);
            return Recorded::nothing(FAILED);
        }
    };
    // The recorder looks for the functions that it passes on to behind itself, and must not find its own.
    let libraries: Vec<&Path> = io.iter().chain([&library]).map(PathBuf::as_path).collect();
    if command
        .first()
        .and_then(|program| preload::find(program))
        .is_some_and(|path| preload::is_out_of_reach(&path))
    {
        let program = command.first().map(|program| program.to_string_lossy().into_owned());
        complain(&format!(
            "{} is statically linked: it cannot be recorded unless it is linked with the recorder",
            program.unwrap_or_default()
        ));
    }
    if let Some(others) = preload::replaced_by(command) {
        complain(&format!(
            "LD_PRELOAD={others} in the command takes the place of the recorder where it reaches the program: nothing is recorded \
             then. Set it for replay-record instead (LD_PRELOAD={others} replay-record mpirun …), or put replay-record \
             behind it (mpirun … replay-record PROGRAM)"
        ));
    }
    let note = match Note::create(settings.output.as_deref()) {
        Ok(note) => Some(note),
        Err(error) => {
            complain(&format!("{error}; complete the archive with replay-record --finish DIR afterwards"));
            None
        }
    };
    let path = note.as_ref().map(Note::path);
    let guardian = path.and_then(Guardian::start);
    let variables = preload::environment(&libraries, path, variables, command);
    debug!(?variables, has_guardian = guardian.is_some(), "environment of the program");
    let mut program = match Program::start(command, &variables, |_| {}) {
        Ok(program) => program,
        Err(not_started) => {
            complain(&not_started.error);
            return Recorded::nothing(not_started.status);
        }
    };
    debug!(process = program.process(), ?command, "program started");
    if let Some(limit) = settings.stop_after {
        program.stop_after(limit, command);
    }
    let end = match program.wait() {
        Ok(end) => end,
        Err(error) => {
            complain(&error);
            return Recorded::nothing(FAILED);
        }
    };
    debug!(?end, "program ended");
    if let (Some(note), ProgramEnd::Signal(signal)) = (&note, end) {
        note.directories().keys().for_each(|directory| faults::note(directory, program.process(), signal));
    }
    let directories = note.iter().flat_map(|note| note.directories().into_keys()).collect();
    if let Some(note) = note {
        let is_expected =
            settings.output.is_some() || command.first().is_some_and(|it| preload::starts_open_mpi(it));
        if is_expected && note.directories().is_empty() {
            complain(
                &"nothing was recorded: unless the recorder has said why, the program has not come to MPI_Init, or the recorder \
                  was not loaded",
            );
        }
        after(note, guardian, end);
    }
    Recorded { end, directories }
}

/// Counts the launcher and completes archives after the program's end.
fn after(note: Note, mut guardian: Option<Guardian>, end: ProgramEnd) {
    let mut is_done = true;
    for (directory, lines) in note.directories() {
        let is_last = ending::is_alone(&directory, lines) || ending::count(&directory);
        debug!(?directory, lines, is_last, "recording noted");
        if let Some(guardian) = &mut guardian {
            guardian.send_counted();
        }
        if is_last {
            complete(&directory);
        }
        is_done &= is_last || end == ProgramEnd::Exit(0);
    }
    match guardian {
        // Others may fail, too, and be killed for it. The guardian needs the note.
        Some(_) if !is_done => note.leave(),
        Some(guardian) => guardian.dismiss(),
        None => {}
    }
}

/// Starts a process in a session of its own that completes an archive, and waits for it.
fn complete(directory: &Path) {
    let start = || {
        let mut command = Command::new(env::current_exe()?);
        command.arg("--finish-detached").arg(directory).env_remove("LD_PRELOAD");
        command.stdin(Stdio::null()).stdout(Stdio::null());
        program::in_own_session(&mut command);
        command.spawn()?.wait()
    };
    if let Err(cause) = start() {
        let directory = directory.display();
        complain(&format!("cannot complete {directory}: {cause}; use replay-record --finish {directory}"));
    }
}
