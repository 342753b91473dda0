//! Messages by size.

use super::remark;
use crate::error::Result;
use crate::opened::Opened;
use crate::output::{Cell, Column, Document, Line, Style, Table, numbers};
use crate::paths;
use crate::tables::communication::{Size, sizes};
use crate::tables::seconds;
use crate::values::Unit;

/// Adds a row for each class of sizes, and for scripts one for each class and call path.
pub(super) fn add(opened: &Opened, document: &mut Document) -> Result<()> {
    let (manifest, table) = opened.required_table("sizes")?;
    let cube = opened.cube();
    let rows = opened.in_details(sizes(cube, &table))?;
    let mut sums: Vec<Size> = Vec::new();
    for row in &rows {
        let at = match sums.iter().position(|sum| sum.class == row.class) {
            Some(at) => at,
            None => {
                sums.push(Size { class: row.class, fastest: i64::MAX, ..Size::default() });
                sums.len() - 1
            }
        };
        let sum = &mut sums[at];
        if row.timed > 0 {
            sum.fastest = sum.fastest.min(row.fastest);
        }
        for (sum, value) in [
            (&mut sum.messages, row.messages),
            (&mut sum.bytes, row.bytes),
            (&mut sum.late_sender, row.late_sender),
            (&mut sum.late_receiver, row.late_receiver),
            (&mut sum.timed, row.timed),
            (&mut sum.transfer, row.transfer),
        ] {
            *sum = sum.saturating_add(value);
        }
    }
    sums.sort_by_key(|sum| sum.class);
    let columns = vec![
        Column::new("size", "size"),
        Column::new("messages", "messages"),
        Column::new("bytes", "bytes"),
        Column::text("waited"),
        Column::data("late_sender"),
        Column::data("late_receiver"),
        Column::new("fastest", "fastest"),
        Column::new("mean", "mean"),
    ];
    let mut shown = Table::new("sizes", columns);
    let of = |ticks: i64| seconds(manifest, ticks);
    for sum in &sums {
        let is_timed = sum.timed > 0;
        shown.rows.push(vec![
            Cell::Words(Line::from(range(sum.class))),
            Cell::Integer(sum.messages),
            number(sum.bytes),
            Cell::Sparse(of(sum.late_sender.saturating_add(sum.late_receiver)), Unit::Seconds),
            Cell::Sparse(of(sum.late_sender), Unit::Seconds),
            Cell::Sparse(of(sum.late_receiver), Unit::Seconds),
            if is_timed { Cell::Number(of(sum.fastest), Unit::Seconds) } else { Cell::Nothing },
            if is_timed { Cell::Number(of(sum.transfer / sum.timed), Unit::Seconds) } else { Cell::Nothing },
        ]);
    }
    document.table(shown);
    let text = "Sizes are at least half of what they are under. Fastest and mean are of messages for which nobody waited, from the begin of the send to the end of the receive.";
    document.text(Line::styled(text, Style::Dim));
    let keys = [
        "path",
        "class",
        "messages",
        "bytes",
        "late_sender",
        "late_receiver",
        "timed",
        "fastest",
        "transfer",
    ];
    let mut data = Table::new("sizes_by_path", keys.map(Column::data).into()).data_only();
    for row in &rows {
        data.rows.push(vec![
            Cell::Name(row.cnode.map_or(String::new(), |at| paths::path(cube, cubex::CnodeId(at)))),
            Cell::Integer(row.class.into()),
            Cell::Integer(row.messages),
            Cell::Integer(row.bytes),
            Cell::Number(of(row.late_sender), Unit::Seconds),
            Cell::Number(of(row.late_receiver), Unit::Seconds),
            Cell::Integer(row.timed),
            if row.timed > 0 { Cell::Number(of(row.fastest), Unit::Seconds) } else { Cell::Nothing },
            if row.timed > 0 { Cell::Number(of(row.transfer), Unit::Seconds) } else { Cell::Nothing },
        ]);
    }
    document.table(data);
    document.parts.extend(
        remark(manifest, "sizes")
            .map(|remark| crate::output::Part::Text(Line::styled(remark, Style::Warning))),
    );
    Ok(())
}

fn number(bytes: i64) -> Cell {
    #[expect(clippy::cast_precision_loss, reason = "bytes for people")]
    Cell::Number(bytes as f64, Unit::Bytes)
}

/// The sizes of a class.
fn range(class: u32) -> String {
    match class {
        0 => "none".into(),
        // Half of it at least: that is the class below.
        class => format!("under {}", numbers::bytes(2_f64.powi(class.cast_signed()))),
    }
}
