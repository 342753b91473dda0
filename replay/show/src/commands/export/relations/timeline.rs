//! Table `timeline`: time by class, group of locations and bin of time, of all levels. Cells of no time are left out.

use super::Kind::{Double, Int32, Int64, Text};
use super::{Cell, Column, Take, TakeRow, column, number, text, unsigned};
use crate::commands::export::Remarks;
use crate::commands::export::source::Source;
use crate::error::Result;
use crate::tables::{cells, seconds};

pub(super) fn give(source: &Source<'_>, take: &mut dyn Take, remarks: &mut Remarks) -> Result<()> {
    let Some(manifest) = &source.opened.manifest else { return Ok(()) };
    let Some(table) = source.opened.table("grid")? else {
        remarks.push(
            "without timeline, which the report does not have: replay-analyze --details inside EXPERIMENT writes it"
                .into(),
        );
        return Ok(());
    };
    let in_seconds = |name| Column { unit: "s", ..column(name, Double) };
    let columns = [
        column("level", Int32),
        column("group", Int32),
        column("first_location", Int32),
        column("locations", Int32),
        column("bin", Int32),
        in_seconds("begin"),
        in_seconds("end"),
        column("class", Text),
        column("role", Text),
        in_seconds("seconds"),
        Column { unit: "ticks", ..column("ticks", Int64) },
    ];
    let rows = |row: &mut TakeRow<'_>| {
        let time = |ticks: u64| seconds(manifest, i64::try_from(ticks).unwrap_or(i64::MAX));
        cells::for_each(
            manifest,
            &table,
            |_| true,
            |cell| {
                let level = &manifest.levels[cell.level];
                let first = cell.group.saturating_mul(level.span);
                let count = (source.locations.len() as u64).saturating_sub(first).min(level.span);
                let begin = cell.bin.saturating_mul(level.bin_ticks);
                row(&[
                    number(cell.level),
                    unsigned(cell.group),
                    unsigned(first),
                    unsigned(count),
                    unsigned(cell.bin),
                    Cell::Double(time(begin)),
                    Cell::Double(time(begin.saturating_add(level.bin_ticks))),
                    text(&*manifest.classes[cell.class].name),
                    text(&*manifest.classes[cell.class].role),
                    Cell::Double(seconds(manifest, cell.ticks)),
                    Cell::Integer(cell.ticks),
                ])
            },
        )
    };
    take.table("timeline", &columns, Box::new(rows))
}
