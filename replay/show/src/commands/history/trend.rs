//! `history show`: trends with sparklines, and the lines at which something changed.

use std::path::PathBuf;

use super::line::HistoryLine;
use crate::compare::reading::Base;
use crate::compare::samples::median;
use crate::error::{Error, Result};
use crate::output::{Cell, Column, Document, Line, Output, Screen, Style, Table, numbers};
use crate::status::Status;
use crate::values::WAITING;

/// Lines before, that a change is measured by; and lines that have to show it.
const BEFORE: usize = 10;
const SHOWING: usize = 3;

/// Standard deviations of a normal distribution in its median absolute deviation, and how many are a change.
const DEVIATIONS: f64 = 3.0 * 1.4826;

/// The least change, as a share of the median: of runs that are equal to the last digit anything would be one.
const LEAST: f64 = 0.005;

/// Arguments of `history show`.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Args {
    /// The log
    log: PathBuf,

    /// Metrics by unique name, run, or waiting, with commas between them [default: run, waiting and the largest wait states]
    #[arg(short, long = "metric", value_name = "LIST", value_delimiter = ',')]
    metric: Vec<String>,

    /// Only so many of the last lines
    #[arg(long, value_name = "N", default_value = "60")]
    last: usize,
}

/// Wait states that are shown if no metrics are named.
const WAITS: usize = 3;

/// Prints the trends.
pub(super) fn run(args: &Args, output: &mut Output<'_>) -> Result<Status> {
    let lines = super::read(&args.log)?;
    if lines.is_empty() {
        return Err(Error::new("no lines: 'replay-show history add' appends them").in_file(&args.log));
    }
    // Lines of one program on one base: others cannot be compared.
    let mut kinds = Vec::new();
    for line in &lines {
        let kind = (line.shape(), line.base);
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let mut document = Document::new("history");
    document.fact("log", args.log.display().to_string());
    let columns = vec![
        Column::new("program", "runs of"),
        Column::new("metric", "mean per location"),
        Column::new("first", "first"),
        Column::new("last", "last"),
        Column::new("change", "change"),
        Column::text(""),
        Column::data("values"),
        Column::data("changes"),
    ];
    let mut table = Table::new("trends", columns);
    let mut changes = Vec::new();
    for (shape, base) in kinds {
        let is_own = |line: &&HistoryLine| line.shape() == shape && line.base == base;
        let own: Vec<&HistoryLine> = lines.iter().filter(is_own).collect();
        let shape = format!("{shape}{}", base.map_or(", no word of details", Base::remark));
        let own = &own[own.len().saturating_sub(args.last.max(1))..];
        let names = if args.metric.is_empty() { default_metrics(own) } else { args.metric.clone() };
        for name in names {
            // Lines that did not measure it are left out, and are not 0.
            let known: Vec<(usize, f64)> =
                own.iter().enumerate().filter_map(|(at, line)| Some((at, line.mean(&name)?))).collect();
            let values: Vec<f64> = known.iter().map(|(_, value)| *value).collect();
            let (Some(&first), Some(&last)) = (values.first(), values.last()) else {
                return Err(Error::new(format!("no metric {name} in lines of {shape}")).in_file(&args.log));
            };
            let unit = own[known[0].0].unit(&name);
            let points = change_points(&values);
            let relative = if first == last { 0.0 } else { (last - first) / first.abs() };
            for &(at, before, after) in &points {
                let label = own[known[at].0].label();
                let label = if label.is_empty() { format!("line {}", known[at].0 + 1) } else { label };
                let decimals = numbers::decimals(before.max(after));
                let [before, after] = [before, after].map(|value| numbers::of_unit(value, &unit, decimals));
                changes.push(format!("{name}: {before} → {after} since {label} ({shape})"));
            }
            let point = |&(at, before, after): &(usize, f64, f64)| serde_json::json!({"labels": own[known[at].0].labels, "before": before, "after": after});
            table.rows.push(vec![
                Cell::Name(shape.clone()),
                Cell::Name(name),
                Cell::Number(first, unit.clone()),
                Cell::Number(last, unit),
                Cell::Change(relative, Style::Plain),
                Cell::Words(sparkline(&values, output.screen()).into()),
                Cell::Data(values.into()),
                Cell::Data(points.iter().map(point).collect()),
            ]);
        }
    }
    document.table(table);
    if !changes.is_empty() {
        document.gap();
        document.text(Line::styled("changed", Style::Strong));
    }
    changes.into_iter().for_each(|change| document.text(Line::from(change).indented(1)));
    output.print(&document)?;
    Ok(Status::Done)
}

/// The run, waiting, and the wait states with most waiting in the last line.
fn default_metrics(lines: &[&HistoryLine]) -> Vec<String> {
    let mut names = vec!["run".to_owned()];
    let Some(last) = lines.last() else { return names };
    if last.waiting.is_some() {
        names.push(WAITING.to_owned());
    }
    let is_wait = |name: &str| patterns::PATTERNS.iter().any(|it| it.metric.id == name && it.is_waiting);
    let mut waits: Vec<(&String, f64)> = last
        .metrics
        .iter()
        .filter(|(name, _)| is_wait(name))
        .map(|(name, metric)| (name, metric.total))
        .collect();
    waits.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(other.0)));
    names.extend(
        waits.into_iter().filter(|(_, total)| *total > 0.0).take(WAITS).map(|(name, _)| name.clone()),
    );
    names
}

/// Where values leave the range of those before for several lines: the place, and the medians before and after.
fn change_points(values: &[f64]) -> Vec<(usize, f64, f64)> {
    let mut points = Vec::new();
    let mut begin = 0;
    let mut at = BEFORE;
    while let Some(next) = values.get(at..at + SHOWING) {
        let before = &values[begin.max(at - BEFORE)..at];
        let middle = median(before);
        let deviations: Vec<f64> = before.iter().map(|value| (value - middle).abs()).collect();
        let limit = (DEVIATIONS * median(&deviations)).max(LEAST * middle.abs());
        let is_outside = |is_above: bool| {
            next.iter().all(|value| if is_above { value - middle > limit } else { middle - value > limit })
        };
        if before.len() == BEFORE && (is_outside(true) || is_outside(false)) {
            points.push((at, middle, median(next)));
            // What was before is no measure of what comes after.
            begin = at;
            at += BEFORE;
        } else {
            at += 1;
        }
    }
    points
}

/// A line of blocks, from the least to the greatest value.
fn sparkline(values: &[f64], screen: &Screen) -> String {
    let signs: &[char] = if screen.is_unicode {
        &['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']
    } else {
        &['_', '.', '-', '=', '*', '#']
    };
    let (least, most) = crate::compare::samples::range(values);
    let sign = |value: &f64| {
        let height = if most > least { (value - least) / (most - least) } else { 0.0 };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "from 0 to the last sign"
        )]
        let at = (height * (signs.len() - 1) as f64).round() as usize;
        signs.get(at).copied().unwrap_or(signs[0])
    };
    values.iter().map(sign).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_lines_outside_are_a_change() {
        let noise = |at: i32| 1.0 + 0.01 * f64::from(at % 3);
        let mut values: Vec<f64> = (0..12).map(noise).collect();
        assert!(change_points(&values).is_empty());
        values.extend([1.5, 1.0, 1.5, 1.5, 1.5, 1.51]);
        let points = change_points(&values);
        assert_eq!(points.len(), 1, "{points:?}");
        assert_eq!((points[0].0, points[0].2), (14, 1.5), "a single line is none");
        values.extend((0..20).map(|at| 1.5 + 0.001 * f64::from(at % 2)));
        assert_eq!(change_points(&values).len(), 1, "the new level is no change");
        values.extend([1.0; 4]);
        assert_eq!(change_points(&values).len(), 2);
    }

    #[test]
    fn sparklines_are_ascii_where_needed() {
        let screen = Screen { width: 80, is_coloured: false, is_unicode: true };
        assert_eq!(sparkline(&[0.0, 1.0, 0.5], &screen), "▁█▅");
        assert_eq!(sparkline(&[2.0], &Screen { is_unicode: false, ..screen }), "_");
    }
}
