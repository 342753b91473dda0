//! A list of functions: call paths of one region together.

use cubex::{CnodeId, Step};

use super::Shown;
use super::calls::values_of;
use super::nodes::{Limits, Node};
use crate::paths;
use crate::values::{Combine, Values};

/// A node for each region that occurs.
pub(super) fn tree(values: &Values<'_>, shown: &[Shown], limits: &mut Limits) -> Vec<Node> {
    let cube = values.cube();
    let selected = limits.selected.take().map(|selected| paths::with_those_below(values, selected));
    let is_selected = |at: usize| selected.as_ref().is_none_or(|selected| selected[at]);
    let combines: Vec<Combine> = shown.iter().map(|(quantity, _)| quantity.combine).collect();
    let mut nodes: Vec<Option<Node>> = (0..cube.regions.len()).map(|_| None).collect();
    // How often a region is on the way to the current call path: values with those below count once.
    let mut open = vec![0_usize; cube.regions.len()];
    for step in values.calls().walk() {
        let (Step::Enter(at) | Step::Leave(at)) = step;
        let region = cube.cnodes[at].region.0;
        if !is_selected(at) {
            continue;
        }
        if let Step::Leave(_) = step {
            open[region] -= 1;
            continue;
        }
        let neutral = || combines.iter().map(|combine| combine.neutral()).collect();
        let node = nodes[region].get_or_insert_with(|| Node {
            name: paths::name(cube, CnodeId(at)).to_owned(),
            place: super::place(cube, CnodeId(at)),
            inclusive: neutral(),
            exclusive: neutral(),
            ..Node::default()
        });
        add(&combines, &mut node.exclusive, &values_of(shown, |totals| totals.exclusive[at]));
        if open[region] == 0 {
            add(&combines, &mut node.inclusive, &values_of(shown, |totals| totals.inclusive[at]));
        }
        open[region] += 1;
    }
    nodes.into_iter().flatten().collect()
}

/// Combines the values of a call path with those of a node.
pub(super) fn add(combines: &[Combine], sums: &mut [f64], values: &[f64]) {
    for ((sum, value), combine) in sums.iter_mut().zip(values).zip(combines) {
        *sum = combine.of(*sum, *value);
    }
}
