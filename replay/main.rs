//! `replay-analyze`: parse, run, say what came out of it.

mod cli;

use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;
use replay::exchange::Solo;
use replay::progress::Progress;
use replay::{Error, Exchange, Summary, analyze};

/// There is a report, and the trace lacks data (with `--strict`).
const LACKS_DATA: u8 = 1;

/// There is no report.
const NO_REPORT: u8 = 2;

fn main() -> ExitCode {
    // MPI first, so that of many processes one can speak for all; it ends when `exchange` is dropped.
    let mut exchange = match start() {
        Ok(exchange) => exchange,
        Err(error) => {
            eprintln!("replay-analyze: {error}");
            return NO_REPORT.into();
        }
    };
    let speaks = exchange.worker() == 0;
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(answer) => {
            if speaks {
                let _ = answer.print();
            }
            let is_asked_for = matches!(answer.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            return if is_asked_for { ExitCode::SUCCESS } else { NO_REPORT.into() };
        }
    };
    let mut progress =
        if speaks && !cli.quiet { Progress::on_stderr(cli.verbose) } else { Progress::silent() };
    match analyze(&cli.options(), exchange.as_mut(), &mut progress) {
        Ok(outcome) => {
            if let Some(summary) = outcome.summary.filter(|_| !cli.quiet) {
                print(&summary);
            }
            if cli.strict && outcome.lacks_data { LACKS_DATA.into() } else { ExitCode::SUCCESS }
        }
        Err(error) => {
            // Where all fail alike, one speaks for all.
            if error.is_own() && exchange.fail() == exchange.worker() {
                eprintln!("replay-analyze: {error}");
            }
            NO_REPORT.into()
        }
    }
}

/// Prints the summary; a reader that has gone away is no error.
fn print(summary: &Summary) {
    use std::io::Write;
    let _ = writeln!(std::io::stdout(), "\n{summary}");
}

#[cfg(feature = "mpi")]
fn start() -> Result<Box<dyn Exchange>, Error> {
    Ok(match replay::exchange::mpi::Processes::start()? {
        Some(processes) => Box::new(processes),
        None => Box::new(Solo),
    })
}

#[cfg(not(feature = "mpi"))]
fn start() -> Result<Box<dyn Exchange>, Error> {
    Ok(Box::new(Solo))
}
