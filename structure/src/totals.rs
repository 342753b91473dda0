//! Time and iterations of loops from a graph alone (structure 5): while a program runs nobody keeps its sequence.

use crate::forest::{Forest, LoopId};
use crate::graph::Graph;
use crate::main_loop::LoopTotals;
use crate::node::Node;

/// Whether a step at the header of a loop begins an iteration of it, if the step before was at that node: one outside of the
/// loop, or a latch of it or of a loop around it with the same header.
pub fn begins_iteration(forest: &Forest, id: LoopId, before: Node) -> bool {
    let header = forest.get(id).header;
    !forest.has(id, before)
        || forest.repeated_by(before, header).is_none_or(|repeated| forest.is_within(id, repeated))
}

/// Time and iterations of each loop of a graph, by loop.
pub fn loop_totals(graph: &Graph, forest: &Forest) -> Vec<LoopTotals> {
    let mut totals = vec![LoopTotals::default(); forest.loops().len()];
    let around = |node: Node| std::iter::successors(forest.around(node), |&id| forest.get(id).parent);
    for (number, node) in graph.nodes.iter().enumerate() {
        for id in around(Node::new(crate::to_u32(number))) {
            totals[id.index()].ticks += node.times.sum;
        }
    }
    for edge in &graph.edges {
        for id in around(edge.to) {
            let is_entered = !forest.has(id, edge.from);
            let total = &mut totals[id.index()];
            if !is_entered {
                total.ticks += edge.times.sum;
            }
            let is_header = edge.to == forest.get(id).header;
            if is_entered || is_header && begins_iteration(forest, id, edge.from) {
                total.iterations += edge.count;
            }
        }
    }
    totals
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{GraphBuilder, Step};
    use crate::iterations::all;
    use crate::{numbered, random};

    #[test]
    fn totals_are_those_of_the_iterations_of_the_sequence() {
        let mut draw = random(5);
        for _ in 0..2000 {
            let (alphabet, length) = (draw(9) + 1, draw(80));
            let sequence = numbered((0..length).map(|_| draw(alphabet)));
            let mut builder = GraphBuilder::default();
            let times: Vec<[i64; 2]> =
                sequence.iter().map(|_| [draw(100), draw(100)].map(i64::from)).collect();
            for (&node, &[since, ticks]) in sequence.iter().zip(&times) {
                builder.visit(node, &Step { since, ticks, ..Step::default() });
            }
            let (_, graph) = builder.finish(&Step::default());
            let forest = Forest::new(&graph);
            let all = all(&forest, &sequence);
            for (id, totals) in forest.ids().zip(loop_totals(&graph, &forest)) {
                let iterations = &all[id.index()];
                assert_eq!(totals.iterations, iterations.len() as u64, "{sequence:?}");
                // Time before the first step of an instance is outside of it.
                let of_steps = iterations.iter().flat_map(|it| it.first..it.end);
                let all: i64 = of_steps.map(|step| times[step as usize].iter().sum::<i64>()).sum();
                let firsts = iterations
                    .iter()
                    .filter(|it| it.first == 0 || !forest.has(id, sequence[it.first as usize - 1]));
                let outside: i64 = firsts.map(|it| times[it.first as usize][0]).sum();
                assert_eq!(totals.ticks, all - outside);
            }
        }
    }
}
