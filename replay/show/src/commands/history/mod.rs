//! `history`: numbers of reports in a log that grows with every run of a CI job.

mod line;
mod trend;

use std::fs::OpenOptions;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::compare::reading::{Base, Reading};
use crate::error::{Error, Result};
use crate::opened::Opened;
use crate::output::Output;
use crate::status::Status;
use line::HistoryLine;

/// The largest log, in bytes.
const LARGEST: u64 = 1 << 30;

/// Arguments of `history`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand, Clone, Debug)]
enum Command {
    /// Append a line with the numbers of a report
    Add(AddArgs),
    /// Show how numbers change from line to line
    Show(trend::Args),
}

/// Arguments of `history add`.
#[derive(clap::Args, Clone, Debug)]
struct AddArgs {
    /// The log, a file with a JSON object in each line
    log: PathBuf,

    /// The report, or an experiment directory
    file: PathBuf,

    /// What the report is of, such as commit=1a2b3c
    #[arg(long, value_name = "KEY=VALUE", value_parser = label)]
    label: Vec<(String, String)>,
}

fn label(text: &str) -> std::result::Result<(String, String), String> {
    let label = text.split_once('=').filter(|(key, _)| !key.is_empty());
    let (key, value) = label.ok_or("expected a label such as commit=1a2b3c")?;
    Ok((key.to_owned(), value.to_owned()))
}

/// Adds to a log, or shows it.
///
/// # Errors
/// If the log or the report cannot be read, or the log not written.
pub fn run(args: &Args, output: &mut Output<'_>) -> Result<Status> {
    match &args.command {
        Command::Add(args) => add(args, output),
        Command::Show(args) => trend::run(args, output),
    }
}

/// Appends the line of a report.
fn add(args: &AddArgs, output: &mut Output<'_>) -> Result<Status> {
    let opened = Opened::open(&args.file, output)?;
    let run = Reading::read(&opened, false)?;
    let text = HistoryLine::of(&run, &args.label).to_text();
    let cannot =
        |error: std::io::Error| Error::new(format!("cannot append to the log: {error}")).in_file(&args.log);
    let mut file = OpenOptions::new().read(true).append(true).create(true).open(&args.log).map_err(cannot)?;
    // An editor or a merge may have left the last line open.
    let mut last = [b'\n'];
    let length = file.metadata().map_err(cannot)?.len();
    if length > 0 {
        file.seek(SeekFrom::End(-1)).and_then(|_| file.read_exact(&mut last)).map_err(cannot)?;
    }
    let text = if last == [b'\n'] { text } else { format!("\n{text}") };
    // At once, so that lines of two jobs do not mix.
    let written = file.write_all(text.as_bytes()).map_err(cannot);
    if written.is_err() {
        // Half a line would make the log unreadable; if it cannot be removed, the message is the same.
        let _ = file.set_len(length);
    }
    written.map(|()| Status::Done)
}

/// The lines of a log.
fn read(log: &Path) -> Result<Vec<HistoryLine>> {
    let cannot = |error: std::io::Error| {
        Error::new(format!("cannot read the log: {error}; 'replay-show history add' writes one")).in_file(log)
    };
    let size = std::fs::metadata(log).map_err(cannot)?.len();
    if size > LARGEST {
        return Err(Error::new(format!(
            "{size} bytes, expected a log of at most {LARGEST}: begin a new one"
        ))
        .in_file(log));
    }
    let text = std::fs::read_to_string(log).map_err(cannot)?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let parse = |(number, line): (usize, &str)| {
        HistoryLine::parse(line).map_err(|error| error.in_line(number + 1).in_file(log))
    };
    lines.map(parse).collect()
}

/// The last lines of a log whose numbers can be compared with those of a run, as runs: of its shape, and on its base.
///
/// # Errors
/// If the log cannot be read, or has no such line.
pub(super) fn last(
    log: &Path,
    run: &Reading<'_>,
    count: usize,
    output: &mut Output<'_>,
) -> Result<Vec<Reading<'static>>> {
    let shape = &run.shape;
    let mut lines = read(log)?;
    lines.retain(|line| line.shape() == *shape);
    let of_shape = lines.len();
    lines.retain(|line| line.base == run.base);
    let left_out = match of_shape - lines.len() {
        0 => None,
        count => Some(format!(
            "{count} of {of_shape} lines of {shape} are left out: they do not say that their numbers come from {}, as those \
             of {} do",
            run.base.map_or("anywhere", Base::name),
            run.label
        )),
    };
    if lines.is_empty() {
        let why = left_out.map_or(String::new(), |text| format!("; {text}"));
        return Err(Error::new(format!(
            "no line of {shape} to compare with: 'replay-show history add' appends one{why}"
        ))
        .in_file(log));
    }
    if let Some(text) = left_out {
        output.warn(format!("{}: {text}", log.display()));
    }
    let first = lines.len().saturating_sub(count.max(1));
    Ok(lines.drain(first..).map(|line| line.into_reading(log)).collect())
}
