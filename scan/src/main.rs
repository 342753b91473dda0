//! `replay-scan`: by which name it is called, and what that is of Scalasca (site 4.2).

#![deny(clippy::undocumented_unsafe_blocks)]

mod choices;
mod directory;
mod error;
mod launch;
mod launcher_options;
mod logged;
mod measure;
mod multi_run;
mod options;
mod places;
mod program;
mod records;
mod run;
mod square;
mod steps;
mod variables;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

use crate::error::{Error, NO_EXPERIMENT, NOT_STARTED, say};
use crate::options::Options;
use crate::places::Places;
use crate::steps::Step;

/// Why there is nothing to instrument.
const NOT_NEEDED: &str = "not needed: replay-record records programs as they are";

/// What is asked for, by the name of one of Scalasca's commands.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Asked {
    /// To measure and analyse.
    Scan(Vec<OsString>),
    /// To show a report, or to print the command that does.
    Square(Vec<OsString>, bool),
    /// To instrument: the command that compiles.
    Skin(Vec<OsString>),
    /// Something else.
    Unknown,
}

fn main() -> ExitCode {
    let mut words = std::env::args_os();
    let program = words.next().unwrap_or_default();
    if let Err(error) = diagnostics::start() {
        say(&error);
        return NOT_STARTED.into();
    }
    let places = Places::of_this_program();
    let done = match asked(Path::new(&program), words.collect()) {
        Asked::Scan(words) => scan(&words, &places),
        Asked::Square(words, is_preview) => {
            square::show(&words, is_preview, &places).map(|done| done.map(|()| 0))
        }
        Asked::Skin(words) if words.is_empty() => {
            say(&NOT_NEEDED);
            Ok(Ok(0))
        }
        Asked::Skin(words) => {
            say(&NOT_NEEDED);
            Ok(Err(run::replace(&Step { words, set: Vec::new(), unset: Vec::new() })))
        }
        Asked::Unknown => {
            let usage = "scalasca -analyze, -examine and -instrument are known, with what scan, square and skin take; see replay-scan --help";
            Ok(Err(Error::not_started(usage)))
        }
    };
    match done {
        Ok(Ok(status)) => status.into(),
        Ok(Err(error)) => {
            say(&error);
            error.status.into()
        }
        Err(answer) => answer_with(&answer).into(),
    }
}

/// Returns what is asked for by a program's name and the words behind it.
fn asked(program: &Path, mut words: Vec<OsString>) -> Asked {
    match program.file_name().and_then(|name| name.to_str()).unwrap_or_default() {
        "square" => Asked::Square(words, false),
        // Options of skin are about what is instrumented.
        "skin" => Asked::Skin(
            words.into_iter().skip_while(|word| word.to_string_lossy().starts_with('-')).collect(),
        ),
        "scalasca" => {
            let is_action = |word: &OsString| !["-n", "-v"].iter().any(|option| word == option);
            let Some(at) = words.iter().position(is_action) else { return Asked::Unknown };
            // What is in front of it is for it, too; only square means something else by -n.
            let action = words.remove(at);
            let is_preview = words[..at].iter().any(|word| word == "-n");
            match action.to_string_lossy().trim_start_matches('-') {
                "analyze" | "analyse" | "analysis" => Asked::Scan(words),
                "examine" | "examination" => Asked::Square(words.split_off(at), is_preview),
                "instrument" | "instrumentation" => asked(Path::new("skin"), words),
                _ => Asked::Unknown,
            }
        }
        _ => Asked::Scan(words),
    }
}

/// Does what a command line of scan asks for; returns the exit status, or what clap says if it is wrong.
fn scan(words: &[OsString], places: &Places) -> Result<error::Result<u8>, clap::Error> {
    let options = Options::try_parse_from([OsString::from("replay-scan")].iter().chain(words))?;
    if let Some(directory) = &options.manual {
        let written = manual::write(Options::command(), directory);
        return Ok(written.map(|()| 0).map_err(|error| Error::no_experiment(error.to_string())));
    }
    if options.scout {
        let Some(path) = places.scout() else { return Ok(Err(Error::not_started(places.no_scout()))) };
        return Ok(error::print(&format!("{}\n", path.display())).map(|()| 0));
    }
    Ok(run::run(&options, places))
}

/// Prints help, version or a usage error; returns the exit status.
fn answer_with(answer: &clap::Error) -> u8 {
    let printed = answer.print();
    match answer.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion if printed.is_ok() => 0,
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => NO_EXPERIMENT,
        _ => NOT_STARTED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(program: &str, line: &str) -> Asked {
        asked(Path::new(program), words(line))
    }

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(Into::into).collect()
    }

    #[test]
    fn name_says_which_command_of_scalasca_it_is() {
        let scan = |line: &str| Asked::Scan(words(line));
        assert_eq!(by("/p/libexec/replay/scan", "-t ./a"), scan("-t ./a"));
        assert_eq!(by("replay-scan", "-t ./a"), scan("-t ./a"));
        assert_eq!(by("scalasca", "-analyze -t ./a -analyze"), scan("-t ./a -analyze"));
        assert_eq!(by("scalasca", "-n -v --analyze ./a"), scan("-n -v ./a"));
        assert_eq!(by("square", "-s x"), Asked::Square(words("-s x"), false));
        assert_eq!(by("scalasca", "-examine x"), Asked::Square(words("x"), false));
        assert_eq!(by("scalasca", "-n -v -examine -s x"), Asked::Square(words("-s x"), true));
        assert_eq!(by("skin", "-v mpicc -c a.c"), Asked::Skin(words("mpicc -c a.c")));
        assert_eq!(by("scalasca", "-instrument mpicc -c a.c"), Asked::Skin(words("mpicc -c a.c")));
        assert_eq!(by("skin", ""), Asked::Skin(Vec::new()));
        assert_eq!((by("scalasca", ""), by("scalasca", "-x")), (Asked::Unknown, Asked::Unknown));
    }
}
