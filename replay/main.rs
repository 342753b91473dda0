//! `replay-analyze`: parses the command line, runs the analysis, prints the summary.

// As in the library.
#![cfg_attr(
    not(test),
    deny(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::undocumented_unsafe_blocks)
)]

mod cli;
mod finish;
mod scout;

use std::fs::File;
use std::io::{self, ErrorKind, Stdout, Write, stderr, stdout};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::sleep;
use std::time::Duration;

use clap::error::ErrorKind as Answer;
use clap::{CommandFactory, Parser};
use cli::Cli;
use launched::Launched;
use replay::exchange::Solo;
use replay::progress::Progress;
use replay::scratch::Allocator;
use replay::{Error, Exchange, Options, Summary, analyze, signals};

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// Exit status: there is a report, but the summary is lost, or (with `--strict`) the trace lacks data.
const REPORT_ONLY: u8 = 1;

/// Exit status: there is no report.
const NO_REPORT: u8 = 2;

/// Time for the process that speaks for all to do so.
const LAST_WORDS: Duration = Duration::from_secs(2);

fn main() -> ExitCode {
    ignore_limit_on_files();
    let name = std::env::args_os().next().unwrap_or_default();
    let cli = match scout::link(&name) {
        Some(link) => scout::try_parse(std::env::args_os(), link),
        None => Cli::try_parse(),
    };
    // MPI starts before anything is printed, so that one process can print for all; it ends when `exchange` is dropped.
    let asked = cli.as_ref().ok();
    let started = start(cli::mpi_library(asked).as_deref(), asked.and_then(Cli::threads));
    let (mut exchange, threads) = match started {
        Ok(started) => started,
        Err(error) => {
            // It is the same in all processes. Launchers end a job when its first process fails, and that must not be before the
            // message.
            match Launched::of_this_process().is_none_or(|launched| launched.speaks()) {
                true => complain(&error),
                false => sleep(LAST_WORDS),
            }
            return NO_REPORT.into();
        }
    };
    signals::handle();
    let speaks = exchange.worker() == 0;
    let cli = match cli {
        Ok(cli) => cli,
        // Other processes may have understood their command lines, and wait for this one. The first that has
        // something to print does so.
        Err(answer) => return tell(&answer, exchange.fail() == exchange.worker()),
    };
    if let Err(error) = diagnostics::start() {
        // As above: only one process prints.
        if exchange.fail() == exchange.worker() {
            complain(&Error::new(error.to_string()));
        }
        return NO_REPORT.into();
    }
    if !cli.check_rules.is_empty() {
        return match replay::advice::check(&cli.check_rules) {
            Ok(_) if !speaks => ExitCode::SUCCESS,
            Ok(tried) => print_text(&tried),
            Err(problems) => refuse_rules(&problems, speaks),
        };
    }
    if let Some(id) = &cli.print_rule {
        return match replay::advice::print(id) {
            Ok(_) if !speaks => ExitCode::SUCCESS,
            Ok(rule) => print_text(&rule),
            Err(message) => refuse_rules(&format!("replay-analyze: {message}"), speaks),
        };
    }
    if let Some(directory) = &cli.manual {
        return match manual::write(Cli::command(), directory) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                complain(&Error::new(error.to_string()));
                NO_REPORT.into()
            }
        };
    }
    if let Some(table) = &cli.io_ior {
        return if speaks { print_text(&table.to_string()) } else { ExitCode::SUCCESS };
    }
    if let Some((form, node)) = cli.plan() {
        return match replay::plan::plan(&cli.options(threads), &node, form) {
            Ok(_) if !speaks => ExitCode::SUCCESS,
            Ok(text) => print_text(&text),
            Err(error) => {
                if exchange.fail() == exchange.worker() {
                    complain(&error);
                }
                NO_REPORT.into()
            }
        };
    }
    let mut options = cli.options(threads);
    // As above.
    if let Err(problems) = add_rules(&mut options) {
        return refuse_rules(&problems, exchange.fail() == exchange.worker());
    }
    if let Some(remark) = cli.remark.filter(|_| speaks && !cli.quiet) {
        complain(&Error::new(remark));
    }
    let progress = if speaks && !cli.quiet { Progress::on_stderr(cli.verbose) } else { Progress::silent() };
    let mut progress = progress.of(exchange.worker(), 0);
    let completed = match cli.finish {
        true => finish::complete(&options.experiment, cli.quiet, exchange.as_mut()),
        false => Ok(()),
    };
    match completed.and_then(|()| analyze(&options, exchange.as_mut(), &mut progress)) {
        Ok(outcome) => {
            let is_lost = outcome.summary.is_some_and(|summary| !say(&cli, &summary));
            if is_lost || cli.strict && outcome.lacks_data { REPORT_ONLY.into() } else { ExitCode::SUCCESS }
        }
        Err(error) => {
            if error.is_own() {
                complain(&error);
            }
            NO_REPORT.into()
        }
    }
}

/// Ends the program on a panic, which on one thread must not leave the others waiting. Under MPI the whole
/// job ends.
fn end_on_panic() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        report(panic);
        std::process::exit(NO_REPORT.into());
    }));
}

/// Ignores the signal of the limit on file sizes: a report that exceeds it must be an error with a message.
fn ignore_limit_on_files() {
    let is_exceeded = Arc::new(AtomicBool::new(false));
    // If this fails, the signal ends the job all the same, only with a less clear message.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, is_exceeded);
}

/// Puts rules that the environment names in front of those of the command line, and checks all of them.
fn add_rules(options: &mut Options) -> Result<(), String> {
    let of_environment = match options.looks_for_advice() {
        true => cli::rules_of_environment().map_err(|message| format!("replay-analyze: {message}"))?,
        false => Vec::new(),
    };
    let names: Vec<String> = of_environment.iter().map(|file| file.name.clone()).collect();
    options.rules.splice(..0, of_environment);
    if options.rules.is_empty() {
        return Ok(());
    }
    let Err(problems) = replay::advice::rules(&options.rules) else { return Ok(()) };
    let problems = problems.to_string();
    let is_named = |name: &&String| problems.lines().any(|line| line.starts_with(&format!("{name}:")));
    let named =
        names.iter().filter(is_named).map(|name| format!("\n{name} is read as {} says", cli::REPLAY_RULES));
    Err(named.fold(problems.clone(), |all, line| all + &line))
}

/// Prints a text in place of an analysis.
fn print_text(text: &str) -> ExitCode {
    match unless_closed(write!(stdout(), "{text}").and_then(|()| store(&stdout()))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&Error::new(format!("cannot write to standard output: {error}")));
            NO_REPORT.into()
        }
    }
}

/// Says what is wrong in files of rules.
fn refuse_rules(problems: &str, speaks: bool) -> ExitCode {
    if speaks {
        eprintln!("{problems}");
    }
    NO_REPORT.into()
}

/// Prints the reply to a command line that does not start an analysis: help, the version, or an error.
fn tell(answer: &clap::Error, speaks: bool) -> ExitCode {
    let printed = if speaks { unless_closed(answer.print()) } else { Ok(()) };
    match answer.kind() {
        Answer::DisplayHelp | Answer::DisplayVersion => match printed {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                complain(&Error::new(format!("cannot write to standard output: {error}")));
                NO_REPORT.into()
            }
        },
        _ => NO_REPORT.into(),
    }
}

/// Prints the summary, or what was asked for in place of it; returns whether that was possible.
fn say(cli: &Cli, summary: &Summary) -> bool {
    match summary.advice.as_ref().filter(|_| cli.prints_advice_json()) {
        Some(advice) => print("advice", &advice.file.to_bytes(), &summary.report),
        None if cli.quiet => true,
        None => print("the summary", format!("\n{summary}\n").as_bytes(), &summary.report),
    }
}

/// Prints something; returns whether that was possible.
fn print(what: &str, text: &[u8], report: &Path) -> bool {
    let printed = stdout().write_all(text).and_then(|()| store(&stdout()));
    let Err(error) = unless_closed(printed) else { return true };
    let report = report.display();
    complain(&Error::new(format!(
        "cannot write {what} to standard output: {error}; the report is complete: {report}"
    )));
    false
}

/// Writes standard output to disk if it is a file: some file systems detect only then that they are full.
fn store(out: &Stdout) -> io::Result<()> {
    out.lock().flush()?;
    let Ok(file) = out.as_fd().try_clone_to_owned() else { return Ok(()) };
    match File::from(file).sync_all() {
        // Pipes and terminals do not support that.
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => Ok(()),
        done => done,
    }
}

/// Ignores the error of a reader that has closed the pipe: it has read enough.
fn unless_closed(printed: io::Result<()>) -> io::Result<()> {
    printed.or_else(|error| if error.kind() == ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
}

/// Prints an error.
fn complain(error: &Error) {
    // Names from a command line or a trace must not control the terminal.
    let error = error.to_string().replace(char::is_control, "\u{fffd}");
    let _ = writeln!(stderr(), "replay-analyze: {error}");
}

/// Starts the exchange between processes, by the MPI library that was asked for, if one was, or by none; returns it with the number
/// of threads of each process, which is the default if none was asked for.
fn start(asked: Option<&Path>, threads: Option<usize>) -> Result<(Box<dyn Exchange>, usize), Error> {
    // The defaults of the site have been looked at: what is wrong with them is said before anything depends on them.
    site::Variables::of_site().map_err(Error::new)?;
    let is_none = asked.is_some_and(|asked| asked.as_os_str() == "none");
    let of_process = threads.unwrap_or(1);
    if !is_none && let Some(processes) = start_mpi(asked, of_process)? {
        return Ok((processes, of_process));
    }
    end_on_panic();
    let all = || std::thread::available_parallelism().map_or(1, usize::from);
    Ok((Box::new(Solo), threads.unwrap_or_else(all)))
}

/// Starts MPI if a launcher has started several processes.
#[cfg(any(feature = "mpi", feature = "mpi-dlopen"))]
fn start_mpi(asked: Option<&Path>, threads: usize) -> Result<Option<Box<dyn Exchange>>, Error> {
    replay::exchange::mpi::start(asked, threads)
}

/// Fails if a launcher has started several processes, as there is no MPI.
#[cfg(not(any(feature = "mpi", feature = "mpi-dlopen")))]
fn start_mpi(_: Option<&Path>, _: usize) -> Result<Option<Box<dyn Exchange>>, Error> {
    match Launched::of_this_process().filter(|it| it.processes.is_some_and(|it| it > 1)) {
        None => Ok(None),
        Some(launched) => Err(Error::new(format!(
            "{}, but this replay-analyze was built without MPI: start it once, with as many --threads as there are cores, or \
             build it with an MPI",
            launched.in_words()
        ))),
    }
}
