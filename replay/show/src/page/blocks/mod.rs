//! Blocks of data in the page, one file each: JSON, or tables of the details' format as base64. Scripts read them; without
//! scripts they are not shown.
//!
//! Nothing grows with the trace beyond the size that the user allows: what does not fit is left out by rule, and the page
//! says so.

mod calls;
mod explanations;
mod grid;
mod messages;
mod places;
mod report;
mod series;
mod severities;
mod waits;
mod windows;

use details::Table;
use serde_json::Value;

use super::base64::base64;
use super::html::Html;
use super::json::json;
use super::{Files, Options};
use crate::error::{Error, Result};
use crate::opened::Opened;
use crate::overview::Overview;
use crate::values::Values;

/// What blocks are made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'s> {
    pub(super) opened: &'s Opened,
    pub(super) values: &'s Values<'s>,
    pub(super) overview: &'s Overview,
    pub(super) options: &'s Options,
}

/// Data in the making: blocks, what is left of the size, and what was left out.
#[derive(Debug)]
pub(super) struct Blocks {
    tables: Vec<(String, Vec<u8>)>,
    texts: Vec<(&'static str, Value)>,
    /// Bytes of the page that are left for data.
    left: usize,
    /// What the page does not have, in sentences.
    pub(super) limits: Vec<String>,
}

impl Blocks {
    /// The data of a report in at most so many bytes, but for what no page can do without.
    ///
    /// # Errors
    /// If values cannot be read. Damaged tables are left out, and said.
    pub(super) fn of(source: &Source<'_>, most: usize) -> Result<Blocks> {
        let mut blocks = Blocks { tables: Vec::new(), texts: Vec::new(), left: most, limits: Vec::new() };
        calls::add(source, &mut blocks)?;
        places::add(source, &mut blocks)?;
        blocks.texts.push(("explanations", explanations::explanations()));
        let parts: [(&str, Part); 5] = [
            ("waits", waits::add),
            ("grid", grid::add),
            ("iterations", series::add),
            ("messages", messages::add),
            ("windows", windows::add),
        ];
        for (name, add) in parts {
            if let Err(error) = add(source, &mut blocks) {
                blocks.limits.push(format!("{name}: {error}; shown without"));
            }
        }
        severities::add(source, &mut blocks)?;
        let report = report::report(source, &blocks.limits);
        blocks.texts.push(("report", report));
        Ok(blocks)
    }

    /// Adds a table that has to be there.
    ///
    /// # Errors
    /// If it is no table.
    fn table(&mut self, table: &Table) -> Result<()> {
        let bytes = written(table)?;
        self.bytes(&table.name, bytes);
        Ok(())
    }

    /// Adds a table if there is room for it in a part of what is left; returns whether it is there.
    ///
    /// # Errors
    /// If it is no table.
    fn table_within(&mut self, table: &Table, part: f64) -> Result<bool> {
        let bytes = written(table)?;
        let fits = bytes.len() <= self.room(part);
        if fits {
            self.bytes(&table.name, bytes);
        }
        Ok(fits)
    }

    fn bytes(&mut self, name: &str, bytes: Vec<u8>) {
        self.left = self.left.saturating_sub(bytes.len().div_ceil(3) * 4);
        self.tables.push((name.to_owned(), bytes));
    }

    /// Bytes that are left in a part of the page, before they become base64.
    fn room(&self, part: f64) -> usize {
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a size, not negative"
        )]
        let room = (self.left as f64 * part * 0.75) as usize;
        room
    }

    /// Appends all blocks to the body of a page.
    pub(super) fn write(&self, html: &mut Html) {
        for (name, value) in &self.texts {
            html.open("script", &[("type", "application/json"), ("id", &format!("d-{name}"))]);
            html.raw(&json(value)).close("script");
        }
        for (name, bytes) in &self.tables {
            html.open("script", &[("type", "application/octet-stream"), ("id", &format!("d-{name}"))]);
            html.raw(&base64(bytes)).close("script");
        }
    }

    /// All blocks as files.
    pub(super) fn files(self) -> Files {
        let texts = self.texts.into_iter();
        let texts = texts.map(|(name, value)| (format!("{name}.json"), json(&value).into_bytes()));
        texts.chain(self.tables.into_iter().map(|(name, bytes)| (format!("{name}.bin"), bytes))).collect()
    }
}

/// Adds blocks of a topic.
type Part = fn(&Source<'_>, &mut Blocks) -> Result<()>;

fn written(table: &Table) -> Result<Vec<u8>> {
    details::write(table).map_err(|error| Error::new(format!("table {}: {error}", table.name)))
}

/// The number that stands for none.
const NONE: u32 = u32::MAX;

/// A position as it is in tables.
fn position(position: Option<usize>) -> u32 {
    position.and_then(|at| u32::try_from(at).ok()).unwrap_or(NONE)
}
