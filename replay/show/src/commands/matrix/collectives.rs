//! Collective operations, and who came last to them.

use cubex::Cube;
use details::manifest::Manifest;

use super::{communicator, communicator_name, ranks, remark};
use crate::error::Result;
use crate::opened::Opened;
use crate::output::{Cell, Column, Document, Line, Style, Table};
use crate::tables::communication::{Collective, Last, collectives, last};
use crate::tables::seconds;
use crate::values::Unit;

/// Adds a table of operations, and one of who came last.
pub(super) fn add(opened: &Opened, comm: Option<&str>, top: usize, document: &mut Document) -> Result<()> {
    let (manifest, table) = opened.required_table("collectives")?;
    let wanted = communicator(manifest, comm)?;
    let is_wanted = |number: Option<u32>| wanted.is_none_or(|wanted| number == Some(wanted));
    let cube = opened.cube();
    let mut rows = opened.in_details(collectives(cube, &table))?;
    rows.retain(|row| is_wanted(row.communicator) && !is_shutdown(cube, row.region));
    rows.sort_by_key(|row| std::cmp::Reverse(row.waiting));
    document.table(collective_table(manifest, cube, &rows[..top.min(rows.len())]));
    document.more(rows.len(), top, "-n");
    if rows.is_empty() {
        document.text("no collective operations");
    }
    if let Some(table) = opened.table("last")? {
        let mut rows = opened.in_details(last(cube, ranks(opened), &table))?;
        rows.retain(|row| is_wanted(row.communicator) && !is_shutdown(cube, row.region));
        rows.sort_by_key(|row| std::cmp::Reverse(row.caused));
        document.gap();
        document.text(Line::styled("Who came last", Style::Strong));
        document.table(last_table(manifest, cube, &rows[..top.min(rows.len())]));
        document.more(rows.len(), top, "-n");
    }
    for name in ["collectives", "last"] {
        if let Some(remark) = remark(manifest, name) {
            document.text(Line::styled(format!("{name}: {remark}"), Style::Warning));
        }
    }
    Ok(())
}

/// Whether an operation is the end of all communication, in which waiting is none of the program's.
fn is_shutdown(cube: &Cube, region: Option<usize>) -> bool {
    region.is_some_and(|at| cube.regions[at].name == "MPI_Finalize")
}

/// The communicator of operations: those of start-up have none.
fn on(manifest: &Manifest, communicator: Option<u32>) -> String {
    communicator.map_or("none".into(), |_| communicator_name(manifest, communicator))
}

fn function(cube: &Cube, region: Option<usize>) -> Cell {
    Cell::Name(region.map_or("?".into(), |at| cube.regions[at].name.clone()))
}

fn collective_table(manifest: &Manifest, cube: &Cube, rows: &[Collective]) -> Table {
    let columns = vec![
        Column::new("function", "operation"),
        Column::new("communicator", "on"),
        Column::new("calls", "times"),
        Column::new("members", "calls"),
        Column::new("bytes_out", "sent"),
        Column::new("bytes_in", "received"),
        Column::new("waiting", "waited"),
        Column::new("completion", "completion"),
    ];
    let mut table = Table::new("collectives", columns);
    #[expect(clippy::cast_precision_loss, reason = "bytes for people")]
    let bytes = |bytes: i64| Cell::Number(bytes as f64, Unit::Bytes);
    for row in rows {
        table.rows.push(vec![
            function(cube, row.region),
            Cell::Name(on(manifest, row.communicator)),
            Cell::Integer(row.calls),
            Cell::Integer(row.members),
            bytes(row.bytes_out),
            bytes(row.bytes_in),
            Cell::Sparse(seconds(manifest, row.waiting), Unit::Seconds),
            Cell::Sparse(seconds(manifest, row.completion), Unit::Seconds),
        ]);
    }
    table
}

fn last_table(manifest: &Manifest, cube: &Cube, rows: &[Last]) -> Table {
    let columns = vec![
        Column::new("rank", "rank"),
        Column::new("function", "operation"),
        Column::new("communicator", "on"),
        Column::new("times", "times"),
        Column::new("caused", "others waited"),
    ];
    let mut table = Table::new("last", columns);
    for row in rows {
        table.rows.push(vec![
            Cell::Name(row.process.map_or("others".into(), |rank| format!("rank {rank}"))),
            function(cube, row.region),
            Cell::Name(on(manifest, row.communicator)),
            Cell::Integer(row.times),
            Cell::Sparse(seconds(manifest, row.caused), Unit::Seconds),
        ]);
    }
    table
}
