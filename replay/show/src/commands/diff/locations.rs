//! The table by location: number by number, for sides of equal ranks and threads.

use cubex::LocationId;

use super::quantities::style;
use super::unsupported;
use crate::compare::changes::Compared;
use crate::compare::measure::Measure;
use crate::compare::side::Side;
use crate::error::{Error, Result};
use crate::output::{Cell, Column, Document, Table};
use crate::places;
use crate::values::{Unit, WAITING};

/// Metrics that are compared: key, title, unique name.
const METRICS: [(&str, &str, &str); 2] = [("time", "run", "time"), ("waiting", "waiting", WAITING)];

/// Adds the table.
///
/// # Errors
/// If the sides have other locations, or values cannot be read.
pub(super) fn add(compared: &Compared<'_, '_>, document: &mut Document) -> Result<()> {
    let [a, b] = compared.sides;
    if compared.measure != Measure::Mean {
        return Err(unsupported(
            "--by location",
            compared.measure,
            "no --unit: values are those of each location",
        ));
    }
    let (shape_a, shape_b) = (&a.first().shape, &b.first().shape);
    if (shape_a.ranks, shape_a.threads) != (shape_b.ranks, shape_b.threads) {
        return Err(Error::new(format!(
            "--by location: A is {shape_a}, B is {shape_b}: expected as many ranks and threads on both sides"
        )));
    }
    let names = names(b)?;
    if a.runs.iter().chain(&b.runs).any(|run| run.is_thread != b.first().is_thread) {
        return Err(Error::new(
            "--by location: the reports have other numbers of threads on their ranks, or not the same ones have events: \
             compare without it",
        ));
    }
    let mut columns = vec![Column::new("location", " location")];
    let mut changes = Vec::new();
    for (key, title, metric) in METRICS {
        let (Some(rows_a), Some(rows_b)) = (rows(a, metric)?, rows(b, metric)?) else { continue };
        for (end, text) in [("a", " A"), ("b", " B"), ("change", "")] {
            columns.push(Column::new(
                format!("{key}_{end}"),
                if text.is_empty() { "change".into() } else { format!("{title}{text}") },
            ));
        }
        let at =
            |rows: &[Vec<f64>], location: usize| rows.iter().map(|row| row[location]).collect::<Vec<f64>>();
        let of_location = |location: usize| {
            compared.change(&at(&rows_a, location), &at(&rows_b, location), &Unit::Seconds, 1)
        };
        changes.push((0..names.len()).map(of_location).collect::<Vec<_>>());
    }
    let mut table = Table::new("locations", columns);
    for (location, name) in names.into_iter().enumerate() {
        let mut row = vec![Cell::Name(format!(" {name}"))];
        for changes in &changes {
            let change = changes[location];
            row.push(Cell::Number(change.a, Unit::Seconds));
            row.push(Cell::Number(change.b, Unit::Seconds));
            row.push(Cell::Change(change.relative(), style(change.state)));
        }
        table.rows.push(row);
    }
    document.table(table);
    Ok(())
}

/// The CPU locations of a side that have events, by name.
fn names(side: &Side<'_>) -> Result<Vec<String>> {
    let values = side.first().report.as_ref();
    let cube =
        values.ok_or_else(|| Error::new("--by location: a log has no locations: expected reports"))?.cube();
    let sizes = places::sizes(cube);
    let threads = side.first().is_thread.iter().enumerate().filter(|(_, is_thread)| **is_thread);
    Ok(threads.map(|(at, _)| places::name(cube, &sizes, LocationId(at))).collect())
}

/// Values of each run by location; `None` if one has no such metric.
fn rows(side: &Side<'_>, metric: &str) -> Result<Option<Vec<Vec<f64>>>> {
    side.runs.iter().map(|run| run.by_location(metric, None)).collect()
}
