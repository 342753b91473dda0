//! Ratios of functions: call paths of one function have no sum of ratios, but a ratio of sums.

use cubex::MetricId;

use super::Shown;
use super::nodes::Node;
use crate::error::{Result, or_obstacle};
use crate::places;
use crate::values::Values;

/// Where the value of a quantity that is shown comes from.
enum Column {
    /// It is that of a quantity that was combined, by position.
    Combined(usize),
    /// It is worked out of those of others: metrics, and their positions.
    Ratio(Vec<(MetricId, usize)>),
}

/// Makes a tree by `combine`, which combines values of call paths in nodes: of ratios, it gets what they are made of.
///
/// # Errors
/// If that cannot be read.
pub(super) fn tree(
    values: &Values<'_>,
    shown: &[Shown],
    combine: impl FnOnce(&[Shown]) -> Vec<Node>,
) -> Result<Vec<Node>> {
    let mut combined: Vec<Shown> = Vec::new();
    let mut columns = Vec::new();
    for (quantity, totals) in shown {
        let Some(operands) = values.operands(quantity).filter(|_| totals.is_ok()) else {
            columns.push(Column::Combined(combined.len()));
            combined.push((quantity.clone(), totals.clone()));
            continue;
        };
        let mut places = Vec::new();
        for operand in operands {
            let Some(metric) = operand.metric else { continue };
            places.push((metric, combined.len()));
            let totals = or_obstacle(values.totals(&operand, &places::all(values.cube())))?;
            combined.push((operand, totals));
        }
        columns.push(Column::Ratio(places));
    }
    let mut nodes = combine(&combined);
    for node in &mut nodes {
        let of = |is_exclusive: bool| if is_exclusive { &node.exclusive } else { &node.inclusive };
        let value = |(column, (quantity, _)): (&Column, &Shown), is_exclusive| match column {
            Column::Combined(at) => Ok(of(is_exclusive)[*at]),
            Column::Ratio(places) => values.of_operands(quantity, is_exclusive, |needed, is_exclusive| {
                let place = places.iter().find(|(metric, _)| *metric == needed)?;
                Some(of(is_exclusive)[place.1])
            }),
        };
        let all = |is_exclusive| columns.iter().zip(shown).map(move |it| value(it, is_exclusive)).collect();
        let (inclusive, exclusive): (Result<Vec<f64>>, Result<Vec<f64>>) = (all(false), all(true));
        (node.inclusive, node.exclusive) = (inclusive?, exclusive?);
    }
    Ok(nodes)
}
