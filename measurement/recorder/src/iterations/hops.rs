//! The graph of a thread's steps while it runs: of each node the ticks, of each edge the count. That is what a loop is chosen by
//! (`structure::loop_totals`), and two additions a step; other totals would cost more than the rest of the search.

use rustc_hash::FxHashMap;
use structure::{Edge, Graph, Node, NodeTotals, Polls, Times};

/// A graph that grows with each step.
pub(crate) struct Hops {
    nodes: Vec<Place>,
    edges: Vec<Hop>,
    /// Edges by their nodes, for those that were not the last one taken.
    numbers: FxHashMap<(Node, Node), u32>,
    at: Node,
}

/// A node.
#[derive(Clone, Copy)]
struct Place {
    ticks: u64,
    /// The node that followed last, nearly always the next time, too; and the edge to it.
    next: Node,
    edge: u32,
}

impl Place {
    const NEW: Place = Place { ticks: 0, next: Node::BEGIN, edge: 0 };
}

/// An edge.
struct Hop {
    from: Node,
    to: Node,
    count: u64,
}

impl Hops {
    pub(crate) fn new() -> Hops {
        Hops { nodes: vec![Place::NEW], edges: Vec::new(), numbers: FxHashMap::default(), at: Node::BEGIN }
    }

    /// Number of edges.
    pub(crate) fn edges(&self) -> usize {
        self.edges.len()
    }

    /// Adds a step at a node that has taken so many ticks. A node that is new has the next number.
    #[inline]
    pub(crate) fn visit(&mut self, node: Node, ticks: u64) {
        if node.index() >= self.nodes.len() {
            self.nodes.resize(node.index() + 1, Place::NEW);
        }
        // No step goes to the begin, so that a new node has no edge.
        let Place { next, mut edge, .. } = self.nodes[self.at.index()];
        if next != node {
            edge = self.turn(node);
        }
        self.edges[edge as usize].count += 1;
        self.nodes[node.index()].ticks += ticks;
        self.at = node;
    }

    /// Takes another edge than last time; returns its number.
    #[inline(never)]
    fn turn(&mut self, to: Node) -> u32 {
        let (from, edges) = (self.at, &mut self.edges);
        let edge = *self.numbers.entry((from, to)).or_insert_with(|| {
            edges.push(Hop { from, to, count: 0 });
            edges.len() as u32 - 1
        });
        let place = &mut self.nodes[from.index()];
        (place.next, place.edge) = (to, edge);
        edge
    }

    /// The graph so far.
    pub(crate) fn graph(&self) -> Graph {
        let signed = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let totals = |place: &Place| NodeTotals {
            times: Times { sum: signed(place.ticks), ..Times::default() },
            ..NodeTotals::default()
        };
        let edge = |&Hop { from, to, count }: &Hop| Edge {
            from,
            to,
            count,
            times: Times::default(),
            polls: Polls::default(),
        };
        Graph { nodes: self.nodes.iter().map(totals).collect(), edges: self.edges.iter().map(edge).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use structure::{Forest, GraphBuilder, Step, loop_totals};

    #[test]
    fn loops_have_the_totals_of_the_whole_graph() {
        let mut state = 7_u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for _ in 0..200 {
            let (mut hops, mut builder) = (Hops::new(), GraphBuilder::default());
            let (mut known, alphabet) = (Vec::new(), draw(9) + 1);
            for _ in 0..draw(200) {
                let (key, ticks) = (draw(alphabet), draw(100));
                let number = known.iter().position(|&it| it == key).unwrap_or_else(|| {
                    known.push(key);
                    known.len() - 1
                });
                let node = Node::new(number as u32 + 1);
                hops.visit(node, ticks);
                builder.visit(node, &Step { ticks: ticks as i64, ..Step::default() });
            }
            let (graph, (_, whole)) = (hops.graph(), builder.finish(&Step::default()));
            let (forest, expected) = (Forest::new(&graph), Forest::new(&whole));
            assert_eq!(loop_totals(&graph, &forest), loop_totals(&whole, &expected));
            assert_eq!(hops.edges() + 1, whole.edges.len());
        }
    }
}
