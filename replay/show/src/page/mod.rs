//! The page: one HTML file that shows a report in a browser, from disk and without any request.
//!
//! Its first screen is HTML and SVG that need neither scripts nor styles, with the words of the terminal's. Further views are made
//! by a script of `blocks` of data. All text goes through one place that escapes it, and a content security policy allows the
//! page's own style and script and nothing else.
//!
//! Style and script are made of the sources in `replay/show/page/`; a test compares them.

mod anonymous;
mod base64;
mod blocks;
mod colours;
mod compare;
mod first;
pub(crate) mod html;
mod json;
mod merged;
mod policy;
mod svg;

pub(crate) use anonymous::anonymous;
pub(crate) use compare::write_comparison;

use std::io::Write;

use crate::error::Result;
use crate::opened::Opened;
use crate::overview::Overview;
use crate::tables::seconds;
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
    /// Whether it can ask the server that it comes from for windows of events.
    pub has_server: bool,
}

impl Options {
    /// The content security policy of the page.
    pub(crate) fn policy(&self) -> String {
        match self.has_server {
            true => policy::served(STYLE, SCRIPT),
            false => policy::policy(STYLE, Some(SCRIPT)),
        }
    }
}

/// The page of a report in the making.
struct Made {
    first: String,
    data: Blocks,
    remarks: Vec<String>,
}

impl Made {
    fn of(opened: &Opened, options: &Options) -> Result<Made> {
        let values = Values::new(&opened.report);
        let overview = Overview::new(opened, &values)?;
        let mut remarks = Vec::new();
        let first = first::first(opened, &values, &overview, &options.title, &mut remarks)?.into_text();
        let source = Source { opened, values: &values, overview: &overview, options };
        let code = first.len() + STYLE.len() + SCRIPT.len();
        let data = Blocks::of(&source, options.max_size.saturating_sub(code))?;
        remarks.extend(data.limits.iter().map(|limit| format!("not in the page: {limit}")));
        Ok(Made { first, data, remarks })
    }
}

/// Writes the page of a report. Returns what could not be shown.
///
/// # Errors
/// If the report cannot be read, or the page not be written.
pub fn write(opened: &Opened, options: &Options, out: &mut dyn Write) -> Result<Vec<String>> {
    let made = Made::of(opened, options)?;
    let mut body = Html::default();
    body.raw(&made.first);
    made.data.write(&mut body);
    body.open("script", &[]).raw(SCRIPT).close("script");
    out.write_all(whole(&options.title, &options.policy(), own_style(), body).as_bytes())?;
    Ok(made.remarks)
}

/// Names and contents of files.
pub type Files = Vec<(String, Vec<u8>)>;

/// The files of a page for servers that forbid what is not in a file of its own. Returns also what could not be shown.
///
/// # Errors
/// If the report cannot be read.
pub fn split(opened: &Opened, options: &Options) -> Result<(Files, Vec<String>)> {
    let made = Made::of(opened, options)?;
    let mut files = made.data.files();
    let mut body = Html::default();
    body.raw(&made.first);
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    body.open("script", &[("type", "application/json"), ("id", "d-files")]);
    body.raw(&json::json(&names.into())).close("script");
    body.open("script", &[("src", "page.js")]).close("script");
    let mut style = Html::default();
    style.open("link", &[("rel", "stylesheet"), ("href", "page.css")]);
    let index = whole(&options.title, policy::OF_FILES, style, body);
    files.push(("index.html".into(), index.into_bytes()));
    files.push(("page.css".into(), STYLE.into()));
    files.push(("page.js".into(), SCRIPT.into()));
    Ok((files, made.remarks))
}

/// The style sheet in the page. The policy has the hash of just this text.
fn own_style() -> Html {
    let mut style = Html::default();
    style.open("style", &[]).raw(STYLE).close("style");
    style
}

/// A page with this policy, style and body.
fn whole(title: &str, policy: &str, style: Html, body: Html) -> String {
    let mut html = Html::default();
    html.raw("<!doctype html>\n").open("html", &[("lang", "en")]).open("head", &[]);
    html.open("meta", &[("charset", "utf-8")]);
    html.open("meta", &[("http-equiv", "Content-Security-Policy"), ("content", policy)]);
    html.open("meta", &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")]);
    html.open("meta", &[("name", "color-scheme"), ("content", "light dark")]);
    html.element("title", &[], title);
    html.raw(&style.into_text()).close("head").open("body", &[]);
    html.raw(&body.into_text()).close("body").close("html");
    html.into_text()
}

/// The end of a trace, in seconds.
fn end(opened: &Opened) -> f64 {
    opened
        .manifest
        .as_ref()
        .map_or(0.0, |manifest| seconds(manifest, i64::try_from(manifest.end).unwrap_or(i64::MAX)))
}
