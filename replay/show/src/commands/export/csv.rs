//! `csv`: a directory with a file for each table, as RFC 4180 has it, but lines end with a line feed.

use super::Remarks;
use super::relations::{Cell, Column, Rows, Take, give};
use super::source::Source;
use super::text::csv_field;
use crate::commands::sink::Folder;
use crate::error::Result;

/// Writes all tables.
///
/// # Errors
/// If the report cannot be read, or a file not be written.
pub(super) fn write(source: &Source<'_>, folder: &mut Folder) -> Result<Remarks> {
    give(source, &mut Files(folder))
}

struct Files<'f>(&'f mut Folder);

impl Take for Files<'_> {
    fn table(&mut self, name: &str, columns: &[Column], rows: Box<Rows<'_>>) -> Result<()> {
        self.0.file(&format!("{name}.csv"), |out| {
            let titles: Vec<String> = columns.iter().map(|column| csv_field(&column.name)).collect();
            writeln!(out, "{}", titles.join(","))?;
            rows(&mut |cells| {
                let fields: Vec<String> = cells.iter().map(field).collect();
                Ok(writeln!(out, "{}", fields.join(","))?)
            })
        })
    }
}

fn field(cell: &Cell<'_>) -> String {
    match cell {
        Cell::Nothing => String::new(),
        Cell::Integer(value) => value.to_string(),
        Cell::Double(value) if !value.is_finite() => String::new(),
        Cell::Double(value) => format!("{value:?}"),
        Cell::Text(text) => csv_field(text),
    }
}
