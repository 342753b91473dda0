//! Page of a comparison: what `diff` says as HTML, and waiting over time of both sides on one axis.

use std::io::Write;

use super::html::Html;
use super::merged::merged;
use super::{STYLE, end, own_style, policy, svg, whole};
use crate::commands::diff::Made;
use crate::commands::time::waiting_over_time;
use crate::error::Result;
use crate::output::{Document, Line, Part, Style, Table, numbers, written};
use crate::overview::words;

/// Cells of the pictures over time: enough for the largest zoom.
const OVER_TIME: usize = 1024;

/// How far the pictures over time can be zoomed: by so much, under these names.
const ZOOMS: [(&str, &str); 3] = [("whole", "whole run"), ("four", "4 times"), ("sixteen", "16 times")];

/// Pieces of the axis of time. All lines are shown at the largest zoom, else those of its quarters.
const PIECES: u32 = 16;

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
    add_tree(made, &mut html);
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
            Ok(Some(shares)) => sides.push((side, shares, end(first))),
            Ok(None) => {}
            Err(error) => remarks.push(format!("{}: {error}; shown without", first.path.display())),
        }
    }
    let longest = sides.iter().map(|(_, _, end)| *end).fold(0.0, f64::max);
    if sides.is_empty() || longest <= 0.0 {
        return;
    }
    html.open("section", &[("id", "first-time")]).element("h2", &[], words::OVER_TIME);
    // Styles alone zoom both sides at once: the page needs no script.
    html.open("p", &[("class", "zooms")]).text("Zoom of both: ");
    for (at, (name, title)) in ZOOMS.into_iter().enumerate() {
        let id = format!("zoom-{name}");
        let mut attributes = vec![("type", "radio"), ("name", "zoom"), ("id", id.as_str())];
        if at == 0 {
            attributes.push(("checked", "checked"));
        }
        html.open("label", &[]).open("input", &attributes).text(&format!(" {title}")).raw("</label> ");
    }
    html.close("p");
    let region =
        [("class", "times"), ("role", "region"), ("tabindex", "0"), ("aria-label", words::OVER_TIME)];
    html.open("div", &region).open("div", &[("class", "zoomed")]);
    for (side, shares, end) in sides {
        let most = shares.iter().flatten().copied().fold(0.0, f64::max);
        let (most, end_words) = (numbers::share(most), numbers::seconds(end));
        html.element("h3", &[], &format!("{side}: {most} at most, until {end_words}"));
        let label = format!("{side}: {most} at most, from 0 s to {end_words}");
        svg::strip(&shares, end / longest, &label, html);
    }
    html.open("p", &[("class", "marks"), ("aria-hidden", "true")]);
    for piece in 0..=PIECES {
        let class = if piece % (PIECES / 4) == 0 { "mark" } else { "mark fine" };
        let time = numbers::seconds_with(
            longest * f64::from(piece) / f64::from(PIECES),
            numbers::decimals(longest / 16.0),
        );
        html.open("span", &[("class", class)]).inline("span", &time).raw("</span>");
    }
    html.close("p").close("div").close("div");
    html.close("section");
}

/// Call paths of both sides in one tree.
fn add_tree(made: &Made<'_, '_>, html: &mut Html) {
    let (table, left_out) = merged(made);
    if table.rows.is_empty() {
        return;
    }
    html.open("section", &[("id", "merged")]).element("h2", &[], "Call paths of both sides");
    add_table(&table, html);
    if left_out > 0 {
        html.element(
            "p",
            &[("class", "limit")],
            &format!("{left_out} more call paths are not in this page."),
        );
    }
    html.close("section");
}
