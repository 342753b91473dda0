//! Table `severities`: the values of all metrics that are not zero; of largest and smallest ones, and of ratios, all that there are.

use super::Kind::{Double, Int32};
use super::{Cell, Take, TakeRow, column, number};
use crate::commands::export::Remarks;
use crate::commands::export::source::Source;
use crate::error::{Result, or_obstacle};
use crate::values::Quantity;

/// Gives the rows, sorted by metric; within a metric, call paths come after those below them.
pub(super) fn give(source: &Source<'_>, take: &mut dyn Take, remarks: &mut Remarks) -> Result<()> {
    let columns = [
        column("metric", Int32),
        column("cnode", Int32),
        column("location", Int32),
        column("value", Double),
        column("inclusive", Double),
    ];
    let (quantities, missing) = quantities(source)?;
    if !missing.is_empty() {
        remarks.push(format!(
            "without {}: replay-show does not understand how these metrics are derived",
            missing.join(", ")
        ));
    }
    let rows = move |row: &mut TakeRow<'_>| {
        quantities.iter().try_for_each(|(metric, quantity)| of_metric(source, *metric, quantity, row))
    };
    take.table("severities", &columns, Box::new(rows))
}

/// Metrics with their positions in the report.
type Positions = Vec<(usize, Quantity)>;

/// Metrics of the report with their positions, those that were asked for if some were; and the names of those without
/// values.
fn quantities(source: &Source<'_>) -> Result<(Positions, Vec<String>)> {
    for name in &source.args.metric {
        source.values.quantity(name)?;
    }
    let (mut all, mut missing) = (Vec::new(), Vec::new());
    for at in 0..source.cube().metrics.len() {
        let id = cubex::MetricId(at);
        let quantity = source.values.of_metric(id);
        let is_wanted = if source.args.metric.is_empty() {
            source.values.is_visible(id)
        } else {
            source.args.metric.contains(&quantity.name)
        };
        match quantity.obstacle() {
            _ if !is_wanted => {}
            None => all.push((at, quantity)),
            Some(_) => missing.push(quantity.name),
        }
    }
    Ok((all, missing))
}

fn of_metric(source: &Source<'_>, metric: usize, quantity: &Quantity, take: &mut TakeRow<'_>) -> Result<()> {
    let Ok(mut rows) = or_obstacle(source.values.inclusive(quantity))? else { return Ok(()) };
    let shown = |value: f64| match quantity.known(value) {
        Some(value) if value != 0.0 || quantity.has_zero() => Cell::Double(value),
        _ => Cell::Nothing,
    };
    while let Some((cnode, inclusive, own)) = rows.next_with_own()? {
        for (location, &all) in inclusive.iter().enumerate().filter(|(at, _)| source.locations[*at]) {
            let value = own.map_or(Cell::Nothing, |own| shown(own[location]));
            let inclusive = shown(all);
            let is_something = |cell: &Cell<'_>| matches!(cell, Cell::Double(_));
            if is_something(&value) || is_something(&inclusive) {
                take(&[number(metric), number(cnode.0), number(location), value, inclusive])?;
            }
        }
    }
    Ok(())
}
