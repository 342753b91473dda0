//! `replay-import`: parses the command line, writes the archive, prints its size.

mod cli;

use std::fmt::Display;
use std::io::{self, ErrorKind, Write, stderr, stdout};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use clap::error::ErrorKind as Answer;
use clap::{CommandFactory, Parser};
use import::{Imported, Sources, import};

/// Exit status: there is an archive, but the line about it could not be printed.
const ARCHIVE_ONLY: u8 = 1;

/// Exit status: there is no archive.
const NO_ARCHIVE: u8 = 2;

fn main() -> ExitCode {
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(answer) => {
            let printed = answer.print();
            return match answer.kind() {
                Answer::DisplayHelp | Answer::DisplayVersion => status(printed, NO_ARCHIVE),
                _ => NO_ARCHIVE.into(),
            };
        }
    };
    if let Err(error) = diagnostics::start() {
        complain(&error);
        return NO_ARCHIVE.into();
    }
    if let Some(directory) = &cli.manual {
        return match manual::write(cli::Cli::command(), directory) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                complain(&error);
                NO_ARCHIVE.into()
            }
        };
    }
    // Both are there, unless the manual was asked for.
    let (Some(file), Some(output)) = (&cli.file, &cli.output) else { return NO_ARCHIVE.into() };
    run(file, output, cli.force)
}

fn run(file: &Path, output: &Path, force: bool) -> ExitCode {
    let start = Instant::now();
    match import(Sources::open(file), output, force) {
        Ok(imported) => {
            let Imported { tasks, threads, events, messages, bytes, remarks } = imported;
            remarks.to_string().lines().for_each(|line| complain(&line));
            let seconds = start.elapsed().as_secs_f64();
            let printed = writeln!(
                stdout(),
                "{tasks} ranks, {threads} locations, {events} events, {messages} messages from {bytes} bytes, {seconds:.2} s"
            );
            status(printed, ARCHIVE_ONLY)
        }
        Err(error) => {
            complain(&error);
            NO_ARCHIVE.into()
        }
    }
}

/// Exit status after printing to standard output: `lost`, with a message, if that failed. A closed pipe is no error.
fn status(printed: io::Result<()>, lost: u8) -> ExitCode {
    match printed {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            complain(&format_args!("cannot write to standard output: {error}"));
            lost.into()
        }
        _ => ExitCode::SUCCESS,
    }
}

/// Prints an error or a remark.
fn complain(message: &dyn Display) {
    // Names from a command line or a trace must not control the terminal.
    let message = message.to_string().replace(char::is_control, "\u{fffd}");
    let _ = writeln!(stderr(), "replay-import: {message}");
}
