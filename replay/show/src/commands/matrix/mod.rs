//! `matrix`: who communicates with whom, how much, and on which pairs they wait.

mod collectives;
mod pairs;
mod sizes;

use std::path::PathBuf;

use clap::ValueEnum;
use details::manifest::Manifest;

use crate::error::{Error, Result};
use crate::opened::Opened;
use crate::output::{Document, Output};
use crate::status::Status;

/// Rows that people get if they do not say how many.
const TOP: usize = 10;

/// Arguments of `matrix`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The report, or an experiment directory
    pub file: PathBuf,

    /// What is compared
    #[arg(short, long, value_enum, default_value = "waiting")]
    pub metric: Of,

    /// Only of a communicator, by number or name
    #[arg(long, value_name = "COMM")]
    pub comm: Option<String>,

    /// Messages by size
    #[arg(long, conflicts_with_all = ["collectives", "metric", "comm", "top"])]
    pub sizes: bool,

    /// Collective operations, and who came last to them
    #[arg(long, conflicts_with = "metric")]
    pub collectives: bool,

    /// Only so many, the largest [default: 10; scripts get all]
    #[arg(short = 'n', long, value_name = "N")]
    pub top: Option<usize>,
}

/// What of pairs is compared.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Of {
    /// Time that either waited for the other.
    Waiting,
    /// Bytes.
    Bytes,
    /// Messages.
    Messages,
}

/// Shows pairs, sizes or collective operations.
///
/// # Errors
/// If the report has no such table, or it is damaged.
pub fn run(args: &Args, output: &mut Output<'_>) -> Result<Status> {
    let opened = Opened::open(&args.file, output)?;
    let top = args.top.unwrap_or(if output.is_for_scripts() { usize::MAX } else { TOP });
    let mut document = Document::new("matrix");
    document.fact("file", opened.path.display().to_string());
    match (args.sizes, args.collectives) {
        (true, _) => sizes::add(&opened, &mut document)?,
        (_, true) => collectives::add(&opened, args.comm.as_deref(), top, &mut document)?,
        _ => pairs::add(&opened, args, top, output.screen(), &mut document)?,
    }
    output.print(&document)?;
    Ok(Status::Done)
}

/// The ranks of a report.
fn ranks(opened: &Opened) -> usize {
    opened.cube().location_groups.len()
}

/// The number of the communicator of a number or name.
fn communicator(manifest: &Manifest, text: Option<&str>) -> Result<Option<u32>> {
    let Some(text) = text else { return Ok(None) };
    let number = text.parse::<u32>().ok();
    let known = &manifest.communicators;
    let found = known.iter().find(|comm| Some(comm.number) == number || comm.name == text);
    found.map(|comm| Some(comm.number)).ok_or_else(|| {
        let names: Vec<String> =
            known.iter().map(|comm| format!("{} ({})", comm.number, comm.name)).take(20).collect();
        Error::new(format!("no communicator {text}: the report has {}", names.join(", ")))
    })
}

/// The name of a communicator.
fn communicator_name(manifest: &Manifest, number: Option<u32>) -> String {
    let Some(number) = number else { return "several".into() };
    let known = manifest.communicators.iter().find(|comm| comm.number == number);
    match known.map(|comm| comm.name.as_str()).filter(|name| !name.is_empty()) {
        Some(name) => name.to_owned(),
        None => format!("communicator {number}"),
    }
}

/// Says what a table does not have.
fn remark(manifest: &Manifest, name: &str) -> Option<String> {
    let member = details::manifest::member(name);
    let table = manifest.tables.iter().find(|table| table.member == member)?;
    match &table.complete {
        details::manifest::Complete::No(what) => Some(format!("not complete: {what}")),
        details::manifest::Complete::Is(false) => Some("not complete".into()),
        details::manifest::Complete::Is(true) => None,
    }
}
