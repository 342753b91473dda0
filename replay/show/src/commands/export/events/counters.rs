//! Counters over time, from the tables `grid` and `flow`: how many locations wait, and what is in flight.

use std::collections::BTreeMap;

use super::nanoseconds;
use crate::commands::export::source::Source;
use crate::error::Result;
use crate::tables::{Columns, cells};

/// A number that changes over time.
#[derive(Clone, PartialEq, Debug)]
pub(in crate::commands::export) struct Series {
    /// Its name, and the node that it is about; `None` for the whole run.
    pub(in crate::commands::export) name: &'static str,
    pub(in crate::commands::export) node: Option<usize>,
    pub(in crate::commands::export) unit: &'static str,
    /// Times in nanoseconds since the begin of the trace, from which on the number is this.
    pub(in crate::commands::export) points: Vec<(i64, f64)>,
}

/// The counters of a report: none if it has no such tables, or a window was asked for.
///
/// # Errors
/// If a table is damaged.
pub(in crate::commands::export) fn counters(source: &Source<'_>) -> Result<Vec<Series>> {
    if source.args.window.is_some() || source.args.instances.is_some() {
        return Ok(Vec::new());
    }
    let mut series = waiting(source)?;
    series.extend(flow(source)?);
    Ok(series)
}

/// The number of locations that wait, by node, from the finest level of locations.
fn waiting(source: &Source<'_>) -> Result<Vec<Series>> {
    let Some(manifest) = &source.opened.manifest else { return Ok(Vec::new()) };
    let (Some(level), Some(table)) = (manifest.levels.first(), source.opened.table("grid")?) else {
        return Ok(Vec::new());
    };
    let cube = source.cube();
    let node_of = |group: u64| {
        let location = usize::try_from(group.saturating_mul(level.span)).ok()?;
        let location = cube.locations.get(location).filter(|_| source.locations[location])?;
        Some(cube.location_groups.get(location.group.0)?.system_tree_node.0)
    };
    let mut sums: BTreeMap<(usize, u64), i64> = BTreeMap::new();
    cells::for_each(
        manifest,
        &table,
        |level| level == 0,
        |cell| {
            if manifest.classes[cell.class].role == "wait"
                && let Some(node) = node_of(cell.group)
            {
                let sum = sums.entry((node, cell.bin)).or_default();
                *sum = sum.saturating_add(cell.ticks);
            }
            Ok(())
        },
    )?;
    #[expect(clippy::cast_precision_loss, reason = "a mean number of locations")]
    let mean = |ticks: i64| ticks as f64 / level.bin_ticks.max(1) as f64;
    let time = |bin: u64| {
        let ticks = i64::try_from(bin.saturating_mul(level.bin_ticks)).unwrap_or(i64::MAX);
        nanoseconds(ticks, manifest.ticks_per_second)
    };
    let mut series: BTreeMap<usize, Vec<(i64, f64)>> = BTreeMap::new();
    let mut last: Option<(usize, u64)> = None;
    for (&(node, bin), &ticks) in &sums {
        // Bins without waiting have no cell.
        if let Some((before, end)) = last.filter(|&(before, end)| before != node || end < bin) {
            series.entry(before).or_default().push((time(end), 0.0));
        }
        series.entry(node).or_default().push((time(bin), mean(ticks)));
        last = Some((node, bin + 1));
    }
    if let Some((node, end)) = last {
        series.entry(node).or_default().push((time(end), 0.0));
    }
    let named =
        |(node, points)| Series { name: "waiting locations", node: Some(node), unit: "locations", points };
    Ok(series.into_iter().map(named).collect())
}

/// Messages in flight, and bytes and messages that begin, of the whole run.
fn flow(source: &Source<'_>) -> Result<Vec<Series>> {
    let Some(manifest) = &source.opened.manifest else { return Ok(Vec::new()) };
    let Some(table) = source.opened.table("flow")? else { return Ok(Vec::new()) };
    let columns = Columns::of("flow", &table);
    // A row for each fine bin, which the last level has.
    let width = manifest.levels.last().map_or(1, |level| level.bin_ticks);
    let known = [
        ("in_flight", "messages in flight", "messages"),
        ("bytes", "bytes that begin", "bytes"),
        ("messages", "messages that begin", "messages"),
    ];
    let mut all = Vec::new();
    for (column, name, unit) in known.into_iter().filter(|(column, ..)| columns.has(column)) {
        let mut points: Vec<(i64, f64)> = Vec::new();
        for (bin, &value) in (0_u64..).zip(&columns.integers(column)?) {
            let ticks = i64::try_from(bin.saturating_mul(width)).unwrap_or(i64::MAX);
            #[expect(clippy::cast_precision_loss, reason = "for a picture")]
            let value = value as f64;
            #[expect(clippy::float_cmp, reason = "the same integer")]
            let is_new = points.last().is_none_or(|last| last.1 != value);
            if is_new {
                points.push((nanoseconds(ticks, manifest.ticks_per_second), value));
            }
        }
        all.push(Series { name, node: None, unit, points });
    }
    Ok(all)
}
