//! `explain`: what a metric means, when it is large, and what to do.

use patterns::{Metric, PATTERNS, Pattern};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::output::{Cell, Column, Document, Line, Output, Style, Table};
use crate::status::Status;
use crate::values::WAITING;

/// What the sum of all waiting is.
pub(crate) const WAITING_MEANS: &str =
    "Time waiting for other ranks and threads: the sum of all wait states but Wait at Finalize.";

/// Arguments of `explain`.
#[derive(clap::Args, Clone, Debug)]
#[command(arg_required_else_help = true)]
pub struct Args {
    /// Unique name of the metric, such as mpi_latesender, or the title of a wait state
    #[arg(required_unless_present = "list")]
    pub metric: Option<String>,

    /// List all metrics
    #[arg(long, conflicts_with = "metric")]
    pub list: bool,
}

/// Explains a metric.
///
/// # Errors
/// If there is no such metric.
pub fn run(args: &Args, output: &mut Output<'_>) -> Result<Status> {
    let document = match &args.metric {
        Some(name) => explanation(name)?,
        None => list(),
    };
    output.print(&document)?;
    Ok(Status::Done)
}

/// What a metric means, by its unique name or the title of a wait state.
///
/// # Errors
/// If there is no such metric.
pub(crate) fn explanation(name: &str) -> Result<Document> {
    let metrics = patterns::metrics();
    let name = of_title(name).unwrap_or(name);
    let Some(metric) = metrics.iter().find(|metric| metric.id == name) else { return pseudo(name, &metrics) };
    let pattern = PATTERNS.iter().find(|pattern| pattern.metric.id == name);
    let mut document = Document::new("explain");
    document.fact("metric", metric.id);
    let title = pattern.map_or(metric.name, |pattern| pattern.title);
    document.fact("title", title);
    document.text(Line::styled(title, Style::Strong).and(format!("  {}", metric.id), Style::Dim));
    document.text(Line::styled(place(metric, &metrics), Style::Dim));
    match pattern {
        Some(pattern) => add_pattern(pattern, &mut document),
        None => {
            document.fact("meaning", metric.about);
            document.gap();
            document.text(metric.about);
        }
    }
    let below: Vec<&Metric> = metrics.iter().filter(|it| it.parent == Some(metric.id)).collect();
    if !below.is_empty() {
        let names: Vec<&str> = below.iter().map(|metric| metric.id).collect();
        document.gap();
        document.text(Line::styled("Consists of: ", Style::Strong).and(names.join(", "), Style::Plain));
    }
    Ok(document)
}

/// The unique name of the wait state that has a title.
fn of_title(title: &str) -> Option<&'static str> {
    let pattern = PATTERNS.iter().find(|pattern| pattern.title.eq_ignore_ascii_case(title));
    pattern.map(|pattern| pattern.metric.id)
}

/// The metrics above, from the root on.
pub(crate) fn place(metric: &Metric, metrics: &[Metric]) -> String {
    let mut names = vec![metric.name];
    let mut next = metric.parent;
    while let Some(above) = metrics.iter().find(|it| Some(it.id) == next) {
        names.push(above.name);
        next = above.parent;
    }
    names.reverse();
    names.join(" > ")
}

fn add_pattern(pattern: &Pattern, document: &mut Document) {
    let explanation = pattern.explanation;
    document.fact("is_waiting", pattern.is_waiting);
    document.fact("meaning", explanation.meaning);
    document.fact("large_when", explanation.large_when);
    document.fact("what_to_do", explanation.what_to_do);
    document.fact("picture", explanation.picture.map_or(Value::Null, |picture| picture.0.into()));
    if let Some(picture) = explanation.picture {
        document.gap();
        for line in picture.0.lines() {
            document.picture(drawn(line));
        }
    }
    document.gap();
    if !pattern.is_waiting {
        document.text("Completion time, no wait state: nobody could have prevented it by coming earlier.");
    }
    document.text(words(explanation.meaning));
    if let Some(large_when) = explanation.large_when {
        document.gap();
        document.text(Line::styled("Large when ", Style::Strong).and(words(large_when), Style::Plain));
    }
    document.gap();
    document
        .text(Line::styled("What to do: ", Style::Strong).and(words(explanation.what_to_do), Style::Plain));
}

/// Text without the signs that make names and titles stand out in a document.
pub(crate) fn words(text: &str) -> String {
    text.replace(['`', '*'], "")
}

/// A line of a picture, with work, calls and waiting in their styles.
fn drawn(line: &str) -> Line {
    let mut spans = Line::default();
    for letter in line.chars() {
        let style = match letter {
            '=' => Style::Work,
            '~' => Style::Wait,
            '[' | ']' => Style::Call,
            '|' | '<' | '>' | '-' => Style::Dim,
            _ => Style::Plain,
        };
        match spans.spans.last_mut().filter(|span| span.style == style) {
            Some(span) => span.text.push(letter),
            None => spans = spans.and(letter, style),
        }
    }
    spans
}

/// Metrics that only this program knows.
fn pseudo(name: &str, metrics: &[Metric]) -> Result<Document> {
    if name == WAITING {
        let mut document = Document::new("explain");
        document.fact("metric", name);
        document.fact("meaning", WAITING_MEANS);
        document.text(Line::styled("Waiting", Style::Strong).and("  waiting", Style::Dim));
        document.gap();
        document.text(WAITING_MEANS);
        return Ok(document);
    }
    let alike: Vec<&str> =
        metrics.iter().map(|metric| metric.id).filter(|id| id.contains(name)).take(5).collect();
    let alike = if alike.is_empty() { String::new() } else { format!("; alike are {}", alike.join(", ")) };
    Err(Error::new(format!("no metric {name}{alike}: replay-show explain --list names all")))
}

fn list() -> Document {
    let columns =
        vec![Column::new("metric", "unique name"), Column::new("title", "title"), Column::new("about", "")];
    let mut table = Table::new("metrics", columns);
    for metric in patterns::metrics() {
        let title =
            PATTERNS.iter().find(|pattern| pattern.metric.id == metric.id).map_or(metric.name, |it| it.title);
        let about = Cell::Name(metric.about.into());
        table.rows.push(vec![Cell::Name(metric.id.into()), Cell::Name(title.into()), about]);
    }
    let mut document = Document::new("explain");
    document.table(table);
    document
}
