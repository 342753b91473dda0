//! `replay-generate`: parse, write the trace, say how large it is.

mod cli;

use std::io::{Write, stderr, stdout};
use std::process::ExitCode;
use std::time::Instant;

use clap::error::ErrorKind;
use generate::{Written, generate};

/// There is no trace.
const NO_TRACE: u8 = 2;

fn main() -> ExitCode {
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(answer) => {
            let _ = answer.print();
            let is_asked_for = matches!(answer.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            return if is_asked_for { ExitCode::SUCCESS } else { NO_TRACE.into() };
        }
    };
    let job = cli.job();
    let start = Instant::now();
    match generate(&job, &cli.directory) {
        Ok(written) => {
            let Written { locations, events, messages, bytes } = written;
            let (ranks, each) = (job.ranks, bytes as f64 / events as f64);
            let seconds = start.elapsed().as_secs_f64();
            // A reader that has gone away is no error.
            let _ = writeln!(
                stdout(),
                "{ranks} ranks, {locations} locations, {events} events, {messages} messages, {bytes} bytes, \
                 {each:.2} bytes/event, {seconds:.2} s"
            );
            ExitCode::SUCCESS
        }
        Err(error) => {
            // Names from a command line must not control the terminal.
            let error = error.to_string().replace(char::is_control, "\u{fffd}");
            let _ = writeln!(stderr(), "replay-generate: {error}");
            NO_TRACE.into()
        }
    }
}
