//! Targets of what finds loops and values by iteration: on top of an analysis, and of the crate `structure` alone.

use std::hint::black_box;

use structure::{
    Edge, Fold, Forest, Graph, GraphBuilder, Node, NodeTotals, Polls, Step, TemporalBuilder, Times,
};

use crate::bench::Bench;
use crate::costs::fastest;
use crate::targets::{Outcome, Target, at_most};

pub(crate) const TARGETS: &[Target] = &[
    Target {
        name: "loops-stencil",
        what: "time for loops and values by iteration, stencil 4 × 1,000,000, a core",
        wanted: "≤ +10 %, ≥ 10 M events/s",
        measure: |bench| more_time(bench, "stencil"),
    },
    Target {
        name: "loops-all-to-all",
        what: "time for loops and values by iteration, all-to-all 4 × 1,000,000, a core",
        wanted: "≤ +10 %, ≥ 10 M events/s",
        measure: |bench| more_time(bench, "all-to-all"),
    },
    Target {
        name: "graph",
        what: "graph and its order, 10,000,000 steps of a regular program",
        wanted: "≤ 20 ns/step",
        measure: |_| {
            let steps = regular(10_000_000);
            let seconds = fastest(3, || {
                black_box(graph(&steps));
                Ok(())
            })?;
            each_step(seconds, &steps, 20.0)
        },
    },
    Target {
        name: "fold",
        what: "folding, 2,000,000 steps of a regular program, and of one without order",
        wanted: "≤ 120, ≤ 300 ns/step",
        measure: |_| {
            let [regular, any] = [regular(2_000_000), without_order(2_000_000)].map(|steps| {
                let fold = || Fold::of(steps.iter().map(|node| node.number()));
                let seconds = fastest(3, || {
                    black_box(fold());
                    Ok(())
                });
                seconds.map(|seconds| 1e9 * seconds / steps.len() as f64)
            });
            let (regular, any) = (regular?, any?);
            Ok((format!("{regular:.0}, {any:.0} ns/step"), regular <= 120.0 && any <= 300.0))
        },
    },
    Target {
        name: "forest",
        what: "loops of a graph of 65,536 nodes and 200,000 edges without order",
        wanted: "≤ 1 s",
        measure: |_| {
            let graph = random_graph(65_536, 200_000);
            let seconds = fastest(3, || {
                black_box(Forest::new(&graph));
                Ok(())
            })?;
            at_most(seconds, 1.0, "s")
        },
    },
    Target {
        name: "random-steps",
        what: "graph, its order, loops and iterations, 10,000,000 random steps over 100,000 nodes",
        wanted: "≤ 10 s",
        measure: |_| {
            let mut draw = random(3);
            let steps: Vec<Node> = numbered((0..10_000_000).map(|_| draw(100_000)));
            let seconds = fastest(1, || {
                let forest = Forest::new(&graph(&steps));
                let mut iterations = 0_u64;
                structure::iterations(&forest, steps.iter().copied(), |_, _| iterations += 1);
                black_box(iterations);
                Ok(())
            })?;
            at_most(seconds, 10.0, "s")
        },
    },
];

/// Runs with and without loops in turn, so that both meet the same machine.
fn more_time(bench: &Bench, pattern: &str) -> Outcome {
    let trace = bench.trace(pattern, 4, 1_000_000)?;
    let [mut without, mut with] = [f64::INFINITY; 2];
    for _ in 0..7 {
        without = without.min(bench.seconds(&trace, 1, &["--structure", "none"], 1)?);
        with = with.min(bench.seconds(&trace, 1, &[], 1)?);
    }
    let share = 100.0 * (with / without - 1.0);
    let rate = trace.events as f64 / (with - without) / 1e6;
    let measured = format!("{share:+.0} %, {rate:.1} M events/s: {with:.3} s instead of {without:.3} s");
    Ok((measured, share <= 10.0 && rate >= 10.0))
}

fn each_step(seconds: f64, steps: &[Node], most: f64) -> Outcome {
    at_most(1e9 * seconds / steps.len() as f64, most, "ns/step")
}

/// The graph of steps, built together with their order.
fn graph(steps: &[Node]) -> Graph {
    let (mut graph, mut order) = (GraphBuilder::default(), TemporalBuilder::default());
    let mut at = Node::BEGIN;
    let step = Step { since: 3, ticks: 5, ..Step::default() };
    for &node in steps {
        order.take(at, graph.visit(node, &step));
        at = node;
    }
    let (edge, graph) = graph.finish(&step);
    order.take(at, edge);
    black_box(order.finish(&graph));
    graph
}

/// So many steps of iterations with two inner loops, and a reduction in each tenth one.
fn regular(steps: usize) -> Vec<Node> {
    let iteration = |number: usize| {
        let last = (number % 10 == 9).then_some(8);
        [1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 5, 6, 7].into_iter().chain(last)
    };
    numbered((0..).flat_map(iteration).take(steps))
}

/// So many steps, half of them of one node, the others drawn.
fn without_order(steps: usize) -> Vec<Node> {
    let mut draw = random(7);
    numbered((0..steps).map(|_| draw(8).saturating_sub(3)))
}

fn random_graph(nodes: u32, edges: usize) -> Graph {
    let mut draw = random(5);
    let chain = (0..nodes).map(|node| (node, node + 1));
    let others = edges - nodes as usize;
    let mut all: Vec<(u32, u32)> = chain.collect();
    all.extend((0..others).map(|_| (1 + draw(nodes), 1 + draw(nodes))));
    let edge = |&(from, to): &(u32, u32)| Edge {
        from: Node::new(from),
        to: Node::new(to),
        count: 1,
        times: Times::default(),
        polls: Polls::default(),
    };
    Graph { nodes: vec![NodeTotals::default(); nodes as usize + 1], edges: all.iter().map(edge).collect() }
}

/// The nodes of a sequence of keys, numbered by first occurrence.
fn numbered(keys: impl Iterator<Item = u32>) -> Vec<Node> {
    let mut known = rustc_hash::FxHashMap::default();
    let mut nodes = Vec::new();
    for key in keys {
        let next = Node::new(known.len() as u32 + 1);
        nodes.push(*known.entry(key).or_insert(next));
    }
    nodes
}

/// Pseudo-random numbers below the one that is given.
fn random(seed: u64) -> impl FnMut(u32) -> u32 {
    let mut state = seed;
    move |below| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % u64::from(below)) as u32
    }
}
