//! The page: one HTML file that shows a report in a browser, from disk and without any request.
//!
//! Its first screen is HTML and SVG that need neither scripts nor styles, with the words of the terminal's. All text goes
//! through one place that escapes it, and a content security policy allows the page's own style and nothing else.

mod base64;
mod colours;
mod first;
mod html;
mod policy;
mod svg;

use std::io::Write;

use crate::error::Result;
use crate::opened::Opened;
use crate::overview::Overview;
use crate::values::Values;
use html::Html;

/// The style sheet.
const STYLE: &str = include_str!("../../page.css");

/// What the user asks of a page.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Its title.
    pub title: String,
}

/// Writes the page of a report. Returns what could not be shown.
///
/// # Errors
/// If the report cannot be read, or the page not be written.
pub fn write(opened: &Opened, options: &Options, out: &mut dyn Write) -> Result<Vec<String>> {
    let values = Values::new(&opened.report);
    let overview = Overview::new(opened, &values)?;
    let mut remarks = Vec::new();
    let first = first::first(opened, &values, &overview, &options.title, &mut remarks)?;
    let mut html = Html::default();
    html.raw("<!doctype html>\n").open("html", &[("lang", "en")]).open("head", &[]);
    html.open("meta", &[("charset", "utf-8")]);
    let policy = policy::policy(STYLE, None);
    html.open("meta", &[("http-equiv", "Content-Security-Policy"), ("content", &policy)]);
    html.open("meta", &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")]);
    html.open("meta", &[("name", "color-scheme"), ("content", "light dark")]);
    html.element("title", &[], &options.title);
    // The policy has the hash of just this text.
    html.open("style", &[]).raw(STYLE).close("style").close("head").open("body", &[]);
    html.raw(&first.into_text()).close("body").close("html");
    out.write_all(html.into_text().as_bytes())?;
    Ok(remarks)
}
