//! Nodes: which processes share memory, so that messages between them take another way than over the network (what-if 2.3, 2.5).

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::int::to_u32;
use crate::trace::Trace;

/// The node of each location, by number; locations whose node the trace does not tell are on one.
#[derive(Clone, Debug)]
pub struct Nodes(Vec<u32>);

impl Nodes {
    /// As the system tree of the trace has them: the closest ancestor of the class `node`, or else the parent of the process.
    pub fn of_trace(trace: &Trace) -> Nodes {
        let definitions = &trace.definitions;
        let node_of = |location: &crate::trace::Location| {
            let group = definitions.locations.get(location.definition)?.group;
            let parent = definitions.location_groups.get(group)?.parent?;
            let mut at = Some(parent);
            while let Some(node) = at.and_then(|at| definitions.system_tree.get(at)) {
                if node.class.eq_ignore_ascii_case("node") {
                    return at;
                }
                at = node.parent;
            }
            Some(parent)
        };
        let number = |node: Option<usize>| node.map_or(u32::MAX, to_u32);
        Nodes(trace.locations.iter().map(|location| number(node_of(location))).collect())
    }

    /// How many nodes have locations.
    pub fn count(&self) -> u64 {
        self.0.iter().filter(|&&node| node != u32::MAX).collect::<BTreeSet<_>>().len() as u64
    }

    /// Ranks on the nodes that the lines of a text name, the first line for rank 0; the threads of a process are on its node.
    ///
    /// # Errors
    /// A message if there is no line for a rank.
    pub(super) fn of_lines(trace: &Trace, text: &str) -> Result<Nodes, String> {
        let names: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let mut numbers = FxHashMap::default();
        let mut nodes = Vec::with_capacity(trace.locations.len());
        for location in &trace.locations {
            let Some(rank) = trace.processes[location.process].rank else {
                nodes.push(u32::MAX);
                continue;
            };
            let Some(&name) = names.get(rank as usize) else {
                return Err(format!(
                    "{} lines, but there is a rank {rank}; expected one line for each rank",
                    names.len()
                ));
            };
            let next = to_u32(numbers.len());
            nodes.push(*numbers.entry(name).or_insert(next));
        }
        Ok(Nodes(nodes))
    }

    /// The node of a location, by its number in the trace's system tree; `None` if that is not known.
    ///
    /// # Panics
    /// If there is no such location.
    pub fn of(&self, location: usize) -> Option<u32> {
        Some(self.0[location]).filter(|&node| node != u32::MAX)
    }

    /// Whether two locations are on different nodes.
    pub(super) fn are_remote(&self, one: u32, other: u32) -> bool {
        self.0[one as usize] != self.0[other as usize]
    }
}
