//! How unequal values are: quartiles, imbalance, and a histogram of the first metric.

use super::ColumnOf;
use crate::output::{Cell, Column, Document, Line, Style, Table};
use crate::values::{Combine, Quantity, Unit};

/// Bars of the histogram.
const BARS: usize = 8;

/// What is said of the values of a metric.
struct Distribution {
    mean: f64,
    /// Least, quartiles, greatest.
    quartiles: [f64; 5],
}

impl Distribution {
    /// That of values; `None` without any.
    fn of(values: &[f64]) -> Option<Distribution> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().checked_sub(1)?;
        // Between two values that are there, as R and NumPy do by default.
        let quantile = |quarter: usize| {
            let (place, rest) = (quarter * last / 4, quarter * last % 4);
            let next = sorted[(place + 1).min(last)];
            #[expect(clippy::cast_precision_loss, reason = "0 to 3")]
            let share = rest as f64 / 4.0;
            sorted[place] + share * (next - sorted[place])
        };
        #[expect(clippy::cast_precision_loss, reason = "a number of locations")]
        let mean = sorted.iter().sum::<f64>() / sorted.len() as f64;
        Some(Distribution { mean, quartiles: std::array::from_fn(quantile) })
    }
}

/// Adds a table of all metrics, and the histogram.
pub(crate) fn add(columns: &[ColumnOf], document: &mut Document) {
    let mut titles = vec![Column::new("of", "")];
    titles.extend(
        columns.iter().map(|column| Column::new(column.quantity.name.clone(), column.quantity.title.clone())),
    );
    let mut table = Table::new("distribution", titles);
    let distributions: Vec<_> = columns
        .iter()
        .map(|column| Distribution::of(&known(&column.quantity, column.sums.as_deref().ok()?)))
        .collect();
    let mut add = |name: &str, value: &dyn Fn(&Distribution, &Unit) -> Cell| {
        let mut row = vec![Cell::Words(Line::styled(name, Style::Dim))];
        row.extend(columns.iter().zip(&distributions).map(|(column, distribution)| {
            let is_number = column.quantity.combine == Combine::Sum;
            distribution
                .as_ref()
                .filter(|_| is_number)
                .map_or(Cell::Nothing, |it| value(it, &column.quantity.unit))
        }));
        table.rows.push(row);
    };
    let number = |value: f64, unit: &Unit| Cell::Number(value, unit.clone());
    add("mean", &|it, unit| number(it.mean, unit));
    for (at, name) in ["least", "quarter", "median", "three quarters", "most"].into_iter().enumerate() {
        add(name, &|it, unit| number(it.quartiles[at], unit));
    }
    add("most / mean", &|it, _| match it.mean > 0.0 {
        true => Cell::Ratio(it.quartiles[4] / it.mean),
        false => Cell::Nothing,
    });
    document.gap();
    document.table(table);
    if let Some(ColumnOf { quantity, sums: Ok(sums) }) = columns.first()
        && known(quantity, sums).len() > 1
        && quantity.combine == Combine::Sum
    {
        document.gap();
        document.text(Line::styled(format!("{}: how many have how much", quantity.title), Style::Dim));
        histogram(&known(quantity, sums), &quantity.unit, document);
    }
}

/// The values of groups that have one.
fn known(quantity: &Quantity, sums: &[Option<f64>]) -> Vec<f64> {
    sums.iter().copied().flatten().filter_map(|sum| quantity.known(sum)).collect()
}

fn histogram(values: &[f64], unit: &Unit, document: &mut Document) {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !(least.is_finite() && most.is_finite()) {
        return;
    }
    #[expect(clippy::cast_precision_loss, reason = "a small number")]
    let step = (most - least) / BARS as f64;
    let mut counts = [0_usize; BARS];
    for value in values {
        // The greatest value belongs to the last bar.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "from 0 to the number of bars"
        )]
        let bar = if step > 0.0 { ((value - least) / step) as usize } else { 0 };
        counts[bar.min(BARS - 1)] += 1;
    }
    let largest = counts.iter().copied().max().unwrap_or(1).max(1);
    let mut table = Table::new(
        "histogram",
        vec![Column::new("from", ""), Column::new("to", ""), Column::new("count", ""), Column::text("")],
    );
    for (bar, &count) in counts.iter().enumerate().take(if step > 0.0 { BARS } else { 1 }) {
        #[expect(clippy::cast_precision_loss, reason = "a small number")]
        let (from, to) = (least + step * bar as f64, least + step * (bar + 1) as f64);
        #[expect(clippy::cast_precision_loss, reason = "a share")]
        let bar = Cell::Bar(count as f64 / largest as f64);
        table.rows.push(vec![
            Cell::Number(from, unit.clone()),
            Cell::Number(to, unit.clone()),
            Cell::count(count),
            bar,
        ]);
    }
    document.table(table);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_are_those_of_other_programs() {
        let distribution = Distribution::of(&[4.0, 1.0, 3.0, 2.0]).unwrap();
        assert_eq!(distribution.quartiles, [1.0, 1.75, 2.5, 3.25, 4.0]);
        assert_eq!(distribution.mean, 2.5);
        assert!(Distribution::of(&[]).is_none());
    }
}
