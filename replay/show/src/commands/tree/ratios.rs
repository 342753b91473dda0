//! Ratios of functions: call paths of one function have no sum of ratios, but a ratio of sums.

use super::Shown;
use super::nodes::Node;
use crate::error::{Result, or_obstacle};
use crate::places;
use crate::values::{Postderived, Values};

/// Where the value of a quantity that is shown comes from.
enum Column<'v> {
    /// It is that of a quantity that was combined, by position.
    Combined(usize),
    /// It is worked out of those of others, the first of which has this position.
    Ratio(Postderived<'v>, usize),
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
        let Some(expression) = values.postderived(quantity).filter(|_| totals.is_ok()) else {
            columns.push(Column::Combined(combined.len()));
            combined.push((quantity.clone(), totals.clone()));
            continue;
        };
        let first = combined.len();
        for &metric in expression.operands() {
            let operand = values.of_metric(metric);
            let totals = or_obstacle(values.totals(&operand, &places::all(values.cube())))?;
            combined.push((operand, totals));
        }
        columns.push(Column::Ratio(expression, first));
    }
    let mut nodes = combine(&combined);
    for node in &mut nodes {
        let of = |is_exclusive: bool| if is_exclusive { &node.exclusive } else { &node.inclusive };
        let value = |column: &Column<'_>, is_exclusive| match column {
            Column::Combined(at) => Ok(of(is_exclusive)[*at]),
            Column::Ratio(expression, first) => expression.value(is_exclusive, |needed, is_exclusive| {
                let place = expression.operands().iter().position(|&metric| metric == needed)?;
                Some(of(is_exclusive)[first + place])
            }),
        };
        let all = |is_exclusive| columns.iter().map(move |column| value(column, is_exclusive)).collect();
        let (inclusive, exclusive): (Result<Vec<f64>>, Result<Vec<f64>>) = (all(false), all(true));
        (node.inclusive, node.exclusive) = (inclusive?, exclusive?);
    }
    Ok(nodes)
}
