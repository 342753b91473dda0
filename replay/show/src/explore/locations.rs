//! The tree of locations: machines and nodes, processes, threads.

use cubex::{Cube, LocationId, LocationKind};

use super::pane::Node;
use crate::places;
use crate::values::Combine;

/// The tree of locations. Locations that carry metrics only are left out, as they have no time.
#[derive(Debug)]
pub(super) struct Locations {
    /// Nodes; parents stand before their children.
    pub(super) nodes: Vec<Node>,
    /// The location that a node is, if it is one.
    location: Vec<Option<usize>>,
}

impl Locations {
    /// The tree of a report. A process with one location is one node.
    pub(super) fn new(cube: &Cube) -> Locations {
        let sizes = places::sizes(cube);
        let mut of_group: Vec<Vec<usize>> = vec![Vec::new(); cube.location_groups.len()];
        for (at, location) in cube.locations.iter().enumerate() {
            if location.kind != LocationKind::Metric
                && let Some(members) = of_group.get_mut(location.group.0)
            {
                members.push(at);
            }
        }
        let mut tree = Locations { nodes: Vec::new(), location: Vec::new() };
        for node in &cube.system_tree_nodes {
            tree.add(node.parent.map(|parent| parent.0), node.name.clone(), None);
        }
        for (group, members) in cube.location_groups.iter().zip(of_group) {
            let node = Some(group.system_tree_node.0).filter(|&node| node < cube.system_tree_nodes.len());
            let name = |at: usize| places::name(cube, &sizes, LocationId(at));
            match members[..] {
                [] => {}
                [one] => tree.add(node, name(one), Some(one)),
                _ => {
                    let process = Some(tree.nodes.len());
                    tree.add(node, places::process_name(group), None);
                    for at in members {
                        let location = &cube.locations[at];
                        let name = if location.name.is_empty() { name(at) } else { location.name.clone() };
                        tree.add(process, name, Some(at));
                    }
                }
            }
        }
        tree
    }

    fn add(&mut self, parent: Option<usize>, name: String, location: Option<usize>) {
        self.nodes.push((parent, name));
        self.location.push(location);
    }

    /// The location that a node is; `None` for nodes with several.
    pub(super) fn location(&self, node: usize) -> Option<usize> {
        self.location.get(node).copied().flatten()
    }

    /// Values of all nodes: those of their locations combined, as far as these are known; `None` where nothing is. Values that cannot be
    /// combined, such as ratios, have `combine: None`: nodes with several locations have none then.
    pub(super) fn values(
        &self,
        row: &[f64],
        is_known: &[bool],
        combine: Option<Combine>,
    ) -> Vec<Option<f64>> {
        let mut values: Vec<Option<f64>> = vec![None; self.nodes.len()];
        let mut is_left_out = vec![false; self.nodes.len()];
        for (node, &location) in self.location.iter().enumerate() {
            let Some(at) = location.filter(|&at| is_known.get(at) == Some(&true)) else { continue };
            let Some(&value) = row.get(at) else { continue };
            let mut next = Some(node);
            while let Some(node) = next {
                is_left_out[node] |= values[node].is_some() && combine.is_none();
                let combine = combine.unwrap_or(Combine::Sum);
                values[node] = Some(values[node].map_or(value, |sum| combine.of(sum, value)));
                next = self.nodes[node].0;
            }
        }
        values
            .iter_mut()
            .zip(is_left_out)
            .filter(|(_, is_left_out)| *is_left_out)
            .for_each(|it| *it.0 = None);
        values
    }
}
