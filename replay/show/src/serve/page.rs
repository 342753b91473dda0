//! The page that is served: what there is of one. All else asks this file for its bytes.

use crate::error::Result;
use crate::opened::Opened;
use crate::output::{Output, OutputArgs, Surroundings};

/// A page, and its content security policy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Page {
    pub(super) bytes: Vec<u8>,
    pub(super) policy: String,
}

/// Nothing but to be looked at.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// Columns of the text.
const COLUMNS: &str = "120";

/// The page of a report: its first screen.
///
/// # Errors
/// If the report cannot be read.
pub(super) fn page(opened: &Opened) -> Result<Page> {
    let variables = [("LANG", "C.UTF-8"), ("COLUMNS", COLUMNS)];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let surroundings = Surroundings { variables, ..Surroundings::default() };
    let (mut text, mut messages) = (Vec::new(), Vec::new());
    let mut output = Output::new(&OutputArgs::default(), &surroundings, &mut text, &mut messages);
    crate::commands::first::run(&opened.path, &mut output)?;
    let text = escaped(&String::from_utf8_lossy(&text));
    let page = format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>replay-show</title>\n\
         <style>pre {{ font: 14px/1.3 monospace; white-space: pre-wrap }}</style>\n<pre>{text}</pre>\n</html>\n"
    );
    Ok(Page { bytes: page.into_bytes(), policy: POLICY.into() })
}

/// A text that is no markup, whatever it looks like.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}
