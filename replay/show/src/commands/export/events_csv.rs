//! `events-csv`: enters and leaves in the columns that Pipit's `Trace.from_csv` reads.

use std::io::Write;

use super::Remarks;
use super::events::{What, from_tables};
use super::source::Source;
use super::text::{csv_field, name};
use crate::error::Result;

/// Writes enters and leaves in order of time.
///
/// # Errors
/// If the report has none, or the output cannot be written.
pub(super) fn write(source: &Source<'_>, out: &mut dyn Write) -> Result<Remarks> {
    let (events, remarks) = from_tables(source)?;
    // Pipit removes the space in front of names of columns.
    out.write_all(b"Timestamp (ns), Event Type, Name, Process, Thread\n")?;
    let mut open: Vec<Vec<usize>> = vec![Vec::new(); events.places.len()];
    for event in &events.events {
        let place = &events.places[event.location];
        let (kind, function) = match event.what {
            What::Enter { function } => {
                open[event.location].push(function);
                ("Enter", function)
            }
            What::Leave => match open[event.location].pop() {
                Some(function) => ("Leave", function),
                None => continue,
            },
            _ => continue,
        };
        let title = csv_field(&name(&events.functions[function].name));
        let rank = source.cube().location_groups[place.process].rank;
        writeln!(out, "{},{kind},{title},{rank},{}", event.time, place.thread)?;
    }
    Ok(remarks)
}
