//! Event flow graphs: which node followed which, how often, and for how long (structure 2.4).

use model::Ticks;

use crate::edge_numbers::EdgeNumbers;
use crate::node::Node;

/// Sum, least and most of durations in ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Times {
    /// Of all.
    pub sum: Ticks,
    /// The shortest; the largest number if there is none.
    pub least: Ticks,
    /// The longest; the smallest number if there is none.
    pub most: Ticks,
}

impl Default for Times {
    fn default() -> Times {
        Times { sum: 0, least: Ticks::MAX, most: Ticks::MIN }
    }
}

impl Times {
    /// Adds a duration.
    #[inline]
    pub fn add(&mut self, ticks: Ticks) {
        self.sum = self.sum.saturating_add(ticks);
        self.least = self.least.min(ticks);
        self.most = self.most.max(ticks);
    }
}

/// A step: an outermost call of MPI, with what was before it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Step {
    /// Ticks between the step before, or the begin, and its enter.
    pub since: Ticks,
    /// Ticks from enter to leave.
    pub ticks: Ticks,
    /// Bytes of the operations that it begins.
    pub bytes: u64,
    /// Polls before it, since the step before.
    pub polls: Polls,
}

/// Calls that asked for a completion, and found none.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Polls {
    /// How many.
    pub count: u64,
    /// Ticks in them.
    pub ticks: Ticks,
}

/// Totals of a node.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct NodeTotals {
    /// How often it was visited.
    pub visits: u64,
    /// Ticks in its calls.
    pub times: Times,
    /// Bytes of the operations begun in them.
    pub bytes: u64,
}

/// An edge: a node that directly followed another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    /// The earlier node, or the begin.
    pub from: Node,
    /// The later node, or the end.
    pub to: Node,
    /// How often it was taken.
    pub count: u64,
    /// Ticks between leave and enter.
    pub times: Times,
    /// Polls in between.
    pub polls: Polls,
}

/// An event flow graph.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Graph {
    /// By node; the first one is the begin, which has no totals.
    pub nodes: Vec<NodeTotals>,
    /// In the order in which they were first taken.
    pub edges: Vec<Edge>,
}

/// Builds the graph of a sequence, step by step, without keeping the steps.
#[derive(Clone, Debug)]
pub struct GraphBuilder {
    graph: Graph,
    /// By node: where the edges that were taken last from it lead, of which one nearly always is taken again, and their numbers.
    latest: Vec<[(Node, u32); 2]>,
    numbers: EdgeNumbers,
    at: Node,
}

/// Stands for no edge: none leads to the begin.
const NO_EDGE: (Node, u32) = (Node::BEGIN, u32::MAX);

impl Default for GraphBuilder {
    fn default() -> GraphBuilder {
        GraphBuilder {
            graph: Graph { nodes: vec![NodeTotals::default()], edges: Vec::new() },
            latest: vec![[NO_EDGE; 2]],
            numbers: EdgeNumbers::default(),
            at: Node::BEGIN,
        }
    }
}

impl GraphBuilder {
    /// Adds a step at a node, and returns the number of the edge to it. A node that is new has the next number.
    #[inline]
    pub fn visit(&mut self, node: Node, step: &Step) -> u32 {
        if node.index() == self.graph.nodes.len() {
            self.graph.nodes.push(NodeTotals::default());
            self.latest.push([NO_EDGE; 2]);
        }
        let edge = self.take(node, step);
        let totals = &mut self.graph.nodes[node.index()];
        totals.visits += 1;
        totals.times.add(step.ticks);
        totals.bytes = totals.bytes.saturating_add(step.bytes);
        edge
    }

    /// Ends the sequence, `step.since` ticks after the last step; returns the number of the edge to the end, and the graph.
    pub fn finish(mut self, step: &Step) -> (u32, Graph) {
        let edge = self.take(Node::END, step);
        (edge, self.graph)
    }

    #[inline]
    fn take(&mut self, node: Node, step: &Step) -> u32 {
        let [last, other] = self.latest[self.at.index()];
        let number = if last.0 == node {
            last.1
        } else {
            let number = if other.0 == node { other.1 } else { self.other(node) };
            self.latest[self.at.index()] = [(node, number), last];
            number
        };
        let edge = &mut self.graph.edges[number as usize];
        edge.count += 1;
        edge.times.add(step.since);
        edge.polls.count += step.polls.count;
        edge.polls.ticks = edge.polls.ticks.saturating_add(step.polls.ticks);
        self.at = node;
        number
    }

    /// The number of an edge that is not among the last ones taken from its node.
    fn other(&mut self, to: Node) -> u32 {
        let from = self.at;
        let edges = &mut self.graph.edges;
        let number = self.numbers.number(from, to, edges);
        if number as usize == edges.len() {
            edges.push(Edge { from, to, count: 0, times: Times::default(), polls: Polls::default() });
        }
        number
    }
}

impl Graph {
    /// The graph of a sequence whose steps take no time.
    pub fn of(sequence: impl IntoIterator<Item = Node>) -> Graph {
        let mut builder = GraphBuilder::default();
        for node in sequence {
            builder.visit(node, &Step::default());
        }
        builder.finish(&Step::default()).1
    }

    /// Ticks of all nodes and edges: from the begin to the end of the sequence.
    pub fn ticks(&self) -> Ticks {
        let nodes = self.nodes.iter().map(|node| node.times.sum);
        nodes.chain(self.edges.iter().map(|edge| edge.times.sum)).fold(0, Ticks::saturating_add)
    }

    /// Edges between steps: neither from the begin nor to the end.
    pub fn inner_edges(&self) -> impl Iterator<Item = &Edge> + Clone {
        self.edges.iter().filter(|edge| edge.from.is_step() && edge.to.is_step())
    }

    /// Number of nodes, without begin and end, and of edges between them.
    pub fn size(&self) -> [usize; 2] {
        [self.nodes.len().saturating_sub(1), self.inner_edges().count()]
    }

    /// Numbers of nodes and edges if every edge that is the only way out of one node and the only way into another one is merged.
    pub fn merged_size(&self) -> [usize; 2] {
        let ways = Ways::new(self);
        let is_plain = |edge: &&Edge| {
            edge.from != edge.to && ways.out[edge.from.index()] == 1 && ways.into[edge.to.index()] == 1
        };
        let plain = self.inner_edges().filter(is_plain).count();
        self.size().map(|all| all - plain)
    }

    /// Runs of at least three nodes with one way in and one way out each, which are shown as one; in the order of their nodes.
    pub fn runs(&self) -> Vec<Vec<Node>> {
        let ways = Ways::new(self);
        let is_plain = |node: Node| ways.into[node.index()] == 1 && ways.out[node.index()] == 1;
        let mut next = vec![Node::END; self.nodes.len()];
        let mut begins_run = vec![true; self.nodes.len()];
        for edge in self.inner_edges() {
            next[edge.from.index()] = edge.to;
            if is_plain(edge.to) && is_plain(edge.from) {
                begins_run[edge.to.index()] = false;
            }
        }
        let firsts = (1..self.nodes.len()).map(|number| Node::new(crate::to_u32(number)));
        let firsts = firsts.filter(|&node| is_plain(node) && begins_run[node.index()]);
        let run = |first: Node| {
            std::iter::successors(Some(first), |node| Some(next[node.index()]).filter(|&node| is_plain(node)))
                .collect::<Vec<_>>()
        };
        firsts.map(run).filter(|run| run.len() >= 3).collect()
    }

    /// Numbers of nodes and edges as shown, with [runs](Graph::runs) as single nodes.
    pub fn shown_size(&self) -> [usize; 2] {
        let merged: usize = self.runs().iter().map(|run| run.len() - 1).sum();
        self.size().map(|all| all - merged)
    }
}

/// Numbers of ways into and out of each node, without those from the begin and to the end.
struct Ways {
    into: Vec<u32>,
    out: Vec<u32>,
}

impl Ways {
    fn new(graph: &Graph) -> Ways {
        let mut ways = Ways { into: vec![0; graph.nodes.len()], out: vec![0; graph.nodes.len()] };
        for edge in graph.inner_edges() {
            ways.out[edge.from.index()] += 1;
            ways.into[edge.to.index()] += 1;
        }
        ways
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nodes;

    #[test]
    fn edges_and_nodes_have_counts_and_times() {
        let mut builder = GraphBuilder::default();
        let step = |since, ticks, bytes| Step { since, ticks, bytes, polls: Polls { count: 1, ticks: 2 } };
        let [a, b] = [1, 2].map(Node::new);
        builder.visit(a, &step(5, 10, 3));
        builder.visit(b, &step(1, 20, 0));
        builder.visit(a, &step(2, 30, 4));
        builder.visit(b, &step(7, 40, 0));
        let (_, graph) = builder.finish(&Step { since: 9, ..Step::default() });
        assert_eq!(graph.nodes[1].times, Times { sum: 40, least: 10, most: 30 });
        assert_eq!((graph.nodes[1].visits, graph.nodes[1].bytes), (2, 7));
        let edges: Vec<_> =
            graph.edges.iter().map(|e| (e.from, e.to, e.count, e.times.sum, e.polls.ticks)).collect();
        let all = [(Node::BEGIN, a, 1, 5, 2), (a, b, 2, 8, 4), (b, a, 1, 2, 2), (b, Node::END, 1, 9, 0)];
        assert_eq!(edges, all);
        assert_eq!(graph.ticks(), 100 + 24);
    }

    #[test]
    fn runs_of_three_and_more_plain_nodes_are_shown_as_one() {
        let graph = Graph::of(nodes(&[1, 2, 3, 4, 2, 3, 4, 5]));
        assert_eq!(graph.size(), [5, 5]);
        // 3 is the only node with one way in and one way out that is not alone; 2 and 4 have two.
        assert_eq!((graph.merged_size(), graph.shown_size()), ([3, 3], [5, 5]));
        let graph = Graph::of(nodes(&[1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 6]));
        assert_eq!(graph.runs(), [nodes(&[1, 2, 3, 4])]);
        assert_eq!((graph.merged_size(), graph.shown_size()), ([2, 2], [3, 3]));
    }

    #[test]
    fn a_sequence_without_steps_has_one_edge_from_begin_to_end() {
        let graph = Graph::of([]);
        assert_eq!((graph.size(), graph.edges.len()), ([0, 0], 1));
        assert_eq!((graph.merged_size(), graph.runs().len()), ([0, 0], 0));
    }
}
