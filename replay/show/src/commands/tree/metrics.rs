//! The tree of metrics with their sums over all call paths and locations.

use cubex::{Forest, MetricId};

use super::nodes::Limits;
use crate::error::{Result, or_obstacle};
use crate::output::{Cell, Column, Document, Output, Table};
use crate::places;
use crate::status::Status;
use crate::values::Values;

/// Prints the tree of metrics.
pub(super) fn print(values: &Values<'_>, limits: &Limits, output: &mut Output<'_>) -> Result<Status> {
    let cube = values.cube();
    let columns = vec![
        Column::new("title", ""),
        Column::new("value", "total"),
        Column::new("name", "unique name"),
        Column::data("unit"),
        Column::data("parent"),
        Column::data("description"),
    ];
    let mut table = Table::new("metrics", columns);
    let forest = Forest::new(cube.metrics.iter().map(|metric| metric.parent.map(|parent| parent.0)));
    let is_shown: Vec<bool> = (0..cube.metrics.len()).map(|at| values.is_visible(MetricId(at))).collect();
    let shown =
        |siblings: &[usize]| -> Vec<usize> { siblings.iter().copied().filter(|&at| is_shown[at]).collect() };
    let mut pending: Vec<(usize, Vec<bool>, Option<bool>)> =
        shown(forest.roots()).into_iter().rev().map(|root| (root, Vec::new(), None)).collect();
    while let Some((at, above, is_followed)) = pending.pop() {
        let mut lines = above.clone();
        lines.extend(is_followed);
        let children = shown(forest.children(at));
        if above.len() + 2 <= limits.depth || limits.depth > 1 && is_followed.is_none() {
            for (place, &child) in children.iter().enumerate().rev() {
                pending.push((child, lines.clone(), Some(place + 1 < children.len())));
            }
        }
        let quantity = values.of_metric(MetricId(at));
        let value = match or_obstacle(values.totals(&quantity, &places::all(cube)))? {
            Ok(totals) => Cell::value(totals.all, &quantity),
            Err(why) => Cell::Obstacle(why),
        };
        let metric = &cube.metrics[at];
        let parent = metric.parent.map(|parent| cube.metrics[parent.0].unique_name.clone());
        table.rows.push(vec![
            Cell::Node { above, is_followed, name: quantity.title },
            value,
            Cell::Name(metric.unique_name.clone()),
            Cell::Data(quantity.unit.name().into()),
            Cell::Data(parent.into()),
            Cell::Data(metric.description.clone().into()),
        ]);
    }
    let mut document = Document::new("metrics");
    document.table(table);
    output.print(&document)?;
    Ok(Status::Done)
}
