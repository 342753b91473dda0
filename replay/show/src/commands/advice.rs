//! `advice`: which changes of the program save run time, and how much.

use std::path::PathBuf;

use details::advice::AdviceFile;
use details::advice_words::{self, COLUMNS, Words};
use serde_json::Value;

use crate::error::Result;
use crate::opened::Opened;
use crate::output::names::printable;
use crate::output::{Cell, Column, Document, Format, Line, Output, Table, escaped};
use crate::status::Status;
use crate::values::Unit;

/// Arguments of `advice`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The report, or an experiment directory
    pub file: PathBuf,

    /// Only so many, the best; JSON has all
    #[arg(short = 'n', long, value_name = "N")]
    pub top: Option<usize>,

    /// Also what is not sure enough, and what is beyond five
    #[arg(short, long)]
    pub all: bool,
}

/// Prints the advice of a report, in the words of the summary of its analysis, or the member with it.
///
/// # Errors
/// If the report has none, as it was not looked for, or it is damaged.
pub fn run(args: &Args, output: &mut Output<'_>) -> Result<Status> {
    let opened = Opened::open(&args.file, output)?;
    let (mut file, bytes) = opened.required_advice()?;
    if output.format() == Format::Json {
        let json = escaped(&String::from_utf8_lossy(&bytes));
        output.write(|results| results.write_all(json.as_bytes()))?;
        return Ok(Status::Done);
    }
    if !args.all && file.shown().next().is_some() {
        file.advice.retain(|it| it.hidden.is_none());
    }
    let (all, shown) = (file.advice.len(), args.top.unwrap_or(usize::MAX));
    if shown < all {
        file.advice.truncate(shown);
        file.together = None;
    }
    let mut document = Document::new("advice");
    if all > 0 && file.advice.is_empty() {
        document.more(all, 0, "-n");
    } else {
        add_block(&file, args.all, output.screen().width, &mut document);
        document.more(all, shown, "-n");
    }
    document.table(table(&file));
    output.print(&document)?;
    Ok(Status::Done)
}

/// The block of the summary.
fn add_block(file: &AdviceFile, all: bool, width: usize, document: &mut Document) {
    let words = Words { file, all, option: "--all", columns: width.min(COLUMNS), printable };
    for line in words.to_string().lines() {
        let text = line.trim_start();
        let indented = Line::from(text).indented(line.len() - text.len()).hanging(3);
        // An option to be copied is whole.
        if text.starts_with(advice_words::CHECK) {
            document.picture(indented);
        } else {
            document.text(indented);
        }
    }
}

/// Advice as rows, for scripts.
fn table(file: &AdviceFile) -> Table {
    let keys = [
        "rank",
        "rule",
        "title",
        "path",
        "place",
        "most",
        "most_share",
        "expected",
        "seconds",
        "share",
        "confidence",
        "scenario",
        "text",
    ];
    let mut table = Table::new("advice", keys.map(Column::data).into());
    let known = |text: &Option<String>| text.clone().map_or(Cell::Nothing, Cell::Name);
    for (it, number) in file.advice.iter().zip(1..) {
        table.rows.push(vec![
            Cell::Integer(number),
            Cell::Name(it.rule.clone()),
            Cell::Name(it.title.clone()),
            Cell::Name(it.place.path.clone()),
            known(&it.place.line),
            Cell::Number(it.gain.most, Unit::Seconds),
            Cell::Share(it.gain.most / file.run.seconds.max(f64::MIN_POSITIVE)),
            it.gain.expected.map_or(Cell::Nothing, |seconds| Cell::Number(seconds, Unit::Seconds)),
            Cell::Number(it.seconds, Unit::Seconds),
            Cell::Share(it.share),
            Cell::Data(Value::from(it.confidence)),
            known(&it.scenario),
            Cell::Name(it.text.clone()),
        ]);
    }
    table.data_only()
}
