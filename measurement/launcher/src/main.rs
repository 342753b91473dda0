//! `replay-record`: parse, run or complete, end as the program did.

use clap::error::ErrorKind;
use launcher::{Error, Outcome, Task, finish};
use recording::settings::EventRecords;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Exit status: an archive is complete, but something that was recorded is lost.
const LOSSES: u8 = 1;

/// Exit status: an archive is not complete.
const INCOMPLETE: u8 = 2;

/// Exit status: the program was not started because replay-record failed.
const FAILED: u8 = 125;

fn main() -> ExitCode {
    let is_about_finish = std::env::args_os().nth(1).is_some_and(|first| first == "--finish");
    let misuse = if is_about_finish { INCOMPLETE } else { FAILED };
    let matches = match launcher::command().try_get_matches() {
        Ok(matches) => matches,
        Err(answer) => return print(&answer, misuse).into(),
    };
    if let Err(error) = diagnostics::start() {
        launcher::complain(&error);
        return misuse.into();
    }
    let environment = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let site = launcher::site_defaults();
    match launcher::task(&matches, environment, site.as_ref().copied().map_err(String::as_str)) {
        Err(error) => {
            launcher::complain(&error);
            misuse.into()
        }
        Ok(Task::Finish { directories, records }) => {
            let status = finish_all(&directories, records, true);
            launcher::remove_notes(&directories);
            status
        }
        Ok(Task::FinishDetached(directory)) => match launcher::is_needed(&directory) {
            true => {
                let outcome = finish(&directory, None);
                let is_written = matches!(outcome, Ok(Outcome::Written(_)));
                let status = report(&directory, outcome, false);
                // Once for a recording, by the process that completes it.
                if let Some(help) = site.ok().and_then(|site| site.get("REPLAY_HELP"))
                    && is_written
                {
                    launcher::complain(&help);
                }
                status.into()
            }
            false => ExitCode::SUCCESS,
        },
        Ok(Task::Guard(note)) => {
            let directories = launcher::guard(&note);
            finish_all(&directories, None, false)
        }
        Ok(Task::Record { command, variables, settings }) => {
            launcher::end_as(launcher::record(&command, &variables, &settings).end)
        }
        Ok(Task::SelfTest { launcher, variables, settings }) => {
            launcher::self_test(&launcher, &variables, &settings).into()
        }
        Ok(Task::SelfTestProgram(introduction)) => launcher::run_program(&introduction).into(),
        Ok(Task::Manual(directory)) => match manual::write(launcher::command(), &directory) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                launcher::complain(&error);
                misuse.into()
            }
        },
        Ok(Task::Print(text)) => status_of(std::io::stdout().write_all(text.as_bytes())).into(),
    }
}

/// Prints help, version or a usage error; returns the exit status.
fn print(answer: &clap::Error, misuse: u8) -> u8 {
    let printed = answer.print();
    if !matches!(answer.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        return misuse;
    }
    status_of(printed)
}

/// Returns the exit status of something that was to be printed.
fn status_of(printed: std::io::Result<()>) -> u8 {
    match printed {
        // A reader that has gone away has seen enough.
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            launcher::complain(&format!("cannot write to standard output: {error}"));
            FAILED
        }
        _ => 0,
    }
}

/// Completes archives; returns the worst status.
fn finish_all(directories: &[PathBuf], records: Option<EventRecords>, is_asked_for: bool) -> ExitCode {
    let statuses =
        directories.iter().map(|directory| report(directory, finish(directory, records), is_asked_for));
    ExitCode::from(statuses.max().unwrap_or(0))
}

/// Reports the outcome of completing an archive; returns the exit status for it.
fn report(directory: &Path, outcome: Result<Outcome, Error>, is_asked_for: bool) -> u8 {
    match outcome {
        Ok(Outcome::AlreadyComplete) => {
            if is_asked_for {
                launcher::complain(&format!("{} is complete already", directory.display()));
            }
            0
        }
        Ok(Outcome::Busy(holder)) => {
            if is_asked_for {
                let directory = directory.display();
                launcher::complain(&format!("{directory} is being completed already, {holder}"));
            }
            INCOMPLETE
        }
        Ok(Outcome::Written(summary)) => {
            for line in launcher::lines(&summary) {
                launcher::complain(&line);
            }
            if summary.has_losses { LOSSES } else { 0 }
        }
        Err(error) => {
            launcher::complain(&error);
            if let Some(remedy) = launcher::remedy(directory).filter(|_| !is_asked_for) {
                launcher::complain(&remedy);
            }
            INCOMPLETE
        }
    }
}
