//! The call tree as the report has it.

use std::collections::HashMap;

use cubex::{CnodeId, Cube, LocationId};

use super::Shown;
use super::nodes::Node;
use crate::error::Result;
use crate::output::numbers;
use crate::values::{DELAY, Quantity, Values};
use crate::{paths, places};

/// The least share of all delay costs with which a location is named.
const LARGE: f64 = 0.05;

/// A node for each call path; with the whole path if `has_paths`.
pub(super) fn tree(values: &Values<'_>, shown: &[Shown], has_paths: bool) -> Result<Vec<Node>> {
    let cube = values.cube();
    let mut nodes: Vec<Node> = Vec::with_capacity(cube.cnodes.len());
    for (at, cnode) in cube.cnodes.iter().enumerate() {
        nodes.push(Node {
            parent: cnode.parent.map(|parent| parent.0),
            name: paths::name(cube, CnodeId(at)).to_owned(),
            path: if has_paths { paths::path(cube, CnodeId(at)) } else { String::new() },
            cnode: Some(at),
            place: place(cube, CnodeId(at)),
            inclusive: values_of(shown, |totals| totals.inclusive[at]),
            exclusive: values_of(shown, |totals| totals.exclusive[at]),
            note: String::new(),
        });
    }
    if !has_paths {
        add_lines(cube, &mut nodes);
    }
    for (quantity, totals) in shown {
        if let Ok(totals) = totals
            && quantity.name == DELAY
        {
            name_culprits(values, quantity, totals.all, &mut nodes)?;
        }
    }
    Ok(nodes)
}

/// Adds the line at which a function calls, or samples have met it, to siblings of one name that differ in it.
fn add_lines(cube: &Cube, nodes: &mut [Node]) {
    let mut same: HashMap<(Option<usize>, &str), Vec<usize>> = HashMap::new();
    for (at, cnode) in cube.cnodes.iter().enumerate() {
        let key = (cnode.parent.map(|parent| parent.0), paths::name(cube, CnodeId(at)));
        same.entry(key).or_default().push(at);
    }
    for calls in same.into_values().filter(|calls| calls.len() > 1) {
        let line = |at: usize| (&cube.cnodes[at].module, cube.cnodes[at].line);
        if calls.iter().all(|&at| line(at) == line(calls[0])) {
            continue;
        }
        for at in calls {
            let cnode = &cube.cnodes[at];
            let file = cnode.module.rsplit('/').next().unwrap_or_default();
            match cnode.line {
                Some(line) if file.is_empty() => nodes[at].name += &format!(" (line {line})"),
                Some(line) => nodes[at].name += &format!(" ({file}:{line})"),
                None => {}
            }
        }
    }
}

/// Values of all metrics; 0 for those that have none.
pub(super) fn values_of(shown: &[Shown], value: impl Fn(&crate::values::Totals) -> f64) -> Vec<f64> {
    shown.iter().map(|(_, totals)| totals.as_ref().map_or(0.0, &value)).collect()
}

/// Where the function of a call path is.
pub(crate) fn place(cube: &Cube, cnode: CnodeId) -> Option<(String, Option<u32>)> {
    let region = cube.regions.get(cube.cnodes.get(cnode.0)?.region.0)?;
    (!region.module.is_empty()).then(|| (region.module.clone(), region.begin_line))
}

/// Notes the location that caused most of the waiting at a call path, where that is much.
fn name_culprits(values: &Values<'_>, quantity: &Quantity, all: f64, nodes: &mut [Node]) -> Result<()> {
    let cube = values.cube();
    let sizes = places::sizes(cube);
    let mut rows = values.exclusive(quantity)?;
    while let Some((cnode, row)) = rows.next()? {
        let largest = row.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
        let Some((location, &value)) = largest.filter(|(_, value)| **value >= LARGE * all && **value > 0.0)
        else {
            continue;
        };
        // Where all have the same nobody stands out.
        if row.len() > 1 && value * 2.0 >= row.iter().sum::<f64>() {
            let name = places::name(cube, &sizes, LocationId(location));
            nodes[cnode.0].note = format!("← {name}: {}", numbers::seconds(value));
        }
    }
    Ok(())
}
