//! Bodies of loops that share a header: from which nodes each latch is reached without it, and how many these are (structure 2.6).

use super::{Finder, NO_LEVEL};
use crate::components::Neighbors;
use crate::node::Node;

/// The components of a loop without its header, in an order in which each comes before those that lead to it.
pub(super) struct Bodies {
    sizes: Vec<u32>,
    /// Edges from one component to another one, by the former.
    edges: Vec<(u32, u32)>,
    /// By component: those that lead to it.
    before: Neighbors,
    /// By component: the level that it is in.
    levels: Vec<u32>,
    /// Those that are loops, in the same order.
    pub(super) loops: Vec<Vec<Node>>,
}

impl Bodies {
    pub(super) fn new(finder: &mut Finder, component: &[Node], header: Node, part: u32) -> Bodies {
        let Finder { next, search, part: parts, inner, .. } = finder;
        let nodes: Vec<Node> = component.iter().copied().filter(|&node| node != header).collect();
        let (mut sizes, mut loops) = (Vec::new(), Vec::new());
        search.components(&nodes, next, |component| {
            component.iter().for_each(|node| inner[node.index()] = crate::to_u32(sizes.len()));
            sizes.push(crate::to_u32(component.len()));
            if super::is_loop(component, next) {
                loops.push(component.to_vec());
            }
        });
        let mut edges = Vec::new();
        // A single component has all edges in it.
        if sizes.len() > 1 {
            let is_inside = |node: Node| node != header && parts[node.index()] == part;
            for &node in &nodes {
                for &to in next.of(node).iter().filter(|&&to| is_inside(to)) {
                    let edge = (inner[node.index()], inner[to.index()]);
                    if edge.0 != edge.1 {
                        edges.push(edge);
                    }
                }
            }
            edges.sort_unstable();
            edges.dedup();
        }
        let backwards = edges.iter().map(|&(from, to)| (Node::new(to), Node::new(from)));
        let before = Neighbors::new(sizes.len(), backwards);
        let levels = vec![NO_LEVEL; sizes.len()];
        Bodies { sizes, edges, before, levels, loops }
    }

    /// The level of a component.
    pub(super) fn level(&self, component: u32) -> u32 {
        self.levels[component as usize]
    }

    /// Puts a component and those that lead to it into a level, but for those that are in one already.
    pub(super) fn mark(&mut self, component: u32, level: u32) {
        let mut rest = vec![Node::new(component)];
        while let Some(component) = rest.pop() {
            let known = &mut self.levels[component.index()];
            if *known == NO_LEVEL {
                *known = level;
                rest.extend(self.before.of(component));
            }
        }
    }

    /// For each component, from which of these 64 latches at most are reached: one bit each.
    pub(super) fn masks(&self, inner: &[u32], header: Node, latches: &[Node]) -> Vec<u64> {
        let mut masks = vec![0; self.sizes.len()];
        for (bit, latch) in latches.iter().enumerate().filter(|&(_, &latch)| latch != header) {
            masks[inner[latch.index()] as usize] |= 1 << bit;
        }
        for &(from, to) in &self.edges {
            masks[from as usize] |= masks[to as usize];
        }
        masks
    }

    /// For each latch of masks, how many nodes reach it. Counts all at once: place k of the sums has bit k of each.
    pub(super) fn sizes(&self, masks: &[u64]) -> Vec<u32> {
        let mut sums = [0_u64; u32::BITS as usize];
        for (&mask, &size) in masks.iter().zip(&self.sizes) {
            let mut rest = size;
            while rest != 0 {
                let place = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                let mut carried = mask;
                for sum in &mut sums[place..] {
                    if carried == 0 {
                        break;
                    }
                    (*sum, carried) = (*sum ^ carried, *sum & carried);
                }
            }
        }
        let size = |latch: u32| {
            (0..).zip(&sums).map(|(place, sum)| u32::from(sum >> latch & 1 == 1) << place).sum::<u32>()
        };
        (0..u64::BITS).map(size).collect()
    }
}
