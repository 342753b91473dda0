//! A report as tables of rows, one after the other: what `json`, `csv` and `parquet` write.
//!
//! | file | tables |
//! |---|---|
//! | `definitions` | metrics, cnodes, regions, locations, processes, nodes, communicators, topologies |
//! | `severities` | severities |
//! | `details` | instances, chains, matrix, … as in the report's details, with times in seconds and names beside numbers |
//! | `timeline` | timeline |
//! | `summary` | summary, culprits, findings, coverage |

mod definitions;
mod details;
mod severities;
mod summary;
mod timeline;

use std::borrow::Cow;

use super::Remarks;
use super::source::Source;
use crate::error::Result;

/// Type of a column. Each row may have nothing in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// Integers of 32 bits.
    Int32,
    /// Integers of 64 bits.
    Int64,
    /// Doubles.
    Double,
    /// Texts.
    Text,
}

/// A column.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Column {
    pub(super) name: Cow<'static, str>,
    pub(super) kind: Kind,
    /// `s`, `B`, `ticks`, or empty.
    pub(super) unit: &'static str,
}

/// A column without unit.
fn column(name: &'static str, kind: Kind) -> Column {
    Column { name: name.into(), kind, unit: "" }
}

/// A value of a row.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Cell<'c> {
    Nothing,
    Integer(i64),
    Double(f64),
    Text(Cow<'c, str>),
}

/// A text.
fn text<'c>(text: impl Into<Cow<'c, str>>) -> Cell<'c> {
    Cell::Text(text.into())
}

/// A position or a count.
fn number(number: usize) -> Cell<'static> {
    Cell::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}

/// An unsigned number.
fn unsigned(number: u64) -> Cell<'static> {
    Cell::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}

/// A value that may be missing.
fn optional<T>(value: Option<T>, cell: impl Fn(T) -> Cell<'static>) -> Cell<'static> {
    value.map_or(Cell::Nothing, cell)
}

/// Takes the rows of a table.
pub(super) type TakeRow<'t> = dyn FnMut(&[Cell<'_>]) -> Result<()> + 't;

/// Gives the rows of a table to a function.
pub(super) type Rows<'r> = dyn FnOnce(&mut TakeRow<'_>) -> Result<()> + 'r;

/// Takes tables: name, columns, and what gives the rows, which are made while they are taken.
pub(super) trait Take {
    /// Takes a table.
    ///
    /// # Errors
    /// If its rows cannot be made or written.
    fn table(&mut self, name: &str, columns: &[Column], rows: Box<Rows<'_>>) -> Result<()>;
}

/// Gives all tables of a report, one after the other.
///
/// # Errors
/// If the report cannot be read, or the tables not be taken.
pub(super) fn give(source: &Source<'_>, take: &mut dyn Take) -> Result<Remarks> {
    let mut remarks = Remarks::new();
    definitions::give(source, take)?;
    severities::give(source, take, &mut remarks)?;
    timeline::give(source, take, &mut remarks)?;
    details::give(source, take, &mut remarks)?;
    summary::give(source, take)?;
    if source.opened.manifest.is_none() {
        remarks.push(
            "only metrics and what they refer to, as the report has no details: \
             replay-analyze EXPERIMENT writes reports that have"
                .into(),
        );
    }
    Ok(remarks)
}
