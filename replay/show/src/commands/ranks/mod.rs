//! `ranks`: values by location, process, node, or place in a topology, and how unequal they are.

pub(crate) mod distribution;
mod grid;
mod groups;

use std::path::PathBuf;

use serde_json::Value;

use crate::commands::tree;
use crate::error::{Result, or_obstacle};
use crate::opened::Opened;
use crate::output::{Cell, Column, Document, Line, Output, Style, Table};
use crate::overview::words;
use crate::paths;
use crate::places;
use crate::status::Status;
use crate::values::{Quantity, Values};
use groups::Group;

/// Metrics that are shown if none are named, as far as a report has them; the first decides the order.
const METRICS: [&str; 3] = ["waiting", "delay", "time"];

/// Rows that people get if they do not say how many.
const TOP: usize = 10;

/// Arguments of `ranks`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The report, or an experiment directory
    pub file: PathBuf,

    /// Metrics by unique name, with commas between them; the first decides the order [default: waiting,delay,time]
    #[arg(short, long = "metric", value_name = "LIST", value_delimiter = ',')]
    pub metric: Vec<String>,

    /// Only call paths that match, with those below, such as 'main/**/MPI_*'
    #[arg(long, value_name = "GLOB")]
    pub path: Option<String>,

    /// Values of what: location, process, node, topology or topology=NAME
    #[arg(long, value_name = "WHAT", default_value = "location", value_parser = groups::By::parse)]
    pub by: groups::By,

    /// Only so many, the largest [default: 10; scripts get all]
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
}

/// Prints values by location, or groups of locations.
///
/// # Errors
/// If the report or a metric cannot be read, or there is no such topology.
pub fn run(args: &Args, output: &mut Output<'_>) -> Result<Status> {
    let opened = Opened::open(&args.file, output)?;
    let values = Values::new(&opened.report);
    let cube = values.cube();
    let quantities = tree::quantities(&values, &args.metric, &METRICS)?;
    let selected = args.path.as_deref().map(|glob| selected(&values, glob)).transpose()?;
    let groups = groups::groups(cube, &args.by)?;
    let is_known = places::recorded(&values)?;
    let mut columns = Vec::new();
    for quantity in quantities {
        let is_selected = |cnode: cubex::CnodeId| selected.as_ref().is_none_or(|selected| selected[cnode.0]);
        let grouped = |row: &[f64], combine| -> Vec<Option<f64>> {
            groups.iter().map(|group| group.sum(row, &is_known, combine)).collect()
        };
        let sums = or_obstacle(values.by_group(&quantity, &is_selected, &grouped))?;
        columns.push(ColumnOf { quantity, sums });
    }
    let mut document = Document::new("ranks");
    document.fact("file", opened.path.display().to_string());
    document.fact("by", args.by.name());
    if let groups::By::Topology(_) = &args.by {
        grid::draw(&groups, columns.first(), output.screen(), &mut document);
    }
    let top = args.top.unwrap_or(if output.is_for_scripts() { usize::MAX } else { TOP });
    add_table(&groups, &columns, top, &mut document);
    let unknown = groups.iter().filter(|group| group.is_unknown(&is_known)).count();
    if unknown > 0 {
        let text = format!("{}, and left out below", words::unknown(unknown, groups.len()));
        document.text(Line::styled(text, Style::Warning));
    }
    distribution::add(&columns, &mut document);
    output.print(&document)?;
    Ok(Status::Done)
}

/// The call paths that match, with those below.
///
/// # Errors
/// If there are none.
fn selected(values: &Values<'_>, glob: &str) -> Result<Vec<bool>> {
    Ok(paths::with_those_below(values, paths::matching(values, glob)?))
}

/// A metric with a value for each group, or what is printed in their place.
pub(crate) struct ColumnOf {
    pub(crate) quantity: Quantity,
    /// `None` where nothing is known of a group.
    pub(crate) sums: std::result::Result<Vec<Option<f64>>, &'static str>,
}

fn add_table(groups: &[Group], columns: &[ColumnOf], top: usize, document: &mut Document) {
    let mut titles = vec![Column::new("name", "")];
    let title = |column: &ColumnOf| Column::new(column.quantity.name.clone(), column.quantity.title.clone());
    titles.extend(columns.iter().map(title));
    titles.extend(["number", "coordinates"].map(Column::data));
    let mut table = Table::new("rows", titles);
    let mut order: Vec<usize> = (0..groups.len()).collect();
    if let Some(ColumnOf { quantity, sums: Ok(sums) }) = columns.first() {
        // Those that are unknown come last, and what is of nothing.
        let known = |sum| quantity.known(sum);
        let size = |at: usize| sums[at].and_then(known).unwrap_or(f64::NEG_INFINITY);
        order.sort_by(|&a, &b| size(b).total_cmp(&size(a)));
    }
    for &at in order.iter().take(top) {
        let group = &groups[at];
        let mut row = vec![Cell::Name(group.name.clone())];
        row.extend(columns.iter().map(|column| match &column.sums {
            Ok(sums) => match sums[at] {
                Some(value) => Cell::value(value, &column.quantity),
                None => Cell::Obstacle("unknown"),
            },
            Err(why) => Cell::Obstacle(why),
        }));
        row.push(Cell::count(at));
        row.push(Cell::Data(group.position.clone().map_or(Value::Null, Value::from)));
        table.rows.push(row);
    }
    document.table(table);
    document.more(groups.len(), top, "--top");
}
