//! `replay-generate`: parses the command line, writes the trace, prints its size.

mod cli;

use std::fmt::Display;
use std::io::{self, ErrorKind, Write, stderr, stdout};
use std::process::ExitCode;
use std::time::Instant;

use clap::error::ErrorKind as Answer;
use generate::{Written, generate};

/// Exit status: there is a trace, but the line about it could not be printed.
const TRACE_ONLY: u8 = 1;

/// Exit status: there is no trace.
const NO_TRACE: u8 = 2;

fn main() -> ExitCode {
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(answer) => {
            let printed = answer.print();
            return match answer.kind() {
                Answer::DisplayHelp | Answer::DisplayVersion => status(printed, NO_TRACE),
                _ => NO_TRACE.into(),
            };
        }
    };
    if let Err(error) = diagnostics::start() {
        complain(&error);
        return NO_TRACE.into();
    }
    let job = cli.job();
    let start = Instant::now();
    match generate(&job, &cli.directory) {
        Ok(written) => {
            let Written { locations, events, messages, bytes } = written;
            let (ranks, each) = (job.ranks, bytes as f64 / events as f64);
            let seconds = start.elapsed().as_secs_f64();
            let printed = writeln!(
                stdout(),
                "{ranks} ranks, {locations} locations, {events} events, {messages} messages, {bytes} bytes, \
                 {each:.2} bytes/event, {seconds:.2} s"
            );
            status(printed, TRACE_ONLY)
        }
        Err(error) => {
            complain(&error);
            NO_TRACE.into()
        }
    }
}

/// Exit status after printing to standard output: `lost`, with a message, if that failed. A closed pipe is no
/// error.
fn status(printed: io::Result<()>, lost: u8) -> ExitCode {
    match printed {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            complain(&format_args!("cannot write to standard output: {error}"));
            lost.into()
        }
        _ => ExitCode::SUCCESS,
    }
}

/// Prints an error.
fn complain(error: &dyn Display) {
    // Names from a command line must not control the terminal.
    let error = error.to_string().replace(char::is_control, "\u{fffd}");
    let _ = writeln!(stderr(), "replay-generate: {error}");
}
