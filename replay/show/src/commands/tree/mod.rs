//! `tree`: values of metrics along the call tree, by function, by caller, or along the tree of metrics.

mod callers;
mod calls;
mod flat;
mod metrics;
mod nodes;
mod ratios;

use std::path::PathBuf;

use clap::ValueEnum;

use crate::error::{Result, or_obstacle};
use crate::opened::Opened;
use crate::output::{Document, Output};
use crate::places;
use crate::status::Status;
use crate::values::{Quantity, Totals, Values};
pub(crate) use calls::place;
use nodes::Limits;

/// Metrics that are shown if none are named, as far as a report has them.
const METRICS: [&str; 3] = ["time", "waiting", "delay"];

/// The least share of a metric that is shown to people if they do not say one.
const LEAST: f64 = 0.01;

/// Arguments of `tree`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The report, or an experiment directory
    pub file: PathBuf,

    /// Metrics by unique name, with commas between them [default: time,waiting,delay]
    #[arg(short, long = "metric", value_name = "LIST", value_delimiter = ',')]
    pub metric: Vec<String>,

    /// Only call paths that match, with those below, such as 'main/**/MPI_*'
    #[arg(long, value_name = "GLOB")]
    pub path: Option<String>,

    /// Only what has this share of a metric [default: 1%; scripts get everything]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub min: Option<f64>,

    /// Only so many levels
    #[arg(long, value_name = "N")]
    pub depth: Option<usize>,

    /// Values of call paths alone, without those below
    #[arg(long)]
    pub exclusive: bool,

    /// The tree of metrics instead of call paths
    #[arg(long, conflicts_with_all = ["flat", "callers", "metric", "exclusive"])]
    pub metrics: bool,

    /// A list of functions
    #[arg(long, conflicts_with = "callers")]
    pub flat: bool,

    /// Bottom up: functions, and below them who calls them
    #[arg(long)]
    pub callers: bool,

    /// Order of siblings [default: order; value with --flat and --callers]
    #[arg(long, value_enum)]
    pub sort: Option<Sort>,
}

/// Order of siblings.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sort {
    /// By the first metric, the largest first.
    Value,
    /// By name.
    Name,
    /// As in the report.
    Order,
}

/// Reads a share: `1%`, or a number from 0 to 1.
pub(crate) fn share(text: &str) -> std::result::Result<f64, String> {
    let (number, whole) = text.strip_suffix('%').map_or((text, 1.0), |number| (number.trim_end(), 100.0));
    let share = number.parse().ok().map(|number: f64| number / whole);
    share
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or("a share is a percentage such as 1%, or a number from 0 to 1".into())
}

/// A metric with its values, or what is printed in their place.
pub(crate) type Shown = (Quantity, std::result::Result<Totals, &'static str>);

/// The metrics that are named, or else those that a report has of the default ones, or its first.
///
/// # Errors
/// If one that is named does not exist.
pub(crate) fn quantities(values: &Values<'_>, names: &[String], defaults: &[&str]) -> Result<Vec<Quantity>> {
    if !names.is_empty() {
        return names.iter().map(|name| values.quantity(name)).collect();
    }
    let known: Vec<Quantity> = defaults.iter().filter_map(|name| values.find(name)).collect();
    if !known.is_empty() {
        return Ok(known);
    }
    let visible = (0..values.cube().metrics.len()).map(cubex::MetricId).filter(|&id| values.is_visible(id));
    Ok(visible.take(1).map(|id| values.of_metric(id)).collect())
}

/// Prints the tree.
///
/// # Errors
/// If the report or a metric cannot be read.
pub fn run(args: &Args, output: &mut Output<'_>) -> Result<Status> {
    let opened = Opened::open(&args.file, output)?;
    let values = Values::new(&opened.report);
    let least = if output.is_for_scripts() { 0.0 } else { LEAST };
    let sort = if args.flat || args.callers { Sort::Value } else { Sort::Order };
    let mut limits = Limits {
        least: args.min.unwrap_or(least),
        depth: args.depth.unwrap_or(usize::MAX),
        sort: args.sort.unwrap_or(sort),
        is_exclusive: args.exclusive,
        selected: None,
    };
    if args.metrics {
        return metrics::print(&values, &limits, output);
    }
    if let Some(glob) = &args.path {
        limits.selected = Some(crate::paths::matching(&values, glob)?);
    }
    let mut shown: Vec<Shown> = Vec::new();
    for quantity in quantities(&values, &args.metric, &METRICS)? {
        let totals = or_obstacle(values.totals(&quantity, &places::all(values.cube())))?;
        shown.push((quantity, totals));
    }
    let mut document = Document::new("tree");
    let tree = match (args.flat, args.callers) {
        (true, _) => ratios::tree(&values, &shown, |summed| flat::tree(&values, summed, &mut limits))?,
        (_, true) => ratios::tree(&values, &shown, |summed| callers::tree(&values, summed, &mut limits))?,
        _ => calls::tree(&values, &shown, output.is_for_scripts())?,
    };
    document.fact("file", opened.path.display().to_string());
    document.fact(
        "kind",
        if args.flat {
            "flat"
        } else if args.callers {
            "callers"
        } else {
            "calls"
        },
    );
    nodes::show(&tree, &shown, &limits, &mut document);
    output.print(&document)?;
    Ok(Status::Done)
}
