//! The tables `windows`, `window_calls`, `window_messages`, `window_waits`, `critical` and `flow`, as the report has them.

use details::{Table, Values};

use super::{Blocks, Source, position};
use crate::error::Result;
use crate::tables::Columns;

/// Parts of what is left that each of these may take.
const PART: f64 = 0.25;

/// Tables, the columns that refer to call paths and locations, and what a page without them does not have.
const TABLES: [(&[&str], &str); 3] = [
    (&["flow"], "messages over time"),
    (&["windows", "window_calls", "window_messages", "window_waits"], "single calls and messages"),
    (&["critical"], "the critical path over time"),
];

/// Adds the tables that the report has, as far as there is room for them.
pub(super) fn add(source: &Source<'_>, blocks: &mut Blocks) -> Result<()> {
    if source.opened.manifest.is_none() {
        return Ok(());
    }
    for (names, what) in TABLES {
        let read = |name: &&str| source.opened.table(name).and_then(|table| checked(source, table));
        let tables: Result<Vec<Option<Table>>> = names.iter().map(read).collect();
        match tables {
            // Each refers to the others.
            Ok(tables) => {
                let Some(tables) = tables.into_iter().collect::<Option<Vec<Table>>>() else { continue };
                for table in tables {
                    if !blocks.table_within(&table, PART)? {
                        blocks.limits.push(format!("{what}: {} does not fit into the page", table.name));
                    }
                }
            }
            Err(error) => blocks.limits.push(format!("{what}: {error}; shown without")),
        }
    }
    Ok(())
}

/// A table whose references exist in the report.
fn checked(source: &Source<'_>, table: Option<Table>) -> Result<Option<Table>> {
    let Some(mut table) = table else { return Ok(None) };
    let cube = source.values.cube();
    let columns = Columns::of(&table.name, &table);
    for (ends, count) in
        [(&["location", "source", "destination"][..], cube.locations.len()), (&["cnode"], cube.cnodes.len())]
    {
        for column in &table.columns {
            if ends.iter().any(|end| column.name.ends_with(end)) {
                source.opened.in_details(columns.positions(&column.name, count))?;
            }
        }
    }
    number_metrics(source, &mut table);
    Ok(Some(table))
}

/// Metrics go by their numbers in the report, as everywhere in the page; in details they have those of the manifest.
fn number_metrics(source: &Source<'_>, table: &mut Table) {
    let Some(manifest) = &source.opened.manifest else { return };
    let number = |metric: &mut u32| {
        let of_manifest = usize::try_from(*metric).ok().and_then(|at| manifest.metrics.get(at));
        let of_report = of_manifest.and_then(|it| source.values.cube().metric_named(&it.name));
        *metric = position(of_report.map(|id| id.0));
    };
    for column in table.columns.iter_mut().filter(|column| column.name == "metric") {
        if let Values::U32(rows) = &mut column.values {
            rows.iter_mut().for_each(number);
        }
    }
}
