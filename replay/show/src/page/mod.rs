//! The page: one HTML file that shows a report in a browser, from disk and without any request.
//!
//! Its first screen is HTML and SVG that need neither scripts nor styles, with the words of the terminal's. Further views are made
//! by a script of `blocks` of data. All text goes through one place that escapes it, and a content security policy allows the
//! page's own style and script and nothing else.
//!
//! Style and script are made of the sources in `replay/show/page/`; a test compares them.

mod base64;
mod blocks;
mod colours;
mod first;
mod html;
mod json;
mod policy;
mod svg;

use std::io::Write;

use crate::error::Result;
use crate::opened::Opened;
use crate::overview::Overview;
use crate::values::Values;
use blocks::{Blocks, Source};
use html::Html;

/// The style sheet.
const STYLE: &str = include_str!("../../page.css");

/// The script.
const SCRIPT: &str = include_str!("../../page.js");

/// What the user asks of a page.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Its title.
    pub title: String,
    /// The report, as commands name it that print the same.
    pub file: String,
    /// The most bytes, as far as there is a choice.
    pub max_size: usize,
}

/// The content security policy of a page.
pub(crate) fn policy() -> String {
    policy::policy(STYLE, Some(SCRIPT))
}

/// Writes the page of a report. Returns what could not be shown.
///
/// # Errors
/// If the report cannot be read, or the page not be written.
pub fn write(opened: &Opened, options: &Options, out: &mut dyn Write) -> Result<Vec<String>> {
    let values = Values::new(&opened.report);
    let overview = Overview::new(opened, &values)?;
    let mut remarks = Vec::new();
    let first = first::first(opened, &values, &overview, &options.title, &mut remarks)?.into_text();
    let source = Source { opened, values: &values, overview: &overview, options };
    let code = first.len() + STYLE.len() + SCRIPT.len();
    let data = Blocks::of(&source, options.max_size.saturating_sub(code))?;
    let mut html = Html::default();
    html.raw("<!doctype html>\n").open("html", &[("lang", "en")]).open("head", &[]);
    html.open("meta", &[("charset", "utf-8")]);
    html.open("meta", &[("http-equiv", "Content-Security-Policy"), ("content", &policy())]);
    html.open("meta", &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")]);
    html.open("meta", &[("name", "color-scheme"), ("content", "light dark")]);
    html.element("title", &[], &options.title);
    // The policy has the hashes of just these texts.
    html.open("style", &[]).raw(STYLE).close("style").close("head").open("body", &[]);
    html.raw(&first);
    data.write(&mut html);
    html.open("script", &[]).raw(SCRIPT).close("script").close("body").close("html");
    out.write_all(html.into_text().as_bytes())?;
    remarks.extend(data.limits.into_iter().map(|limit| format!("not in the page: {limit}")));
    Ok(remarks)
}
