//! Trees of values: which nodes are shown, in which order, and as what table.

use cubex::Forest;
use serde_json::Value;

use super::{Shown, Sort};
use crate::output::{Cell, Column, Document, Line, Style, Table};
use crate::values::Quantity;

/// What of a tree is shown.
#[derive(Debug)]
pub(super) struct Limits {
    /// The least share of a metric's sum.
    pub(super) least: f64,
    /// Levels.
    pub(super) depth: usize,
    /// Order of siblings.
    pub(super) sort: Sort,
    /// Whether values are those of nodes alone.
    pub(super) is_exclusive: bool,
    /// Nodes that are selected, and shown with those below; `None`: all.
    pub(super) selected: Option<Vec<bool>>,
}

/// A node.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// Parents stand before their children.
    pub(super) parent: Option<usize>,
    pub(super) name: String,
    /// The call path for scripts; empty where a node is none.
    pub(super) path: String,
    /// Position of the call path, where a node is one.
    pub(super) cnode: Option<usize>,
    /// Source file and line.
    pub(super) place: Option<(String, Option<u32>)>,
    /// Values with those below, one for each metric.
    pub(super) inclusive: Vec<f64>,
    /// Values of the node alone.
    pub(super) exclusive: Vec<f64>,
    /// What is to be said of it.
    pub(super) note: String,
}

/// Adds the table of a tree to a document.
pub(super) fn show(nodes: &[Node], shown: &[Shown], limits: &Limits, document: &mut Document) {
    let forest = Forest::new(nodes.iter().map(|node| node.parent));
    let (kept, hidden) = kept(nodes, shown, limits);
    let has_notes = nodes.iter().zip(&kept).any(|(node, kept)| *kept && !node.note.is_empty());
    let mut table = Table::new("nodes", columns(shown, limits, has_notes));
    let first = shown.first().map(|(quantity, _)| quantity);
    for (at, cell) in in_order(nodes, &forest, &kept, (limits.sort, first)) {
        let node = &nodes[at];
        let mut row = vec![cell];
        row.extend(shown.iter().enumerate().map(|(metric, (quantity, totals))| match totals {
            Ok(_) => {
                let values = if limits.is_exclusive { &node.exclusive } else { &node.inclusive };
                Cell::value(values[metric], quantity)
            }
            Err(why) => Cell::Obstacle(why),
        }));
        if has_notes {
            row.push(Cell::Words(Line::styled(node.note.clone(), Style::Warning)));
        }
        row.extend(data_cells(at, node, shown, limits.is_exclusive));
        table.rows.push(row);
    }
    let is_empty = table.rows.is_empty();
    document.table(table);
    if is_empty && hidden == 0 {
        document.text("no call paths");
    }
    if hidden > 0 {
        let least = 100.0 * limits.least;
        let what = if hidden == 1 { "row" } else { "rows" };
        document.text(Line::styled(
            format!("{hidden} {what} below {least}\u{a0}% not shown (--min\u{a0}0)"),
            Style::Dim,
        ));
    }
}

fn columns(shown: &[Shown], limits: &Limits, has_notes: bool) -> Vec<Column> {
    let mut columns = vec![Column::new("name", "")];
    for (quantity, _) in shown {
        let key =
            if limits.is_exclusive { format!("{}.exclusive", quantity.name) } else { quantity.name.clone() };
        columns.push(Column::new(key, quantity.title.clone()));
    }
    if has_notes {
        columns.push(Column::text(""));
    }
    columns.extend(["path", "node", "parent", "cnode", "file", "line"].map(Column::data));
    for (quantity, _) in shown {
        let key =
            if limits.is_exclusive { quantity.name.clone() } else { format!("{}.exclusive", quantity.name) };
        columns.push(Column::data(key));
    }
    columns
}

fn data_cells(at: usize, node: &Node, shown: &[Shown], is_exclusive: bool) -> Vec<Cell> {
    let (file, line) = node.place.clone().unzip();
    let number = |number: Option<usize>| Cell::Data(number.map_or(Value::Null, Value::from));
    let mut cells = vec![
        Cell::Data(node.path.clone().into()),
        number(Some(at)),
        number(node.parent),
        number(node.cnode),
        Cell::Data(file.map_or(Value::Null, Value::from)),
        Cell::Data(line.flatten().map_or(Value::Null, Value::from)),
    ];
    let values = if is_exclusive { &node.inclusive } else { &node.exclusive };
    cells.extend(shown.iter().zip(values).map(|((quantity, totals), value)| match totals {
        Ok(_) => Cell::value(*value, quantity),
        Err(_) => Cell::Nothing,
    }));
    cells
}

/// Which nodes are shown, and how many are not because they have too little.
fn kept(nodes: &[Node], shown: &[Shown], limits: &Limits) -> (Vec<bool>, usize) {
    let mut depth = vec![0; nodes.len()];
    let mut is_selected = vec![limits.selected.is_none(); nodes.len()];
    for (at, node) in nodes.iter().enumerate() {
        depth[at] = node.parent.map_or(0, |parent| depth[parent] + 1);
        let is_named = limits.selected.as_ref().is_some_and(|selected| selected[at]);
        is_selected[at] |= is_named || node.parent.is_some_and(|parent| is_selected[parent]);
    }
    // Ratios, minima and maxima have no shares; without any sum all is shown.
    let has_shares = shown.iter().any(|(quantity, totals)| quantity.is_sum() && totals.is_ok());
    let is_large = |node: &Node| {
        let values = if limits.is_exclusive { &node.exclusive } else { &node.inclusive };
        limits.least == 0.0
            || !has_shares
            || shown.iter().zip(values).any(|((quantity, totals), value)| match totals {
                Ok(totals) if quantity.is_sum() => {
                    totals.all != 0.0 && value.abs() >= limits.least * totals.all.abs()
                }
                _ => false,
            })
    };
    let mut kept = vec![false; nodes.len()];
    let mut hidden = 0;
    // From the last to the first: children come before their parents, which stay with them.
    for (at, node) in nodes.iter().enumerate().rev() {
        if depth[at] >= limits.depth {
            continue;
        }
        if is_selected[at] && !kept[at] {
            kept[at] = is_large(node);
            hidden += usize::from(!kept[at]);
        }
        if let Some(parent) = node.parent.filter(|_| kept[at]) {
            kept[parent] = true;
        }
    }
    (kept, hidden)
}

/// The nodes that are shown, each before those below it, with their lines.
fn in_order(
    nodes: &[Node],
    forest: &Forest,
    kept: &[bool],
    (sort, first): (Sort, Option<&Quantity>),
) -> Vec<(usize, Cell)> {
    // What is of nothing comes last.
    let known = |value: f64| first.and_then(|quantity| quantity.known(value));
    let sorted = |siblings: &[usize]| {
        let mut siblings: Vec<usize> = siblings.iter().copied().filter(|&at| kept[at]).collect();
        match sort {
            Sort::Order => {}
            Sort::Name => siblings.sort_by(|&a, &b| nodes[a].name.cmp(&nodes[b].name)),
            Sort::Value => siblings.sort_by(|&a, &b| {
                let value = |at: usize| {
                    nodes[at].inclusive.first().copied().and_then(known).unwrap_or(f64::NEG_INFINITY)
                };
                value(b).total_cmp(&value(a))
            }),
        }
        siblings
    };
    let mut found = Vec::new();
    // Nodes with the lines of those above, and whether siblings follow.
    let mut pending: Vec<(usize, Vec<bool>, Option<bool>)> =
        sorted(forest.roots()).into_iter().rev().map(|root| (root, Vec::new(), None)).collect();
    while let Some((at, above, is_followed)) = pending.pop() {
        let children = sorted(forest.children(at));
        let mut lines = above.clone();
        lines.extend(is_followed);
        for (place, &child) in children.iter().enumerate().rev() {
            pending.push((child, lines.clone(), Some(place + 1 < children.len())));
        }
        found.push((at, Cell::Node { above, is_followed, name: nodes[at].name.clone() }));
    }
    found
}
