//! `--self-test` (site 3.6): a small program is recorded with the MPI at hand, its trace analysed, and the report compared with what
//! the program does; a paragraph says all of that, to be pasted into an issue.
//!
//! As in a recording of any program there may be one launcher in front of mpirun, or one for each rank. The one whose program was
//! rank 0 analyses and speaks.

mod expected;
mod machine;
mod paragraph;
mod program;

pub use program::run as run_program;

use crate::launch::{self, Recorded};
use crate::program::{FAILED, ProgramEnd};
use crate::report::complain;
use crate::{Error, finish, host, preload};
use launched::Launched;
use paragraph::Facts;
use recording::layout;
use recording::settings::{Settings, VARIABLES};
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Exit status: something is not as expected.
const DIFFERS: u8 = 1;

/// The option by which this program is the one that is recorded; its value is the file in which rank 0 introduces itself.
pub(crate) const PROGRAM: &str = "self-test-program";

/// Name of the experiment directory, unless the user has named one; it is removed if all is as expected.
const DIRECTORY: &str = "replay_self-test";

/// File name of the analyzer.
const ANALYZER: &str = "replay-analyze";

/// How long other launchers have time to complete the archive.
const PATIENCE: Duration = Duration::from_secs(60);

/// Interval at which it is looked for.
const INTERVAL: Duration = Duration::from_millis(20);

/// What there is to say without a launcher.
const NO_LAUNCHER: &str = "a self-test needs the launcher of an MPI, and two processes or more: mpirun -n 2 replay-record --self-test, or \
                           replay-record --self-test mpirun -n 2";

/// What there is to say if rank 0 was never there.
const NO_INTRODUCTION: &str = "rank 0 has not introduced itself: the launcher has started nothing, or on a node that does not see the \
                               experiment directory";

/// Returns the value of a variable in a self-test: some the user may choose, and of all others it needs the default.
pub(crate) fn value(name: &str, chosen: Option<String>) -> Option<String> {
    let chosen = chosen.filter(|value| !value.is_empty());
    match name {
        "REPLAY_OUTPUT" | "REPLAY_CLOCK" | "REPLAY_OFF_CPU" => chosen,
        // To see which the system has.
        "REPLAY_COUNTERS" => chosen.or_else(|| Some("cycles,instructions,page-faults".into())),
        // A launcher and a library that do not fit may wait for each other forever.
        "REPLAY_STOP_AFTER" => chosen.or_else(|| Some("2m".into())),
        _ => None,
    }
}

/// Carries out a self-test, with the processes that `launcher` starts if it has words, else with those that were started together
/// with this one; returns the exit status.
pub fn self_test(launcher: &[OsString], variables: &[(&'static str, String)], settings: &Settings) -> u8 {
    let launched = Launched::of_this_process().filter(|launched| !launched.is_alone_in_step());
    // One of many says what is wrong with all of them.
    let speaks = launched.is_none_or(|launched| launched.speaks());
    if launcher.is_empty() && launched.is_none() {
        complain(&NO_LAUNCHER);
        return FAILED as u8;
    }
    let test = match Test::new(launcher, launched, settings) {
        Ok(test) => test,
        Err(error) => {
            if speaks {
                complain(&error);
            }
            return FAILED as u8;
        }
    };
    let recorded = test.record(variables, settings);
    let introduction = fs::read_to_string(&test.introduction).ok();
    let _ = fs::remove_file(&test.introduction);
    match (recorded.end, introduction) {
        (ProgramEnd::Exit(status @ FAILED..), _) => status as u8,
        // The launcher of rank 0 says how it was.
        (ProgramEnd::Exit(0), None) if launcher.is_empty() && !speaks => 0,
        (ProgramEnd::Exit(0), None) => {
            complain(&NO_INTRODUCTION);
            DIFFERS
        }
        (ProgramEnd::Exit(0), Some(introduction)) => match test.judge(&introduction, &recorded) {
            Ok(is_as_expected) => u8::from(!is_as_expected) * DIFFERS,
            Err(error) => {
                complain(&error);
                DIFFERS
            }
        },
        // The program has said why it has failed, unless it was stopped.
        (end, _) => {
            if speaks {
                complain(&format!(
                    "the program of the self-test {}: there is nothing to compare",
                    in_words(end)
                ));
            }
            DIFFERS
        }
    }
}

/// How a program has ended that should have ended otherwise.
fn in_words(end: ProgramEnd) -> String {
    match end {
        ProgramEnd::Exit(status) => format!("has ended with status {status}"),
        ProgramEnd::Signal(signal) => format!("has died of signal {signal}"),
    }
}

/// A self-test that can begin.
struct Test<'a> {
    launcher: &'a [OsString],
    launched: Option<Launched>,
    own: PathBuf,
    recorder: PathBuf,
    analyzer: PathBuf,
    /// The experiment directory; another one gets a number if it exists.
    output: PathBuf,
    /// Whether the user has named it, and wants it.
    keeps: bool,
    /// The file in which rank 0 introduces itself.
    introduction: PathBuf,
}

impl<'a> Test<'a> {
    /// Fails if something is missing.
    fn new(
        launcher: &'a [OsString],
        launched: Option<Launched>,
        settings: &Settings,
    ) -> Result<Test<'a>, Error> {
        let own = env::current_exe().map_err(|cause| Error::new(format!("cannot find myself: {cause}")))?;
        let recorder = preload::library()?;
        let beside = own.with_file_name(ANALYZER);
        let analyzer = Some(beside).filter(|path| path.exists()).or_else(|| preload::find(ANALYZER.as_ref()));
        let analyzer = analyzer.ok_or_else(|| {
            Error::new(format!(
                "there is no {ANALYZER} beside {}, nor on the path: a self-test analyses what it has recorded",
                own.display()
            ))
        })?;
        let here =
            env::current_dir().map_err(|cause| Error::io(Path::new("."), "find the directory", cause))?;
        let output = here.join(settings.output.as_deref().unwrap_or(Path::new(DIRECTORY)));
        let introduction =
            output.with_file_name(format!(".replay-self-test-{}-{}", host::name(), std::process::id()));
        let keeps = settings.output.is_some();
        Ok(Test { launcher, launched, own, recorder, analyzer, output, keeps, introduction })
    }

    /// Records the program.
    fn record(&self, variables: &[(&'static str, String)], settings: &Settings) -> Recorded {
        let option = format!("--{PROGRAM}");
        let program = [self.own.as_os_str(), option.as_ref(), self.introduction.as_os_str()];
        let launcher = self.launcher.iter().map(OsString::as_os_str);
        let command: Vec<OsString> = launcher.chain(program).map(OsStr::to_owned).collect();
        // What is not chosen is not what the environment of the user says, but the default.
        let unset = VARIABLES.iter().filter(|it| variables.iter().all(|(name, _)| *name != it.name));
        let mut all: Vec<(&'static str, String)> = unset.map(|it| (it.name, String::new())).collect();
        all.extend(variables.iter().cloned());
        all.retain(|(name, _)| *name != "REPLAY_OUTPUT");
        all.push(("REPLAY_OUTPUT", self.output.to_string_lossy().into_owned()));
        launch::record(&command, &all, &Settings { output: Some(self.output.clone()), ..settings.clone() })
    }

    /// Analyses the trace, compares the report, and prints the paragraph; returns whether all is as expected.
    fn judge(&self, introduction: &str, recorded: &Recorded) -> Result<bool, Error> {
        let [directory] = &recorded.directories[..] else {
            let count = recorded.directories.len();
            return Err(Error::new(format!(
                "{count} experiments were recorded, and not one, as they should be"
            )));
        };
        let begin = Instant::now();
        // Whoever completes it removes the recording last.
        while !finish::is_complete(directory) || directory.join(layout::RECORDING).exists() {
            if begin.elapsed() > PATIENCE {
                let directory = directory.display();
                return Err(Error::new(format!(
                    "{directory} is not complete: other launchers have not ended"
                )));
            }
            std::thread::sleep(INTERVAL);
        }
        self.analyze(directory)?;
        let [version, library, processes] = introduction.lines().collect::<Vec<_>>()[..] else {
            return Err(Error::new(NO_INTRODUCTION));
        };
        let found = expected::compare(directory, processes.parse().unwrap_or(0))?;
        let is_as_expected = found.differences.is_empty();
        let facts = Facts {
            processes,
            mpi: (version, library),
            launcher: self.launcher_in_words(),
            recorder: &self.recorder,
            analyzer: (&self.analyzer, !self.launcher.is_empty()),
            recording: machine::recording(directory)?,
            system: machine::system(directory),
            kept: (self.keeps || !is_as_expected).then_some(directory),
            found,
        };
        let printed = std::io::stdout().write_all(facts.paragraph().as_bytes());
        printed.map_err(|cause| Error::new(format!("cannot write to standard output: {cause}")))?;
        if facts.kept.is_none() {
            fs::remove_dir_all(directory)
                .map_err(|cause| Error::io(directory, "remove the directory", cause))?;
        }
        Ok(is_as_expected)
    }

    /// Analyses the trace: by the launcher if there is one to start it, else by one process, as a launcher starts one program only.
    fn analyze(&self, directory: &Path) -> Result<(), Error> {
        let none = ["--mpi", "none"].map(OsStr::new);
        let by_launcher = self.launcher.iter().map(OsString::as_os_str).chain([self.analyzer.as_os_str()]);
        let mut words = by_launcher.chain(none.into_iter().filter(|_| self.launcher.is_empty()));
        let mut command = Command::new(words.next().unwrap_or_default());
        // Which of its loops has most time, and so is compared between ranks, changes from run to run.
        command.args(words).args(["--structure", "none"]).arg(directory).stdin(Stdio::null());
        let failed = |why: String| Error::new(format!("{} has failed: {why}", self.analyzer.display()));
        let output = command.output().map_err(|cause| failed(cause.to_string()))?;
        match output.status.success() {
            true => Ok(()),
            false => Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned())),
        }
    }

    /// Who has started the processes.
    fn launcher_in_words(&self) -> String {
        if !self.launcher.is_empty() {
            return self.launcher.join(OsStr::new(" ")).to_string_lossy().into_owned();
        }
        let name =
            if self.launched.is_some_and(|launched| launched.is_slurm_step) { "srun" } else { "a launcher" };
        let path = mpi_library::launcher_of_this_process();
        path.map_or(name.to_owned(), |path| format!("{name} ({})", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_count_more_than_what_would_change_the_counts() {
        let given = |name: &str| value(name, Some("x".into()));
        assert_eq!(
            (given("REPLAY_CLOCK"), given("REPLAY_DEPTH"), given("REPLAY_PROFILE")),
            (Some("x".into()), None, None)
        );
        assert_eq!(value("REPLAY_STOP_AFTER", None).as_deref(), Some("2m"));
        assert_eq!(value("REPLAY_OUTPUT", Some(String::new())), None);
        assert!(Settings::read(|name| value(name, None)).is_ok());
    }
}
