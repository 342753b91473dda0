//! `replay-analyze`: parse, run, say what came out of it.

mod cli;

use std::io::{Write, stderr, stdout};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::Parser;
use clap::error::ErrorKind;
use replay::exchange::Solo;
use replay::progress::Progress;
use replay::scratch::Allocator;
use replay::{Error, Exchange, Summary, analyze, signals};

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// There is a report, and the trace lacks data (with `--strict`).
const LACKS_DATA: u8 = 1;

/// There is no report.
const NO_REPORT: u8 = 2;

fn main() -> ExitCode {
    ignore_limit_on_files();
    // MPI first, so that of many processes one can speak for all; it ends when `exchange` is dropped.
    let (mut exchange, threads) = match start() {
        Ok(started) => started,
        Err(error) => {
            complain(&error);
            return NO_REPORT.into();
        }
    };
    signals::handle();
    let speaks = exchange.worker() == 0;
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(answer) => {
            // Others may have understood theirs, and wait for us. The first who has something to say does.
            if exchange.fail() == exchange.worker() {
                let _ = answer.print();
            }
            let is_asked_for = matches!(answer.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            return if is_asked_for { ExitCode::SUCCESS } else { NO_REPORT.into() };
        }
    };
    let mut progress =
        if speaks && !cli.quiet { Progress::on_stderr(cli.verbose) } else { Progress::silent() };
    match analyze(&cli.options(threads), exchange.as_mut(), &mut progress) {
        Ok(outcome) => {
            if let Some(summary) = outcome.summary.filter(|_| !cli.quiet) {
                print(&summary);
            }
            if cli.strict && outcome.lacks_data { LACKS_DATA.into() } else { ExitCode::SUCCESS }
        }
        Err(error) => {
            if error.is_own() {
                complain(&error);
            }
            NO_REPORT.into()
        }
    }
}

/// An error of the program on one thread must not leave the others waiting. Under MPI the whole job ends.
fn end_on_panic() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        report(panic);
        std::process::exit(NO_REPORT.into());
    }));
}

/// A report that grows beyond the limit on file sizes must be an error with a message, not the end by a signal.
fn ignore_limit_on_files() {
    let is_exceeded = Arc::new(AtomicBool::new(false));
    // Without it the job would end all the same, only less clearly.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, is_exceeded);
}

/// Prints the summary; a reader that has gone away is no error.
fn print(summary: &Summary) {
    let _ = writeln!(stdout(), "\n{summary}");
}

/// Prints why there is no report.
fn complain(error: &Error) {
    // Names from a command line or a trace must not control the terminal.
    let error = error.to_string().replace(char::is_control, "\u{fffd}");
    let _ = writeln!(stderr(), "replay-analyze: {error}");
}

/// The exchange between processes, and how many threads each should have.
fn start() -> Result<(Box<dyn Exchange>, usize), Error> {
    #[cfg(feature = "mpi")]
    if let Some(processes) = replay::exchange::mpi::Processes::start()? {
        return Ok((Box::new(processes), 1));
    }
    end_on_panic();
    Ok((Box::new(Solo), std::thread::available_parallelism().map_or(1, usize::from)))
}
