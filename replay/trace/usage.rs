//! What the recorder has measured of the machine: memory and energy.

use std::collections::BTreeSet;

use super::{Location, Trace};

impl Trace {
    /// Whether it is known of any process how much memory it had in use.
    pub fn tells_memory(&self) -> bool {
        self.definitions.locations.iter().any(|location| location.resident_bytes.is_some())
    }

    /// Returns the energy that all nodes with processes have taken, in joules, and how many nodes these are; `None` if it is not known of
    /// all of them.
    pub fn energy(&self) -> Option<(f64, usize)> {
        let groups = &self.definitions.location_groups;
        let node = |location: &Location| groups[self.definitions.locations[location.definition].group].parent;
        let nodes: BTreeSet<usize> = self.locations.iter().map(node).collect::<Option<_>>()?;
        let of_node = |&node: &usize| self.definitions.system_tree[node].microjoules;
        let microjoules: u64 = nodes.iter().map(of_node).try_fold(0, |sum: u64, of| sum.checked_add(of?))?;
        (!nodes.is_empty()).then_some((microjoules as f64 * 1e-6, nodes.len()))
    }
}
