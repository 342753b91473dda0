//! Page of a comparison: what `diff` says as HTML, and waiting over time of both sides on one axis.

use std::io::Write;

use super::html::Html;
use super::{STYLE, own_style, policy, svg, whole};
use crate::commands::diff::Made;
use crate::commands::time::waiting_over_time;
use crate::error::Result;
use crate::opened::Opened;
use crate::output::{Document, Line, Part, Style, Table, written};
use crate::overview::words;
use crate::tables::seconds;

/// Cells of the picture over time.
const OVER_TIME: usize = 120;

/// Writes the page of a comparison. Returns what could not be shown.
///
/// # Errors
/// If the page cannot be written.
pub(crate) fn write_comparison(made: &Made<'_, '_>, title: &str, out: &mut dyn Write) -> Result<Vec<String>> {
    let mut html = Html::default();
    let mut remarks = Vec::new();
    html.open("div", &[("id", "first"), ("role", "main")]).element("h1", &[], title);
    for (side, opened) in ["A", "B"].into_iter().zip(made.opened) {
        let files: Vec<String> = opened.iter().map(|opened| opened.path.display().to_string()).collect();
        html.element("p", &[("class", "run")], &format!("{side}: {}", files.join(", ")));
    }
    add_document(&made.document, &mut html);
    add_times(made, &mut remarks, &mut html);
    html.close("div");
    out.write_all(whole(title, &policy::policy(STYLE, None), own_style(), html).as_bytes())?;
    Ok(remarks)
}

/// What a command says: paragraphs and tables.
fn add_document(document: &Document, html: &mut Html) {
    for part in &document.parts {
        match part {
            Part::Text(line) | Part::Picture(line) if line.spans.is_empty() => {}
            Part::Text(line) | Part::Picture(line) => {
                html.open("p", &[]);
                add_line(line, html);
                html.close("p");
            }
            Part::Table(table) => add_table(table, html),
        }
    }
}

fn add_table(table: &Table, html: &mut Html) {
    let columns = written(table);
    if table.rows.is_empty() || columns.is_empty() {
        return;
    }
    html.open("table", &[("class", "compared"), ("data-table", table.key)])
        .open("thead", &[])
        .open("tr", &[]);
    let class = |is_text: bool| if is_text { "name" } else { "number" };
    for column in &columns {
        match column.title.trim() {
            "" => html.element("td", &[], ""),
            title => html.element("th", &[("scope", "col"), ("class", class(column.is_text))], title),
        };
    }
    html.close("tr").close("thead").open("tbody", &[]);
    for row in 0..table.rows.len() {
        html.open("tr", &[]);
        for column in &columns {
            html.open("td", &[("class", class(column.is_text))]);
            if let Some(line) = column.cells.get(row) {
                add_line(line, html);
            }
            html.close("td");
        }
        html.close("tr");
    }
    html.close("tbody").close("table");
}

/// A line whose spans keep their style by a class; what it means is in the words.
fn add_line(line: &Line, html: &mut Html) {
    for span in &line.spans {
        let text = span.text.trim_start_matches(' ');
        // Spaces in front of names are their depth.
        let depth = "\u{a0}".repeat(span.text.len() - text.len());
        let class = match span.style {
            Style::Strong => "strong",
            Style::Dim => "dim",
            Style::Bad | Style::Wait => "bad",
            Style::Good | Style::Work => "good",
            Style::Warning | Style::Call | Style::Plain => "",
        };
        html.open("span", &[("class", class)]).text(&format!("{depth}{text}"));
        html.raw("</span>");
    }
}

/// Waiting over time of the first report of each side, as long as it takes.
fn add_times(made: &Made<'_, '_>, remarks: &mut Vec<String>, html: &mut Html) {
    let mut sides = Vec::new();
    for (side, opened) in ["A", "B"].into_iter().zip(made.opened) {
        let Some(first) = opened.first() else { continue };
        match waiting_over_time(first, OVER_TIME) {
            Ok(Some(window)) => {
                let shares: Vec<f64> = (0..window.columns).map(|at| window.share(0, at)).collect();
                sides.push((side, shares, end(first)));
            }
            Ok(None) => {}
            Err(error) => remarks.push(format!("{}: {error}; shown without", first.path.display())),
        }
    }
    let longest = sides.iter().map(|(_, _, end)| *end).fold(0.0, f64::max);
    if sides.is_empty() || longest <= 0.0 {
        return;
    }
    html.open("section", &[("id", "first-time")]).element("h2", &[], words::OVER_TIME);
    for (side, shares, end) in sides {
        html.element("h3", &[], side);
        svg::over_time(&shares, end, longest, html);
    }
    html.close("section");
}

/// The end of a trace, in seconds.
pub(super) fn end(opened: &Opened) -> f64 {
    opened
        .manifest
        .as_ref()
        .map_or(0.0, |manifest| seconds(manifest, i64::try_from(manifest.end).unwrap_or(i64::MAX)))
}
