//! `json`: one object with all tables, each a list of rows; a row is an object without the columns that have nothing in it.
//!
//! The schema is `docs/schemas/export.json`.

use std::io::Write;

use super::Remarks;
use super::relations::{Cell, Column, Rows, Take, give};
use super::source::Source;
use super::text::{json_number, json_string};
use crate::error::Result;

/// Writes all tables.
///
/// # Errors
/// If the report cannot be read, or the output not be written.
pub(super) fn write(source: &Source<'_>, out: &mut dyn Write) -> Result<Remarks> {
    out.write_all(b"{\"schema\":\"replay-show.export/1\",\n")?;
    writeln!(out, "\"title\":{},", json_string(&source.title()))?;
    if let Some(manifest) = &source.opened.manifest {
        writeln!(out, "\"ticks_per_second\":{},", manifest.ticks_per_second)?;
    }
    out.write_all(b"\"tables\":{")?;
    let mut tables = Tables { out, is_first: true };
    let remarks = give(source, &mut tables)?;
    tables.out.write_all(b"\n}}\n")?;
    Ok(remarks)
}

struct Tables<'o> {
    out: &'o mut dyn Write,
    is_first: bool,
}

impl Take for Tables<'_> {
    fn table(&mut self, name: &str, columns: &[Column], rows: Box<Rows<'_>>) -> Result<()> {
        let out = &mut *self.out;
        write!(out, "{}\n{}:[", if self.is_first { "" } else { "," }, json_string(name))?;
        self.is_first = false;
        let keys: Vec<String> = columns.iter().map(|column| json_string(&column.name)).collect();
        let mut separator = "";
        rows(&mut |cells| {
            let members =
                keys.iter().zip(cells).filter_map(|(key, cell)| Some(format!("{key}:{}", value(cell)?)));
            write!(out, "{separator}\n{{{}}}", members.collect::<Vec<_>>().join(","))?;
            separator = ",";
            Ok(())
        })?;
        out.write_all(b"]")?;
        Ok(())
    }
}

/// A value; `None` if there is none.
fn value(cell: &Cell<'_>) -> Option<String> {
    match cell {
        Cell::Nothing => None,
        Cell::Integer(value) => Some(value.to_string()),
        Cell::Double(value) => Some(json_number(*value)),
        Cell::Text(text) => Some(json_string(text)),
    }
}
