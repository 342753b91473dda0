//! The block `main_loop` and the tables `series`, `series_values` and `series_map`: iterations of the main loop, values of metrics
//! in each, and times of groups of locations. Metrics go by their numbers in the report.

use std::cmp::Reverse;

use details::manifest::{MainLoop, Manifest};
use details::{Column, Table, Values as Rows};
use serde_json::{Value, json};

use super::{Blocks, Source, position};
use crate::error::{Error, Result};
use crate::tables::{Columns, series};
use crate::values::Unit;

/// Parts of what is left that each of these may take.
const PART: f64 = 0.25;

/// The most cells of the map of a metric: more are in no report that replay-analyze writes.
const MOST_CELLS: u64 = 1 << 24;

/// Adds the block and the tables, if the report has them.
pub(super) fn add(source: &Source<'_>, blocks: &mut Blocks) -> Result<()> {
    let Some(manifest) = &source.opened.manifest else { return Ok(()) };
    let Some(main_loop) = &manifest.main_loop else { return Ok(()) };
    let Some(mut table) = source.opened.table("series")? else { return Ok(()) };
    let locations = source.values.cube().locations.len();
    source.opened.in_details(check(manifest, main_loop, &table, locations))?;
    // Only the analysis needs to know which iterations have the same calls.
    table.columns.retain(|column| column.name != "word");
    if !blocks.table_within(&table, PART)? {
        return Err(Error::new("the table series does not fit into the page"));
    }
    blocks.texts.push(("main_loop", described(source, manifest, main_loop)));
    type Weigh = fn(&Source<'_>, &MainLoop, &Table) -> Result<Vec<i128>>;
    let tables: [(&str, &str, Weigh); 2] = [
        ("series_values", "values of metrics by iteration", weights_of_values),
        ("series_map", "the map of locations over iterations", weights_of_map),
    ];
    for (name, what, weigh) in tables {
        let added = source.opened.table(name).and_then(|table| {
            let Some(table) = table else { return Ok(true) };
            let weights = source.opened.in_details(weigh(source, main_loop, &table))?;
            add_heaviest(source, main_loop, &table, &weights, what, blocks)
        });
        match added {
            Ok(true) => {}
            // The map goes before the values.
            Ok(false) => {
                let missing = tables.iter().skip_while(|it| it.0 != name);
                blocks
                    .limits
                    .extend(missing.map(|(_, what, _)| format!("{what}: it does not fit into the page")));
                break;
            }
            Err(error) => blocks.limits.push(format!("{what}: {error}; shown without")),
        }
    }
    Ok(())
}

/// Refuses loops that cannot be, and iterations that are not those of the loop.
fn check(manifest: &Manifest, main_loop: &MainLoop, table: &Table, locations: usize) -> Result<()> {
    let rows = series::iterations(manifest, main_loop, table, locations)?;
    let MainLoop { iterations, block, map_span, map_block, .. } = *main_loop;
    let cells = || (locations as u64).div_ceil(map_span).checked_mul(iterations.div_ceil(map_block));
    let is_possible = block > 0
        && map_span > 0
        && map_block > 0
        && map_block.is_multiple_of(block)
        && iterations.div_ceil(block) == rows.len() as u64
        && cells().is_some_and(|cells| cells <= MOST_CELLS);
    let mut numbers = (0..).zip(&rows);
    if is_possible && numbers.all(|(row, it)| it.number == row * block + 1) {
        return Ok(());
    }
    Err(Error::new(format!(
        "{iterations} iterations of the manifest, {} rows of series: impossible",
        rows.len()
    )))
}

/// What the page has to know of the loop.
fn described(source: &Source<'_>, manifest: &Manifest, main_loop: &MainLoop) -> Value {
    let cube = source.values.cube();
    let causes = main_loop.causes.iter().filter(|cause| {
        let is_there = |at: u32, count: usize| usize::try_from(at).is_ok_and(|at| at < count);
        is_there(cause.location, cube.locations.len()) && is_there(cause.cnode, cube.cnodes.len())
    });
    json!({
        "iterations": main_loop.iterations,
        "block": main_loop.block,
        "locations": main_loop.locations,
        "crossing": main_loop.crossing,
        "disagreeing": main_loop.disagreeing,
        "kinds": main_loop.kinds,
        "trend": main_loop.trend,
        "causes": causes.collect::<Vec<_>>(),
        "map_span": main_loop.map_span,
        "map_block": main_loop.map_block,
        "recorded": manifest.recorded,
    })
}

/// The number in the report of a metric of the loop, if it is shown.
fn metric(source: &Source<'_>, main_loop: &MainLoop, at: usize) -> Option<cubex::MetricId> {
    let id = source.values.cube().metric_named(main_loop.metrics.get(at)?)?;
    source.values.is_visible(id).then_some(id)
}

/// Whether values of a metric of the loop are times.
fn is_time(source: &Source<'_>, main_loop: &MainLoop, at: usize) -> bool {
    metric(source, main_loop, at).is_some_and(|id| source.values.of_metric(id).unit == Unit::Seconds)
}

/// The ticks of each metric in iterations, once all rows have been read without a mistake; nothing of those that are no times.
fn weights_of_values(source: &Source<'_>, main_loop: &MainLoop, table: &Table) -> Result<Vec<i128>> {
    let columns = Columns::of("series_values", table);
    let metrics = columns.positions("metric", main_loop.metrics.len())?;
    columns.positions("location", source.values.cube().locations.len())?;
    let [numbers, sums, least, most] =
        ["iteration", "sum", "least", "most"].map(|name| columns.integers(name));
    let (numbers, sums) = (numbers?, sums?);
    least?;
    most?;
    let mut weights = vec![0; main_loop.metrics.len()];
    for (row, metric) in metrics.iter().enumerate() {
        let is_known = |number: &u64| {
            *number == 0 || *number <= main_loop.iterations && (number - 1).is_multiple_of(main_loop.block)
        };
        let number = u64::try_from(numbers[row]).ok().filter(is_known);
        let (Some(metric), Some(number)) = (*metric, number) else {
            return Err(columns.wrong(&format!("row {row}: no metric, or no iteration has its number")));
        };
        if number > 0 && is_time(source, main_loop, metric) {
            weights[metric] += i128::from(sums[row]);
        }
    }
    Ok(weights)
}

/// The ticks of each metric, once all cells have been read without a mistake.
fn weights_of_map(source: &Source<'_>, main_loop: &MainLoop, table: &Table) -> Result<Vec<i128>> {
    let mut weights = vec![0; main_loop.metrics.len()];
    series::for_each_cell(main_loop, table, source.values.cube().locations.len(), |cell| {
        weights[cell.metric] += i128::from(cell.ticks);
        Ok(())
    })?;
    Ok(weights)
}

/// Adds a table with rows of the metrics that weigh most: all, or as many as there is room for. Returns whether there is any.
fn add_heaviest(
    source: &Source<'_>,
    main_loop: &MainLoop,
    table: &Table,
    weights: &[i128],
    what: &str,
    blocks: &mut Blocks,
) -> Result<bool> {
    let metrics = Columns::of(&table.name, table).positions("metric", weights.len())?;
    let mut heaviest: Vec<usize> =
        (0..weights.len()).filter(|&at| metric(source, main_loop, at).is_some()).collect();
    heaviest.sort_by_key(|&at| (Reverse(weights[at]), at));
    heaviest.retain(|&at| metrics.contains(&Some(at)));
    let all = heaviest.len();
    while !heaviest.is_empty() {
        let is_kept = |row: &usize| metrics[*row].is_some_and(|at| heaviest.contains(&at));
        let rows: Vec<usize> = (0..metrics.len()).filter(is_kept).collect();
        let numbers = rows
            .iter()
            .map(|&row| position(metrics[row].and_then(|at| metric(source, main_loop, at)).map(|id| id.0)));
        let others = table.columns.iter().filter(|it| !["metric", "fraction"].contains(&it.name.as_str()));
        let mut columns = vec![Column::new("metric", None, Rows::U32(numbers.collect())).delta()];
        columns
            .extend(others.map(|column| Column { values: chosen(&column.values, &rows), ..column.clone() }));
        if blocks.table_within(&Table { name: table.name.clone(), columns }, PART)? {
            break;
        }
        heaviest.truncate(heaviest.len() / 2);
    }
    let kept = heaviest.len();
    if (1..all).contains(&kept) {
        blocks.limits.push(format!("{what}: those of the {kept} of {all} metrics with most time are there"));
    }
    Ok(kept > 0 || all == 0)
}

/// Some rows of a column.
fn chosen(values: &Rows, rows: &[usize]) -> Rows {
    fn of<T: Clone>(all: &[T], rows: &[usize]) -> Vec<T> {
        rows.iter().map(|&row| all[row].clone()).collect()
    }
    match values {
        Rows::U8(all) => Rows::U8(of(all, rows)),
        Rows::U16(all) => Rows::U16(of(all, rows)),
        Rows::U32(all) => Rows::U32(of(all, rows)),
        Rows::U64(all) => Rows::U64(of(all, rows)),
        Rows::I64(all) => Rows::I64(of(all, rows)),
        Rows::F64(all) => Rows::F64(of(all, rows)),
        Rows::Bytes(all) => Rows::Bytes(of(all, rows)),
    }
}
