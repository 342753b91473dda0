//! Tables of details, with their numbers checked: what they refer to exists in the report.

pub mod cells;
pub mod communication;
pub mod grid;
pub mod series;
pub mod structure;
pub mod waits;
pub mod windows;

use details::{Table, Values};

use crate::error::{Error, Result};

/// The number that stands for none in columns of 32 bits.
const NONE: u32 = u32::MAX;

/// A table whose columns are read as numbers.
#[derive(Debug)]
pub(crate) struct Columns<'t> {
    /// The member, for messages.
    member: String,
    table: &'t Table,
}

impl<'t> Columns<'t> {
    /// The columns of the table of a name.
    pub(crate) fn of(name: &str, table: &'t Table) -> Columns<'t> {
        Columns { member: details::manifest::member(name), table }
    }

    /// An error about this table.
    pub(crate) fn wrong(&self, what: &str) -> Error {
        Error::new(format!("member {}: {what}; replay-analyze writes it anew", self.member))
    }

    fn values(&self, name: &str) -> Result<&'t Values> {
        let column = self.table.column(name);
        column.map(|column| &column.values).ok_or_else(|| self.wrong(&format!("no column {name}")))
    }

    /// Whether there is a column: those that came later are missing in older reports.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.table.column(name).is_some()
    }

    /// Integers; the number for none is -1.
    pub(crate) fn integers(&self, name: &str) -> Result<Vec<i64>> {
        Ok(match self.values(name)? {
            Values::U8(rows) => rows.iter().map(|&row| row.into()).collect(),
            Values::U16(rows) => rows.iter().map(|&row| row.into()).collect(),
            Values::U32(rows) => rows.iter().map(|&row| if row == NONE { -1 } else { row.into() }).collect(),
            Values::U64(rows) => rows.iter().map(|&row| i64::try_from(row).unwrap_or(i64::MAX)).collect(),
            Values::I64(rows) => rows.clone(),
            Values::F64(_) | Values::Bytes(_) => {
                return Err(self.wrong(&format!("column {name} has no integers")));
            }
        })
    }

    /// Positions in a list of so many things; `None` where a row refers to none.
    pub(crate) fn positions(&self, name: &str, count: usize) -> Result<Vec<Option<usize>>> {
        let positions = self.integers(name)?.into_iter().map(|number| match usize::try_from(number) {
            Ok(position) if position < count => Ok(Some(position)),
            Ok(position) => {
                Err(self.wrong(&format!("column {name}: number {position}, but there are {count}")))
            }
            Err(_) => Ok(None),
        });
        positions.collect()
    }

    /// Strings of bytes.
    pub(crate) fn bytes(&self, name: &str) -> Result<&'t [Vec<u8>]> {
        match self.values(name)? {
            Values::Bytes(rows) => Ok(rows),
            _ => Err(self.wrong(&format!("column {name} has no bytes"))),
        }
    }
}

/// Ticks as seconds; of a manifest without a clock, ticks are taken as nanoseconds.
#[expect(clippy::cast_precision_loss, reason = "seconds for people; exact up to 2^53 ticks")]
pub fn seconds(manifest: &details::manifest::Manifest, ticks: i64) -> f64 {
    let per_second = if manifest.ticks_per_second == 0 { 1_000_000_000 } else { manifest.ticks_per_second };
    ticks as f64 / per_second as f64
}
