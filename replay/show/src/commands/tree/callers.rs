//! Bottom up: functions with what they take themselves, and below them the callers for which they do.

use cubex::CnodeId;
use rustc_hash::FxHashMap;

use super::Shown;
use super::calls::values_of;
use super::flat::add;
use super::nodes::{Limits, Node};
use super::place;
use crate::paths;
use crate::values::{Combine, Values};

/// Levels if the user does not say how many: each call path has a node for each of them.
const LEVELS: usize = 32;

/// Functions and their callers; values are those of the functions alone.
pub(super) fn tree(values: &Values<'_>, shown: &[Shown], limits: &mut Limits) -> Vec<Node> {
    let cube = values.cube();
    let selected = limits.selected.take().map(|selected| paths::with_those_below(values, selected));
    let combines: Vec<Combine> = shown.iter().map(|(quantity, _)| quantity.combine).collect();
    let levels = limits.depth.min(LEVELS);
    let mut nodes: Vec<Node> = Vec::new();
    let mut known: FxHashMap<(Option<usize>, usize), usize> = FxHashMap::default();
    for at in 0..cube.cnodes.len() {
        let own = values_of(shown, |totals| totals.exclusive[at]);
        let is_empty = own.iter().zip(&combines).all(|(value, combine)| *value == combine.neutral());
        if is_empty || selected.as_ref().is_some_and(|selected| !selected[at]) {
            continue;
        }
        let (mut parent, mut next) = (None, Some(CnodeId(at)));
        for _ in 0..levels {
            let Some(caller) = next else { break };
            let region = cube.cnodes[caller.0].region.0;
            let node = *known.entry((parent, region)).or_insert_with(|| {
                let name = paths::name(cube, caller).to_owned();
                let neutral: Vec<f64> = combines.iter().map(|combine| combine.neutral()).collect();
                let (inclusive, exclusive) = (neutral.clone(), neutral);
                nodes.push(Node {
                    parent,
                    name,
                    place: place(cube, caller),
                    inclusive,
                    exclusive,
                    ..Node::default()
                });
                nodes.len() - 1
            });
            add(&combines, &mut nodes[node].inclusive, &own);
            add(&combines, &mut nodes[node].exclusive, &own);
            (parent, next) = (Some(node), cube.cnodes[caller.0].parent);
        }
    }
    nodes
}
