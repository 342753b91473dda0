//! `structure`: what a program does repeatedly, as a tree of calls and loops.

use std::path::PathBuf;

use details::manifest::Manifest;

use crate::error::{Error, Result};
use crate::graphs::tree::{Line as TreeLine, tree};
use crate::graphs::{counted, name_of, title};
use crate::opened::Opened;
use crate::output::{Cell, Column, Document, Line, Output, Style, Table, numbers};
use crate::places;
use crate::status::Status;
use crate::tables::structure::{Group, Level, Structure};
use crate::unrecorded;
use crate::values::Unit;

/// Columns that shares take.
const SHARE: usize = 9;

/// Arguments of `structure`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The report, or an experiment directory
    pub file: PathBuf,

    /// Another graph than that with most time; the first one is 1
    #[arg(short, long, value_name = "N", default_value_t = 1)]
    pub graph: usize,
}

/// Shows the tree of a group of locations.
///
/// # Errors
/// If the report has no structure or no such group, or it is damaged.
pub fn run(args: &Args, output: &mut Output<'_>) -> Result<Status> {
    let opened = Opened::open(&args.file, output)?;
    let structure = Structure::read(&opened)?;
    let group = args.graph.checked_sub(1).and_then(|at| structure.groups.get(at));
    let count = structure.groups.len();
    let mut document = Document::new("structure");
    document.fact("file", opened.path.display().to_string());
    document.fact("graphs", all(&structure));
    let Some(group) = group else {
        if args.graph == 1 {
            document.text("No call of MPI was recorded.");
            output.print(&document)?;
            return Ok(Status::Done);
        }
        return Err(Error::new(format!(
            "no graph {}: this report has {}, numbered from 1",
            args.graph,
            counted(count.try_into().unwrap_or(u64::MAX), "graph")
        )));
    };
    let sizes = places::sizes(opened.cube());
    let name = title(&name_of(opened.cube(), &sizes, group), group);
    document.fact("group", name.clone());
    document.text(Line::styled(name, Style::Strong).and(
        format!(": {}", measures(&structure, group, is_part(group, opened.manifest.as_ref()))),
        Style::Plain,
    ));
    let lines = tree(&structure, group);
    for line in &lines {
        document.text(shown(line, group));
    }
    document.table(data(&lines, &structure, group));
    for remark in remarks(&structure, group, opened.manifest.as_ref()) {
        document.text(Line::styled(remark, Style::Dim));
    }
    output.print(&document)?;
    Ok(Status::Done)
}

/// How many graphs there are, those included that are not kept.
fn all(structure: &Structure) -> u64 {
    structure.others.graphs + u64::try_from(structure.groups.len()).unwrap_or(u64::MAX)
}

/// Calls, places and loops of a group, and the main loop.
fn measures(structure: &Structure, group: &Group, is_part: bool) -> String {
    let whole = if is_part { "the recorded time" } else { "the time" };
    let off = || group.nodes.iter().filter(|node| node.is_gap);
    let steps = off().fold(group.steps, |steps, node| steps.saturating_sub(node.visits));
    let count = u64::from(group.count).saturating_sub(off().count() as u64);
    let places = format!("{} at {}", counted(steps, "call"), counted(count, "place"));
    match group.main.and_then(|number| group.loop_of(number)) {
        Some(main) => {
            let ticks = [main.times[0], group.own_ticks()].map(|ticks| structure.seconds(ticks));
            let share = numbers::share(ticks[0] / ticks[1].max(f64::MIN_POSITIVE));
            format!("{places}; {share} of {whole} is in iterations of LOOP {}", group.loop_name(main.number))
        }
        None if group.main.is_none() && !group.loops.is_empty() => {
            format!("{places}; none of the loops is the one of replay-analyze --loop")
        }
        None => format!("{places}; no loop"),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a share")]
fn share(line: &TreeLine, group: &Group) -> f64 {
    line.ticks as f64 / group.own_ticks().max(1) as f64
}

fn shown(line: &TreeLine, group: &Group) -> Line {
    let share = numbers::share(share(line, group));
    let mut text = Line::from(format!("{share:>7}  ")).indented(2 * line.depth).hanging(SHARE);
    if let Some(name) = &line.of_loop {
        text = text.and(format!("LOOP {name}  "), Style::Strong);
    }
    text.and(line.text.clone(), Style::Plain)
}

/// The lines for scripts.
fn data(lines: &[TreeLine], structure: &Structure, group: &Group) -> Table {
    let keys = ["depth", "loop", "share", "seconds", "calls", "text"];
    let mut table = Table::new("lines", keys.map(Column::data).into());
    for line in lines {
        table.rows.push(vec![
            Cell::count(line.depth),
            line.of_loop.clone().map_or(Cell::Nothing, Cell::Name),
            Cell::Share(share(line, group)),
            Cell::Number(structure.seconds(line.ticks), Unit::Seconds),
            Cell::Integer(i64::try_from(line.calls).unwrap_or(i64::MAX)),
            Cell::Name(line.text.clone()),
        ]);
    }
    table.data_only()
}

/// Whether only a part of the time was recorded.
fn is_part(group: &Group, manifest: Option<&Manifest>) -> bool {
    let has_gap = group.nodes.iter().any(|node| node.is_gap);
    has_gap || manifest.is_some_and(|manifest| manifest.summary.not_recorded > 0.0)
}

/// What else is to be known.
fn remarks(structure: &Structure, group: &Group, manifest: Option<&Manifest>) -> Vec<String> {
    let mut remarks = Vec::new();
    if is_part(group, manifest) {
        let kept = if manifest.and_then(unrecorded::kept).is_some() { "kept" } else { "recorded" };
        remarks.push(format!(
            "calls, iterations and times are those that were {kept}: iterations are counted from 1"
        ));
    }
    let known = match group.level {
        Level::Site => "",
        Level::Shape | Level::Path => {
            "call sites are not known: places are those in the sequence of calls that repeats"
        }
        Level::Region => "there are too many call paths: places are functions of MPI",
    };
    remarks.extend((!known.is_empty()).then(|| known.to_owned()));
    if group.order.is_empty() {
        remarks.push("the order of its calls is too irregular to be kept".to_owned());
    }
    if group.nodes.len() < usize::try_from(group.count).unwrap_or(usize::MAX) {
        remarks.push(format!("{} of its places are known, those visited most", group.nodes.len()));
    }
    let others = all(structure).saturating_sub(1);
    if others > 0 {
        let count = structure.groups.len();
        let which = if count > 1 { format!(" (-g 1 to -g {count})") } else { String::new() };
        remarks.push(format!("{}{which}", counted(others, "other graph")));
    }
    remarks
}
